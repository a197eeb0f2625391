// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/target.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>

namespace fdbpack::http {
namespace {

int hex_value(char c) {
  if (text::is_digit(c)) return c - '0';
  const char low = text::lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

}  // namespace

Result<Target> split_target(std::string_view target) {
  std::string_view rest = target.substr(0, target.find('#'));
  if (const auto scheme = rest.find("://"); !rest.starts_with('/') && scheme != rest.npos) {
    rest.remove_prefix(scheme + 3);
    rest.remove_prefix(std::min(rest.find_first_of("/?"), rest.size()));
    if (rest.empty() || rest.front() == '?') return Target{"/", rest.substr(rest.empty() ? 0 : 1)};
  }
  if (rest == "*") return Target{rest, {}};
  if (!rest.starts_with('/')) {
    return fail(ErrorCode::invalid_argument, "the target of the request is no path");
  }
  const auto mark = rest.find('?');
  if (mark == rest.npos) return Target{rest, {}};
  return Target{rest.substr(0, mark), rest.substr(mark + 1)};
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(
    std::string_view query) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const std::string_view part : text::split(query, '&')) {
    if (part.empty()) continue;
    const auto equals = std::min(part.find('='), part.size());
    const auto decode = [](std::string_view piece) {
      return percent_decode(text::replace_all(piece, "+", " "));
    };
    auto name = decode(part.substr(0, equals));
    auto value = decode(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value) return std::nullopt;
    result.emplace_back(*std::move(name), *std::move(value));
  }
  return result;
}

}  // namespace fdbpack::http
