// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/log_format.hpp"

#include "fdbpack/wire/json_writer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>

#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <functional>

namespace fdbpack::posix {
namespace {

using spdlog::memory_buf_t;
using spdlog::level::level_enum;
using Message = spdlog::details::log_msg;
using supervise::Severity;

constexpr std::size_t kSyslogBytesMax = 4096;

std::string_view view(spdlog::string_view_t text) {
  return {text.data(), text.size()};
}

void append(memory_buf_t& to, std::string_view text) {
  to.append(text.data(), text.data() + text.size());
}

// A line break or a NUL inside a message would end the record for its reader.
void append_printable(memory_buf_t& to, std::string_view text) {
  for (const char c : text) {
    if (c == '\0') {
      append(to, "\\0");
    } else {
      to.push_back(c == '\n' ? ' ' : c);
    }
  }
}

std::string seconds(spdlog::log_clock::time_point time) {
  using namespace std::chrono;
  const auto whole = floor<std::chrono::seconds>(time);
  return fmt::format("{}.{:06}", whole.time_since_epoch().count(),
                     duration_cast<microseconds>(time - whole).count());
}

tm local_time(spdlog::log_clock::time_point time) {
  const time_t now = std::chrono::system_clock::to_time_t(time);
  tm local{};
  ::localtime_r(&now, &local);
  return local;
}

int priority(Severity severity) {
  switch (severity) {
    case Severity::error:
      return LOG_ERR;
    case Severity::warning_always:
      return LOG_WARNING;
    case Severity::warning:
      return LOG_NOTICE;
    case Severity::info:
      return LOG_INFO;
    case Severity::debug:
      return LOG_DEBUG;
  }
  return LOG_INFO;
}

std::string_view level_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning_always:
      return "warning";
    case Severity::warning:
      return "notice";
    case Severity::info:
      return "info";
    case Severity::debug:
      return "debug";
  }
  return "info";
}

std::string_view python_level(Severity severity) {
  if (severity == Severity::debug) return "DEBUG";
  if (severity == Severity::error) return "ERROR";
  return severity >= Severity::warning ? "WARNING" : "INFO";
}

std::string_view zap_level(Severity severity) {
  if (severity >= Severity::error) return "error";
  return severity >= Severity::warning ? "warn" : "info";
}

// A formatter from a function of the message; the group is the same for all of them.
class Formatter final : public spdlog::formatter {
 public:
  using Write = void (*)(const std::string& group, const Message& message, memory_buf_t& to);

  Formatter(Write write, std::string group) : write_(write), group_(std::move(group)) {}

  void format(const Message& message, memory_buf_t& to) override { write_(group_, message, to); }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<Formatter>(write_, group_);
  }

 private:
  Write write_;
  std::string group_;
};

void write_labels(const std::string& group, const Message& message, memory_buf_t& to) {
  append(to, "LogGroup=\"" + group + "\" Process=\"");
  append_printable(to, view(message.logger_name));
  append(to, "\": ");
}

void write_fdbmonitor(const std::string& group, const Message& message, memory_buf_t& to) {
  fmt::format_to(std::back_inserter(to), "Time=\"{}\" Severity=\"{}\" ", seconds(message.time),
                 static_cast<int>(severity_of(message.level)));
  write_labels(group, message, to);
  append_printable(to, view(message.payload));
  to.push_back('\n');
}

void write_json(const std::string& group, const Message& message, memory_buf_t& to) {
  wire::JsonWriter json;
  json.begin_object()
      .member("time", seconds(message.time))
      .member("severity", static_cast<int>(severity_of(message.level)))
      .member("logGroup", group)
      .member("process", view(message.logger_name))
      .member("message", view(message.payload))
      .end_object();
  append(to, std::move(json).text());
  to.push_back('\n');
}

void write_sidecar(const std::string&, const Message& message, memory_buf_t& to) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch())
          .count() %
      1000;
  fmt::format_to(std::back_inserter(to), "{:%Y-%m-%d %H:%M:%S},{:03} {} ", local_time(message.time),
                 milliseconds, python_level(severity_of(message.level)));
  append_printable(to, view(message.payload));
  to.push_back('\n');
}

