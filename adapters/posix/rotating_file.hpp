// SPDX-License-Identifier: Apache-2.0
//
// A log file that does not grow for ever. When it would grow over its size it is renamed
//
//   monitor.log  ->  monitor-2026-01-02T03-04-05.678.log
//
// and begun anew. Of those set aside, the newest few are kept, and none beyond an age. What cannot
// be written is dropped; the file is opened again with the next line.
#pragma once

#include "adapters/posix/fd.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace fdbpack::posix {

struct RotationLimits {
  std::uint64_t bytes_max = std::uint64_t{100} << 20;
  std::size_t kept_max = 2;
  std::chrono::hours age_max{7 * 24};
};

class RotatingFile {
 public:
  // The directory is made. Nothing else happens before the first line.
  explicit RotatingFile(std::string path, RotationLimits limits = {});

  void write(std::string_view line);
  // Why lines are not written now; empty: they are.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] bool open();
  void rotate();
  void remove_old() const;

  std::string path_;
  RotationLimits limits_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  std::string error_;
};

}  // namespace fdbpack::posix
