// SPDX-License-Identifier: Apache-2.0
//
// One line that says how far long work is. It is for a person who waits: on standard error, on a
// terminal only, not before the work has taken half a second, and gone when the work is done. It is
// cut to the terminal's width: a line that wraps could not be erased.
//
//   balance: 1204 moves, score 0.031804
#pragma once

#include "cli/screen.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace fdbpack::cli {

class Progress {
 public:
  Progress(std::string what, const Screen& screen);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // True when it is time to show something; say() is called then, so that texts are made only when
  // they are shown.
  [[nodiscard]] bool is_due();
  void say(std::string_view text);

  // What is written for a text.
  [[nodiscard]] static std::string line(std::string_view what, std::string_view text,
                                        std::size_t columns);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  Screen screen_;
  bool is_visible_ = false;
  Clock::time_point next_;
};

}  // namespace fdbpack::cli
