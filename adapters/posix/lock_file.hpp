// SPDX-License-Identifier: Apache-2.0
//
// One agent for one lock file. The lock is on the open file, so it ends with its holder however
// that ends, and it excludes fdbmonitor, too, which locks the same way. The file holds the pid.
#pragma once

#include "adapters/posix/fd.hpp"

#include <chrono>
#include <string>

namespace fdbpack::posix {

class LockFile {
 public:
  // Fails at once when somebody holds it who lives (`already_exists`, the message names them). One
  // that is held in the name of a process that is gone, or is just dying, is tried again for so
  // long: it comes free.
  [[nodiscard]] static Result<LockFile> acquire(
      const std::string& path, std::chrono::milliseconds patience = std::chrono::seconds(2));
  // One that came over a re-exec: it is still locked.
  [[nodiscard]] static LockFile inherited(const std::string& path, int fd);

  // This descriptor is of the file at this path.
  [[nodiscard]] static bool is_at(const std::string& path, int fd);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] Status write_pid(int pid);
  // Removes the file, as fdbmonitor does, while it is still locked: whoever opened it meanwhile
  // notices that it is not the file at its path any more.
  void remove();

 private:
  LockFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

// The same where no file can be locked: an abstract unix socket of this name, which ends with its
// holder. It is known within one network namespace only.
[[nodiscard]] Result<UniqueFd> lock_name(
    const std::string& name, std::chrono::milliseconds patience = std::chrono::seconds(2));

}  // namespace fdbpack::posix
