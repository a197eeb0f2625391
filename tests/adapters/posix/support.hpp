// SPDX-License-Identifier: Apache-2.0
//
// What tests of the POSIX adapters share: a directory of their own, and waiting for something to
// become true with a deadline.
#pragma once

#include "adapters/posix/steady_clock.hpp"
#include "tests/support/files.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace fdbpack::test {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "fdbpack-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::trunc) << text;
    return path(name);
  }

 private:
  std::string path_;
};

// Runs the loop until `is_done`, at most ten seconds.
[[nodiscard]] inline bool run_until(boost::asio::io_context& io,
                                    const std::function<bool()>& is_done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    io.restart();
    io.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

// Runs the loop for a while in which nothing is expected to happen.
inline void run_for(boost::asio::io_context& io, std::chrono::milliseconds time) {
  io.restart();
  io.run_for(time);
}

}  // namespace fdbpack::test
