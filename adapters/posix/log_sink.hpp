// SPDX-License-Identifier: Apache-2.0
//
// Log lines in fdbmonitor's or sidecar.py's format or as JSON, to stderr or to syslog.
//
//   Time="1794982281.552060" Severity="40" LogGroup="default" Process="fdbserver.4503": text
//   2026-11-18 06:11:21,552 ERROR text                      sidecar.py's; the process is not named
//
// Lines are collected and written once per turn of the loop, after what was urgent. Nothing blocks:
// what the reader does not take waits in a bounded buffer; what does not fit there is dropped, and
// a line says how many were as soon as there is room again.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/clock.hpp"
#include "ports/log.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <memory>
#include <string>

namespace fdbpack::posix {

enum class LogFormat { fdbmonitor, json, sidecar };

struct LogOptions {
  LogFormat format = LogFormat::fdbmonitor;
  std::string group = "default";
  bool to_syslog = false;
};

class LogSink final : public ports::Log {
 public:
  static constexpr std::size_t kPendingBytesMax = 256 * 1024;

  LogSink(boost::asio::io_context& io, ports::Clock& clock, LogOptions options, int fd = 2);
  ~LogSink() override;

  void write(supervise::Severity severity, std::string_view process,
             std::string_view text) override;
  void flush() override;
  [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }

 private:
  enum class Kind { file, socket, other };

  void append_line(supervise::Severity severity, std::string_view process, std::string_view text);
  void send_to_syslog(supervise::Severity severity, std::string_view process,
                      std::string_view text);
  void drop(std::size_t lines);
  void announce_dropped();
  void flush_soon();
  void wait_for_room();
  [[nodiscard]] ssize_t write_some(std::string_view text);

  boost::asio::io_context& io_;
  ports::Clock& clock_;
  LogOptions options_;
  int fd_;        // the one given
  UniqueFd own_;  // the same file, opened again so that it can be made non-blocking
  Kind kind_ = Kind::other;
  UniqueFd syslog_;
  boost::asio::posix::stream_descriptor room_;
  std::string pending_;
  std::uint64_t dropped_ = 0;
  std::uint64_t dropped_announced_ = 0;
  bool is_flush_posted_ = false;
  bool is_waiting_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fdbpack::posix
