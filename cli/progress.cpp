// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include "cli/screen.hpp"

#include <cstdio>

namespace fdbpack::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

Progress::Progress(std::string what, bool is_shown)
    : what_(std::move(what)), is_shown_(is_shown), next_(Clock::now() + kPatience) {}

Progress::~Progress() {
  if (is_visible_) std::fputs("\r\x1b[K", stderr);
}

bool Progress::is_due() {
  return is_shown_ && Clock::now() >= next_;
}

void Progress::say(std::string_view text) {
  const std::string line = printable(what_) + ": " + printable(text);
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
  is_visible_ = true;
  next_ = Clock::now() + kInterval;
}

}  // namespace fdbpack::cli
