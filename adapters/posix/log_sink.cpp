// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/log_sink.hpp"

#include "adapters/posix/log_datagram.hpp"
#include "adapters/posix/log_stream.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace fdbpack::posix {
namespace {

constexpr const char* kSyslogSocket = "/dev/log";
constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

std::unique_ptr<LogOutput> make_output(boost::asio::io_context& io, LogOptions options, int fd) {
  const auto socket = [&](const char* usual) {
    return options.socket.empty() ? std::string(usual) : options.socket;
  };
  switch (options.target) {
    case LogTarget::syslog:
      return std::make_unique<DatagramLog>(socket(kSyslogSocket), syslog_formatter(options.group));
    case LogTarget::journal:
      return std::make_unique<DatagramLog>(socket(kJournalSocket),
                                           journal_formatter(options.group));
    case LogTarget::stream:
      break;
  }
  return std::make_unique<StreamLog>(io, fd, line_formatter(options.format, options.group),
                                     std::move(options.copy));
}

}  // namespace

LogSink::LogSink(boost::asio::io_context& io, ports::Clock&, LogOptions options, int fd)
    : output_(make_output(io, std::move(options), fd)) {}

LogSink::~LogSink() = default;

void LogSink::write(supervise::Severity severity, std::string_view process, std::string_view text) {
  output_->log(spdlog::details::log_msg({process.data(), process.size()}, log_level(severity),
                                        {text.data(), text.size()}));
}

void LogSink::flush() {
  output_->flush();
}

std::uint64_t LogSink::dropped() const {
  return output_->dropped();
}

bool is_journal(int fd) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream == nullptr || ::fstat(fd, &info) != 0) return false;
  return fmt::format("{}:{}", info.st_dev, info.st_ino) == stream &&
         ::access(kJournalSocket, W_OK) == 0;
}

}  // namespace fdbpack::posix
