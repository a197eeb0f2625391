// SPDX-License-Identifier: Apache-2.0
//
// The last lines a process wrote, in bounded memory: old ones make room for new ones.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "ports/output.hpp"

#include <deque>
#include <string>
#include <string_view>

namespace fdbpack::agent {

class LastLines {
 public:
  static constexpr std::size_t kBytesMax = 4096;
  static constexpr std::size_t kLineBytesMax = 1024;  // of a longer line its beginning is kept

  struct Line {
    WallTime at;
    ports::Stream stream;
    std::string text;
  };

  void add(WallTime at, ports::Stream stream, std::string_view text) {
    text = text.substr(0, kLineBytesMax);
    bytes_ += text.size();
    lines_.push_back({at, stream, std::string(text)});
    while (bytes_ > kBytesMax) {
      bytes_ -= lines_.front().text.size();
      lines_.pop_front();
    }
  }

  [[nodiscard]] const std::deque<Line>& lines() const { return lines_; }

 private:
  std::deque<Line> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace fdbpack::agent
