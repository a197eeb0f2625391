// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/ids.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <limits>

namespace fdbpack::model {
namespace {

auto bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument,
              "could not parse process group ID " + std::string(text) + ": " + std::string(why));
}

bool is_prefix(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const char lower = text::lower(c);
    return (lower >= 'a' && lower <= 'z') || text::is_digit(c) || c == '_' || c == '-';
  });
}

}  // namespace

Result<ProcessGroupId> parse_process_group_id(std::string_view text) {
  if (text.size() > kProcessGroupIdBytesMax) return bad(text, "it is longer than 63 characters");
  const std::size_t last = text.rfind('-');
  if (last == std::string_view::npos) return bad(text, "write it as class-number");
  const std::string_view digits = text.substr(last + 1);
  const auto number = text::parse_decimal(digits);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max() ||
      (digits.size() > 1 && digits.front() == '0')) {
    return bad(text, "it does not end in a number");
  }
  const std::string_view head = text.substr(0, last);
  const std::size_t dash = head.rfind('-');
  const bool has_prefix = dash != std::string_view::npos;
  const auto process_class = parse_process_class(has_prefix ? head.substr(dash + 1) : head);
  if (!process_class) return bad(text, process_class.error().message);
  if (has_prefix && !is_prefix(head.substr(0, dash))) {
    return bad(text, "a prefix holds only letters, digits, _ and -");
  }
  return ProcessGroupId{.prefix = has_prefix ? std::string(head.substr(0, dash)) : "",
                        .process_class = *process_class,
                        .number = static_cast<std::uint32_t>(*number)};
}

std::string to_string(const ProcessGroupId& id) {
  std::string result = id.prefix.empty() ? "" : id.prefix + "-";
  result += to_string(id.process_class);
  return result + "-" + std::to_string(id.number);
}

std::string process_id(std::string_view group, std::uint32_t index, std::uint32_t density) {
  FDBPACK_CHECK(index >= 1 && index <= density);
  std::string result(group);
  if (density > 1) result += "-" + std::to_string(index);
  return result;
}

}  // namespace fdbpack::model
