// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/files.hpp"

namespace fdbpack::posix {

// The same from the text of /proc/self/mountinfo. Symbolic links are not followed: that would touch
// a server that may not answer.
[[nodiscard]] std::string network_file_system(std::string_view mountinfo, std::string_view path);

// Replaces by renaming. There is no fsync: what is kept here counts only during this boot, the page
// cache outlives any crash of the agent, and a disk that is slow to sync would hold up restarts. A
// file that a power failure tore is recognised by its reader and ignored.
//
// One descriptor is kept in reserve: when there are no others left, state, status and conf are what
// an administrator needs most.
class PosixFiles final : public ports::Files {
 public:
  void keep_reserve();

  [[nodiscard]] Result<std::string> read(const std::string& path, std::size_t bytes_max) override;
  [[nodiscard]] Status replace(const std::string& path, std::string_view text,
                               unsigned mode) override;
  [[nodiscard]] Status make_directories(const std::string& path, unsigned mode) override;
  [[nodiscard]] std::string network_file_system(const std::string& path) override;

 private:
  [[nodiscard]] UniqueFd open(const std::string& path, int flags, unsigned mode = 0);
  void refill();

  // Declared before a descriptor, so that the reserve is whole again as soon as that is closed:
  // whoever comes next would take the number.
  struct Refill {
    PosixFiles& files;
    ~Refill() { files.refill(); }
  };

  UniqueFd reserve_;
  bool has_reserve_ = false;
};

}  // namespace fdbpack::posix
