// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/text.hpp"
#include "fdbpack/supervise/conf_change.hpp"

#include <algorithm>

namespace fdbpack::supervise {
namespace {

using conf::Diagnostic;
using conf::MonitorConf;
using conf::Position;

// The line that `text` begins with, without its line end.
std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

std::string_view last_line(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? text : text.substr(end + 1);
}

bool ends_in_newline(std::string_view text) {
  return text.ends_with('\n') || text.ends_with('\r');
}

Position end_of(std::string_view text) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return {lines + 1, last_line(text).size() + 1};
}

bool is_comment(std::string_view trimmed) {
  return trimmed.starts_with('#') || trimmed.starts_with(';');
}

// The first line of `text` that means something; empty when none does.
std::string_view first_meaningful_line(std::string_view text) {
  for (const std::string_view line : text::split(text, '\n')) {
    const std::string_view trimmed = text::trim(line);
    if (!trimmed.empty() && !is_comment(trimmed)) return trimmed;
  }
  return {};
}

bool has_marker(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return false;
  return text::trim(last_line(text.substr(0, end + 1))) == kNoProcessesMarker;
}

bool has_section(const MonitorConf& conf, std::string_view section) {
  const auto is_it = [section](const auto& one) {
    return text::compare_ignoring_case(one.section, section) == 0;
  };
  return std::any_of(conf.processes.begin(), conf.processes.end(), is_it) ||
         std::any_of(conf.refusals.begin(), conf.refusals.end(), is_it);
}

// The first process of `before` that `after` does not know; nullptr when there is none.
const conf::ProcessCommand* missing_process(const MonitorConf& before, const MonitorConf& after) {
  for (const conf::ProcessCommand& process : before.processes) {
    if (!has_section(after, process.section)) return &process;
  }
  return nullptr;
}

Diagnostic error(Position at, std::string message) {
  return {conf::Severity::error, at, std::move(message)};
}

void find_errors(const ConfView& candidate, std::span<const Diagnostic> diagnostics,
                 std::vector<Diagnostic>& reasons) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == conf::Severity::error) reasons.push_back(diagnostic);
  }
  for (const auto& refusal : candidate.conf.refusals) {
    const auto is_known = [&refusal](const Diagnostic& reason) {
      return reason.at.line == refusal.at.line;
    };
    if (std::any_of(reasons.begin(), reasons.end(), is_known)) continue;
    reasons.push_back(error(refusal.at, "[" + refusal.section + "]: " + refusal.message));
  }
}

// `text` is the beginning of `last`, and not cut where a section ends.
bool is_truncation_of(std::string_view text, std::string_view last) {
  if (text.size() >= last.size() || !last.starts_with(text)) return false;
  const std::string_view rest = last.substr(text.size());
  const bool is_cut_in_line =
      !text.empty() && !ends_in_newline(text) && !text::trim(first_line(rest)).empty();
  if (is_cut_in_line) return true;
  const std::string_view next = first_meaningful_line(rest);
  return !next.empty() && !next.starts_with('[');
}

// `candidate` is the beginning of `last` and has a process less.
bool is_shortened(const ConfView& candidate, const ConfView& last) {
  return candidate.text.size() < last.text.size() && last.text.starts_with(candidate.text) &&
         missing_process(last.conf, candidate.conf) != nullptr;
}

enum class LastLine { whole, no_assignment, beginning_of_another };

LastLine judge_last_line(std::string_view text, std::string_view last_text) {
  const std::string_view line = last_line(text);
  const std::string_view trimmed = text::trim(line);
  if (trimmed.empty() || is_comment(trimmed)) return LastLine::whole;
  if (!trimmed.starts_with('[') && trimmed.find('=') == std::string_view::npos) {
    return LastLine::no_assignment;
  }
  bool is_beginning = false;
  for (const std::string_view other : text::split(last_text, '\n')) {
    const std::string_view whole = text::trim(other);
    if (whole == trimmed) return LastLine::whole;
    is_beginning = is_beginning || whole.starts_with(trimmed);
  }
  return is_beginning ? LastLine::beginning_of_another : LastLine::whole;
}

void find_half_written(const ConfView& candidate, const ConfView& last,
                       std::vector<Diagnostic>& reasons) {
  if (ends_in_newline(candidate.text)) return;
  const Position at = end_of(candidate.text);
  constexpr std::string_view kAdvice = "; if it is complete, put a newline at its end";
  const LastLine line = judge_last_line(candidate.text, last.text);
  const bool lost_newline = ends_in_newline(last.text);
  const conf::ProcessCommand* missing = missing_process(last.conf, candidate.conf);
  if (line == LastLine::no_assignment) {
    reasons.push_back(error(at, "the file ends in the middle of a line" + std::string(kAdvice)));
  } else if (line == LastLine::beginning_of_another && (lost_newline || missing != nullptr)) {
    reasons.push_back(error(at, "the last line is the beginning of a line of the conf in force" +
                                    std::string(kAdvice)));
  } else if (lost_newline && missing != nullptr) {
    reasons.push_back(error(at, "[" + missing->section + "] is missing and the file ends without " +
                                    "a newline, unlike the conf in force" + std::string(kAdvice)));
  }
}

}  // namespace

std::vector<Diagnostic> refusal_reasons(const ConfView& candidate,
                                        std::span<const Diagnostic> diagnostics,
                                        const ConfView* last_good, std::size_t live,
                                        LoadCause cause) {
  std::vector<Diagnostic> reasons;
  if (last_good != nullptr) find_errors(candidate, diagnostics, reasons);

  const bool had_processes =
      live > 0 || (last_good != nullptr && !last_good->conf.processes.empty());
  if (candidate.conf.processes.empty() && had_processes) {
    if (has_marker(candidate.text)) return reasons;
    // There may be some, all of them wrong.
    if (last_good == nullptr) find_errors(candidate, diagnostics, reasons);
    reasons.push_back(
        error(end_of(candidate.text),
              "the file holds no process; if all are to be removed, make its last line \"" +
                  std::string(kNoProcessesMarker) + "\""));
    return reasons;
  }
  if (last_good == nullptr) return reasons;

  if (is_truncation_of(candidate.text, last_good->text)) {
    reasons.push_back(
        error(end_of(candidate.text),
              "the file is the beginning of the conf in force, cut in the middle of a section; "
              "if it is complete, put an empty line at its end"));
  } else if (cause == LoadCause::found && is_shortened(candidate, *last_good)) {
    const conf::ProcessCommand* missing = missing_process(last_good->conf, candidate.conf);
    reasons.push_back(error(
        end_of(candidate.text),
        "the file is the beginning of the conf in force and ends before [" + missing->section +
            "]; if it is complete, send SIGHUP or add a line, such as a comment"));
  } else {
    find_half_written(candidate, *last_good, reasons);
  }
  return reasons;
}

}  // namespace fdbpack::supervise
