// SPDX-License-Identifier: Apache-2.0
//
// A sink of spdlog that never blocks: what cannot be taken is dropped and counted.
#pragma once

#include "adapters/posix/log_format.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include <cstdint>

namespace fdbpack::posix {

class LogOutput : public spdlog::sinks::sink {
 public:
  explicit LogOutput(std::unique_ptr<spdlog::formatter> formatter)
      : formatter_(std::move(formatter)) {}

  void set_pattern(const std::string& pattern) override {
    formatter_ = std::make_unique<spdlog::pattern_formatter>(pattern);
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    formatter_ = std::move(formatter);
  }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 protected:
  void drop(std::size_t lines) { dropped_ += lines; }

  // Gives `write` the message that says how many were dropped, if any were since the last time.
  template <class Write>
  void announce_dropped(Write write) {
    if (dropped_ == announced_) return;
    const std::string text = std::to_string(dropped_ - announced_) +
                             " log lines were dropped because they were not read in time";
    announced_ = dropped_;
    write(spdlog::details::log_msg({kAgentLogName.data(), kAgentLogName.size()},
                                   log_level(supervise::Severity::warning_always), text));
  }

  std::unique_ptr<spdlog::formatter> formatter_;

 private:
  std::uint64_t dropped_ = 0;
  std::uint64_t announced_ = 0;
};

}  // namespace fdbpack::posix
