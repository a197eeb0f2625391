// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/files.hpp"

namespace fdbpack::posix {

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

 private:
  [[nodiscard]] UniqueFd open(const std::string& path, int flags, unsigned mode = 0);
  void refill();

  UniqueFd reserve_;
  bool has_reserve_ = false;
};

}  // namespace fdbpack::posix
