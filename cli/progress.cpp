// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <algorithm>
#include <cstdio>

namespace fdbpack::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

Progress::Progress(std::string what, const Screen& screen)
    : what_(std::move(what)), screen_(screen), next_(Clock::now() + kPatience) {}

Progress::~Progress() {
  if (is_visible_) std::fputs("\r\x1b[K", stderr);
}

bool Progress::is_due() {
  return screen_.has_progress && Clock::now() >= next_;
}

// The last column stays free: a terminal may wrap after it.
std::string Progress::line(std::string_view what, std::string_view text, std::size_t columns) {
  const std::string all = printable(what) + ": " + printable(text);
  return "\r" + std::string(cut(all, columns - std::min<std::size_t>(columns, 1))) + "\x1b[K";
}

void Progress::say(std::string_view text) {
  std::fputs(line(what_, text, screen_.columns).c_str(), stderr);
  std::fflush(stderr);
  is_visible_ = true;
  next_ = Clock::now() + kInterval;
}

}  // namespace fdbpack::cli
