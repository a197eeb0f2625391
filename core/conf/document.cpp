// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/document.hpp"

#include "fold.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

namespace fdbpack::conf {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool is_newline(char c) {
  return c == '\n' || c == '\r';
}

std::string_view trim_spaces(std::string_view text) {
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

// Walks over the text once. Positions are byte offsets into it until a diagnostic or an entry needs
// a line.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ParsedDocument run() {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    if (const auto nul = text_.find('\0'); nul != text_.npos) {
      error(
          nul,
          "there is a NUL byte here, and fdbmonitor would ignore the rest of the file; remove it");
      text_ = text_.substr(0, nul);
    }
    while (skip_spaces()) {
      if (text_[at_] == ';' || text_[at_] == '#') {
        skip_line();
      } else if (text_[at_] == '[') {
        read_header();
      } else {
        read_entry();
      }
    }
    return std::move(result_);
  }

 private:
  bool skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_]))
      ++at_;
    return at_ < text_.size();
  }

  void skip_line() {
    while (at_ < text_.size() && !is_newline(text_[at_]))
      ++at_;
  }

  void read_header() {
    const std::size_t header = at_++;
    skip_spaces();  // over line ends too, as fdbmonitor does
    const std::size_t name = at_;
    while (at_ < text_.size() && text_[at_] != ']' && !is_newline(text_[at_]))
      ++at_;
    if (at_ == text_.size() || text_[at_] != ']') {
      error(header, "the section header is not closed; put a ] at its end");
      unclosed_name_ = name;
      return;
    }
    enter_section(trim_spaces(text_.substr(name, at_ - name)), header);
    unclosed_name_ = std::string_view::npos;
    skip_line();
  }

  void read_entry() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '=' && !is_newline(text_[at_]))
      ++at_;
    if (at_ == text_.size() || text_[at_] != '=') {
      warn(start, "this line has no = and is ignored; remove it or put a # in front");
      return;
    }
    if (at_ == start) {
      warn(start, "this line has no key before its = and is ignored");
      skip_line();
      return;
    }
    const std::string_view key = trim_spaces(text_.substr(start, at_ - start));
    const std::size_t value = ++at_;
    skip_line();
    if (unclosed_name_ != std::string_view::npos) {
      // fdbmonitor's name of a section without ] runs on to the end of the next key.
      const auto end = static_cast<std::size_t>(key.data() - text_.data()) + key.size();
      enter_section(text_.substr(unclosed_name_, end - unclosed_name_), unclosed_name_);
      unclosed_name_ = std::string_view::npos;
    }
    add_entry(key, trim_spaces(text_.substr(value, at_ - value)), start);
  }

  void enter_section(std::string_view name, std::size_t at) {
    const auto known = sections_.find(name);
    if (known == sections_.end()) {
      section_ = result_.document.sections.size();
      sections_.emplace(std::string(name), section_);
      result_.document.sections.push_back({std::string(name), {}, position(at)});
      keys_.emplace_back();
    } else {
      section_ = known->second;
      warn(at, fmt::format("section [{}] was opened before, on line {}; both are taken together",
                           name, result_.document.sections[section_].at.line));
    }
    has_section_ = true;
  }

  void add_entry(std::string_view key, std::string_view value, std::size_t at) {
    if (!has_section_) {
      warn(at, fmt::format("key '{}' stands before any section and is ignored", key));
      enter_section("", at);
    }
    auto& entries = result_.document.sections[section_].entries;
    const auto [known, is_new] = keys_[section_].emplace(std::string(key), entries.size());
    if (is_new) {
      entries.push_back({std::string(key), std::string(value), position(at)});
      return;
    }
    Entry& first = entries[known->second];
    warn(at, fmt::format("key '{}' was given before, on line {}; the last value counts", key,
                         first.at.line));
    first.value = value;
  }

  void error(std::size_t at, std::string message) {
    result_.diagnostics.push_back({Severity::error, position(at), std::move(message)});
  }
  void warn(std::size_t at, std::string message) {
    result_.diagnostics.push_back({Severity::warning, position(at), std::move(message)});
  }

  // Offsets are asked for in rising order almost always, so counting goes on from the last one.
  Position position(std::size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      line_ = 1;
      line_start_ = 0;
    }
    for (; counted_ < offset; ++counted_) {
      const bool is_crlf =
          text_[counted_] == '\r' && counted_ + 1 < text_.size() && text_[counted_ + 1] == '\n';
      if (is_newline(text_[counted_]) && !is_crlf) {
        ++line_;
        line_start_ = counted_ + 1;
      }
    }
    return {line_, offset - line_start_ + 1};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  ParsedDocument result_;

  std::size_t section_ = 0;
  bool has_section_ = false;
  std::size_t unclosed_name_ = std::string_view::npos;
  std::map<std::string, std::size_t, NameLess> sections_;  // index of each section
  std::vector<std::map<std::string, std::size_t, NameLess>>
      keys_;  // index of each key, per section

  std::size_t counted_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  const char* severity = diagnostic.severity == Severity::error ? "error" : "warning";
  if (diagnostic.at.line == 0) return fmt::format("{}: {}", severity, diagnostic.message);
  return fmt::format("{}:{}: {}: {}", diagnostic.at.line, diagnostic.at.column, severity,
                     diagnostic.message);
}

const Entry* Section::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (same_name(entry.key, key)) return &entry;
  }
  return nullptr;
}

const Section* Document::find(std::string_view name) const {
  for (const Section& section : sections) {
    if (same_name(section.name, name)) return &section;
  }
  return nullptr;
}

ParsedDocument parse(std::string_view text) {
  return Parser(text).run();
}

std::string print(const Document& document) {
  std::string text;
  for (const Section& section : document.sections) {
    // Keys before any header are in a section without a name.
    const bool needs_header = !section.name.empty() || &section != &document.sections.front();
    if (needs_header) text += fmt::format("[{}]\n", section.name);
    for (const Entry& entry : section.entries) {
      text += entry.key;
      text += entry.value.empty() ? " =" : " = ";
      text += entry.value;
      text += '\n';
    }
  }
  // A key may begin with what looks like a byte order mark; only at the very start is it one.
  if (text.starts_with(kByteOrderMark)) text.insert(0, "\n");
  return text;
}

}  // namespace fdbpack::conf
