// SPDX-License-Identifier: Apache-2.0
//
// Where log lines go and how they look. spdlog carries them; what writes are sinks of our own
// (log_stream, log_datagram), because none of spdlog's promises not to block.
#pragma once

#include "ports/clock.hpp"
#include "ports/log.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>

namespace fdbpack::posix {

class LogOutput;

enum class LogFormat { fdbmonitor, text, json, sidecar, zap };  // log_format.hpp shows them
enum class LogTarget { stream, syslog, journal };

struct LogOptions {
  LogFormat format = LogFormat::fdbmonitor;  // of a stream; the others have a form of their own
  std::string group = "default";
  LogTarget target = LogTarget::stream;
  std::function<void(std::string_view line)> copy = {};  // gets every line of a stream
  std::string socket = {};                               // other than the usual one of the target
};

class LogSink final : public ports::Log {
 public:
  static constexpr std::size_t kPendingBytesMax = 256 * 1024;

  LogSink(boost::asio::io_context& io, ports::Clock& clock, LogOptions options, int fd = 2);
  ~LogSink() override;

  void write(supervise::Severity severity, std::string_view process,
             std::string_view text) override;
  void flush() override;
  [[nodiscard]] std::uint64_t dropped() const override;

 private:
  std::unique_ptr<LogOutput> output_;
};

// Whether systemd connected this descriptor with the journal ($JOURNAL_STREAM) and it can be
// reached.
[[nodiscard]] bool is_journal(int fd);

}  // namespace fdbpack::posix
