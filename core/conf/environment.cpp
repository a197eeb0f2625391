// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/environment.hpp"

#include "fdbpack/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::conf {
namespace {

bool is_name(std::string_view name) {
  const auto is_word = [](char c) {
    return text::is_digit(c) || c == '_' || (text::lower(c) >= 'a' && text::lower(c) <= 'z');
  };
  return !name.empty() && !text::is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), is_word);
}

}  // namespace

Result<std::pair<std::string, std::string>> parse_envvar(std::string_view word) {
  const auto refuse = [](const char* why) { return fail(ErrorCode::invalid_argument, why); };
  if (word.empty()) return refuse("Key-Value can not be empty");
  if (std::count(word.begin(), word.end(), '=') != 1) return refuse("Only one equal sign allowed");
  const std::size_t equals = word.find('=');
  if (equals == 0) return refuse("Key must be non-empty");
  if (equals + 1 == word.size()) return refuse("Value must be non-empty");
  return std::pair(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
}

namespace {

// Without the quotes around it, as a shell or systemd takes it. What cannot stand in a command line
// is refused: it would end up in a conf that says something else.
Result<std::string_view> value_of(std::string_view text) {
  const bool is_quoted = !text.empty() && (text.front() == '"' || text.front() == '\'');
  if (is_quoted && (text.size() < 2 || text.back() != text.front()))
    return fail(ErrorCode::invalid_argument, "has a quote that is not closed");
  if (is_quoted) text = text.substr(1, text.size() - 2);
  for (const char c : text) {
    if (c == '"' || c == '\'')
      return fail(ErrorCode::invalid_argument, "has a quote within its value");
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return fail(ErrorCode::invalid_argument, "has a control character in its value");
  }
  return text;
}

}  // namespace

Result<Environment> parse_env_file(std::string_view content) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);  // a byte order mark
  Environment environment;
  std::size_t number = 0;
  for (std::string_view line : text::split(content, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string_view start = line;
    while (!start.empty() && text::is_blank(start.front()))
      start.remove_prefix(1);
    if (start.empty() || start.front() == '#') continue;
    if (start.starts_with("export ")) start.remove_prefix(7);
    const std::size_t equals = start.find('=');
    if (equals == start.npos) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("line {} has no =; write NAME=value", number));
    }
    const std::string_view name = text::trim(start.substr(0, equals));
    if (!is_name(name)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("line {}: '{}' cannot be the name of a variable", number, name));
    }
    const auto value = value_of(start.substr(equals + 1));
    if (!value) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("line {}: {} {}", number, name, value.error().message));
    }
    environment.insert_or_assign(std::string(name), std::string(*value));
  }
  return environment;
}

}  // namespace fdbpack::conf
