// SPDX-License-Identifier: Apache-2.0
//
// A control group for each process, where the agent was given a part of the tree. Everything works
// without; what is then missing is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fdbpack::ports {

class Cgroups {
 public:
  virtual ~Cgroups() = default;

  // The directory of a section's group, made when it is not there; empty: there are no groups.
  [[nodiscard]] virtual std::string prepare(const std::string& section) = 0;
  // The same, without making it, if this process is in it; empty: it is not.
  [[nodiscard]] virtual std::string find(const std::string& section, int pid) = 0;
  // How often the kernel has ended somebody in the group because memory ran out.
  [[nodiscard]] virtual std::optional<std::uint64_t> oom_kills(const std::string& section) = 0;
  // Ends everybody in the group and removes it.
  virtual void remove(const std::string& section) = 0;
  // What does not work, in one sentence; empty: everything does.
  [[nodiscard]] virtual std::string degraded() const = 0;
};

}  // namespace fdbpack::ports
