// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/text.hpp"
#include "fdbpack/metrics/metrics_text.hpp"
#include "fdbpack/metrics/names.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace fdbpack::metrics {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct Family {
  std::string name, kind;
  bool has_help = false;
};

class Checker {
 public:
  explicit Checker(bool is_lenient) : is_lenient_(is_lenient) {}

  void line(std::string_view text) {
    ++number_;
    if (text.starts_with("# HELP ")) return begin(text.substr(7), true);
    if (text.starts_with("# TYPE ")) return begin(text.substr(7), false);
    if (text.starts_with('#') || text.empty()) return find("neither HELP, TYPE nor a sample");
    sample(text);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(findings_); }
  void find(const std::string& what) {
    findings_.push_back("line " + std::to_string(number_) + ": " + what);
  }

 private:
  void begin(std::string_view rest, bool is_help) {
    const auto blank = std::min(rest.find(' '), rest.size());
    const std::string name(rest.substr(0, blank));
    if (!is_metric_name(name)) find("'" + name + "' is no name of a metric");
    if (family_.name != name) {
      if (!seen_.insert(name).second) find(name + " is not in one piece");
      family_ = {name, "", false};
    }
    const std::string_view value = rest.substr(std::min(blank + 1, rest.size()));
    if (is_help) {
      if (value.empty()) find(name + " has no help text");
      family_.has_help = true;
    } else {
      family_.kind = value;
      kind();
    }
  }

  // What promtool's linter asks of names.
  void kind() {
    if (family_.kind != "counter" && family_.kind != "gauge") find("unknown type " + family_.kind);
    if (!family_.has_help) find(family_.name + " has no help text");
    if (is_lenient_) return;
    const bool is_total = family_.name.ends_with("_total");
    if (family_.kind == "counter" && !is_total) find(family_.name + " should end in _total");
    if (family_.kind != "counter" && is_total) find(family_.name + " should not end in _total");
    for (const std::string_view suffix : {"_count", "_sum", "_bucket", "_info_total"}) {
      if (family_.name.ends_with(suffix)) find(family_.name + " ends in " + std::string(suffix));
    }
    for (const std::string_view unit :
         {"_milliseconds", "_ms", "_kib", "_mib", "_kilobytes", "_megabytes", "_minutes"}) {
      if (family_.name.find(unit) != std::string::npos) find(family_.name + ": use base units");
    }
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (std::any_of(family_.name.begin(), family_.name.end(), is_upper)) {
      find(family_.name + " should be in lower case");
    }
  }

  void sample(std::string_view text) {
    const auto end = std::min(text.find_first_of("{ "), text.size());
    const std::string name(text.substr(0, end));
    if (name != family_.name) find("a sample of '" + name + "' outside its family");
    text.remove_prefix(end);
    std::set<std::string> names;
    if (text.starts_with('{')) {
      const auto after = labels(text.substr(1), names);
      if (!after) return find("labels that are none");
      text = *after;
    }
    if (!text.starts_with(' ')) return find("no blank before the value");
    text.remove_prefix(1);
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) find("no number");
    if (family_.kind == "counter" && value < 0) find(name + " counts below zero");
  }

  // The text behind the closing brace.
  std::optional<std::string_view> labels(std::string_view text, std::set<std::string>& names) {
    const std::string_view all = text;
    for (;;) {
      const auto equals = text.find("=\"");
      if (equals == text.npos || !is_label_name(text.substr(0, equals))) return {};
      if (!names.insert(std::string(text.substr(0, equals))).second) return {};
      std::size_t at = equals + 2;
      for (; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] != '\\') continue;
        ++at;
        if (at >= text.size() || (text[at] != '\\' && text[at] != '"' && text[at] != 'n'))
          return {};
      }
      if (at + 1 >= text.size()) return {};
      const char next = text[at + 1];
      const std::string series =
          family_.name + std::string(all.substr(0, all.size() - text.size() + at + 1));
      text.remove_prefix(at + 2);
      if (next == '}') {
        if (!series_.insert(series).second) find("the same series twice");
        return text;
      }
      if (next != ',') return {};
    }
  }

  bool is_lenient_;
  std::size_t number_ = 0;
  Family family_;
  std::set<std::string> seen_, series_;
  std::vector<std::string> findings_;
};

}  // namespace

bool is_metric_name(std::string_view name) {
  const auto is_part = [](char c) { return is_letter(c) || text::is_digit(c) || c == ':'; };
  return !name.empty() && !text::is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), is_part);
}

bool is_label_name(std::string_view name) {
  const auto is_part = [](char c) { return is_letter(c) || text::is_digit(c); };
  return !name.empty() && !text::is_digit(name.front()) && !name.starts_with("__") &&
         std::all_of(name.begin(), name.end(), is_part);
}

std::vector<std::string> check(std::string_view text, bool is_lenient) {
  Checker checker(is_lenient);
  if (!text.empty() && text.back() != '\n') checker.find("no newline at the end");
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  for (const std::string_view line : text::split(text, '\n'))
    checker.line(line);
  return checker.take();
}

}  // namespace fdbpack::metrics
