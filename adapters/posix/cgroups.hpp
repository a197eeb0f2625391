// SPDX-License-Identifier: Apache-2.0
//
// cgroup v2 below a directory that was delegated to us:
//
//   <delegated>/            our own group when we were started
//     agent/                where we move, because groups with children may hold no process
//     p-fdbserver.4500/     one for each section
//
// A directory counts as delegated when it was named by the user, or when the service manager marked
// it so (user.delegate, set by systemd for Delegate=yes).
#pragma once

#include "ports/cgroups.hpp"

namespace fdbpack::posix {

class DelegatedCgroups final : public ports::Cgroups {
 public:
  // `directory`: a path, "auto", or "off".
  explicit DelegatedCgroups(const std::string& directory);

  [[nodiscard]] std::string prepare(const std::string& section) override;
  [[nodiscard]] std::string find(const std::string& section, int pid) override;
  [[nodiscard]] std::optional<std::uint64_t> oom_kills(const std::string& section) override;
  void remove(const std::string& section) override;
  [[nodiscard]] std::string degraded() const override { return degraded_; }

 private:
  void use(const std::string& directory);
  [[nodiscard]] std::string path_of(const std::string& section) const;

  std::string root_;  // empty: there is none
  std::string degraded_;
};

}  // namespace fdbpack::posix