void write_zap(const std::string&, const Message& message, memory_buf_t& to) {
  wire::JsonWriter rest;  // the time is a number with more digits than a double prints
  rest.begin_object();
  if (view(message.logger_name) != kAgentLogName) {
    rest.member("process", view(message.logger_name));
  }
  rest.member("msg", view(message.payload)).end_object();
  fmt::format_to(std::back_inserter(to), "{{\"level\":\"{}\",\"ts\":{},",
                 zap_level(severity_of(message.level)), seconds(message.time));
  append(to, std::string_view(std::move(rest).text()).substr(1));
  to.push_back('\n');
}

void write_syslog(const std::string& group, const Message& message, memory_buf_t& to) {
  fmt::format_to(std::back_inserter(to), "<{}>{:%b %e %H:%M:%S} fdbmonitor[{}]: ",
                 LOG_DAEMON | priority(severity_of(message.level)), local_time(message.time),
                 ::getpid());
  write_labels(group, message, to);
  append_printable(to, view(message.payload).substr(0, kSyslogBytesMax));
}

// NAME=VALUE, or, where the value holds a newline: NAME, newline, its size as eight bytes, itself.
void write_field(memory_buf_t& to, std::string_view name, std::string_view value) {
  append(to, name);
  if (value.find('\n') == std::string_view::npos) {
    to.push_back('=');
  } else {
    to.push_back('\n');
    for (int shift = 0; shift < 64; shift += 8) {
      to.push_back(static_cast<char>(value.size() >> shift & 0xFF));
    }
  }
  append(to, value);
  to.push_back('\n');
}

void write_journal(const std::string& group, const Message& message, memory_buf_t& to) {
  const Severity severity = severity_of(message.level);
  const std::string process(view(message.logger_name));
  const std::string text(view(message.payload));
  const bool is_own = process == kAgentLogName;
  write_field(to, "MESSAGE", is_own ? text : process + ": " + text);
  write_field(to, "PRIORITY", std::to_string(priority(severity)));
  write_field(to, "SYSLOG_FACILITY", std::to_string(LOG_DAEMON >> 3));
  write_field(to, "SYSLOG_IDENTIFIER", "fdbpack-agent");
  if (!is_own) write_field(to, "FDBPACK_PROCESS", process);
  write_field(to, "FDBPACK_SEVERITY", std::to_string(static_cast<int>(severity)));
  write_field(to, "FDBPACK_LOG_GROUP", group);
}

// For spdlog's patterns: our names of the severities, and texts without line breaks.
class SeverityFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const Message& message, const tm&, memory_buf_t& to) override {
    append(to, level_name(severity_of(message.level)));
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<SeverityFlag>();
  }
};

class PrintableFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const Message& message, const tm&, memory_buf_t& to) override {
    append_printable(to, view(message.logger_name));
    append(to, ": ");
    append_printable(to, view(message.payload));
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableFlag>();
  }
};

std::unique_ptr<spdlog::formatter> text_formatter() {
  auto formatter =
      std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::local, "\n");
  formatter->add_flag<SeverityFlag>('*').add_flag<PrintableFlag>('&');
  formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %* %&");
  return formatter;
}

}  // namespace

level_enum log_level(Severity severity) {
  switch (severity) {
    case Severity::error:
      return level_enum::critical;
    case Severity::warning_always:
      return level_enum::err;
    case Severity::warning:
      return level_enum::warn;
    case Severity::info:
      return level_enum::info;
    case Severity::debug:
      return level_enum::debug;
  }
  return level_enum::info;
}

Severity severity_of(level_enum level) {
  if (level <= level_enum::debug) return Severity::debug;
  if (level == level_enum::info) return Severity::info;
  if (level == level_enum::warn) return Severity::warning;
  return level == level_enum::err ? Severity::warning_always : Severity::error;
}

std::unique_ptr<spdlog::formatter> line_formatter(LogFormat format, const std::string& group) {
  switch (format) {
    case LogFormat::fdbmonitor:
      return std::make_unique<Formatter>(write_fdbmonitor, group);
    case LogFormat::text:
      return text_formatter();
    case LogFormat::json:
      return std::make_unique<Formatter>(write_json, group);
    case LogFormat::sidecar:
      return std::make_unique<Formatter>(write_sidecar, group);
    case LogFormat::zap:
      return std::make_unique<Formatter>(write_zap, group);
  }
  return text_formatter();
}

std::unique_ptr<spdlog::formatter> syslog_formatter(const std::string& group) {
  return std::make_unique<Formatter>(write_syslog, group);
}

std::unique_ptr<spdlog::formatter> journal_formatter(const std::string& group) {
  return std::make_unique<Formatter>(write_journal, group);
}

}  // namespace fdbpack::posix
