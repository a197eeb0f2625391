// SPDX-License-Identifier: Apache-2.0
//
// One coordinator for one store file. The lock is on an open file beside it, so it ends with its
// holder however that ends; the file holds the pid and stays. Others may still read the store, e.g.
// for a backup.
#pragma once

#include "fdbpack/base/result.hpp"

#include <string>
#include <utility>

namespace fdbpack::store {

class StoreLock {
 public:
  // `already_exists` at once when somebody holds it; the message names them.
  [[nodiscard]] static Result<StoreLock> acquire(const std::string& path);

  StoreLock(StoreLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  StoreLock& operator=(StoreLock&&) = delete;
  ~StoreLock();

 private:
  explicit StoreLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace fdbpack::store
