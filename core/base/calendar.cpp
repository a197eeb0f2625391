// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/calendar.hpp"

#include "fdbpack/base/text.hpp"

#include <cstdint>

namespace fdbpack {
namespace {

void append_padded(std::string& to, std::int64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  if (digits.size() < width) to.append(width - digits.size(), '0');
  to += digits;
}

// The digits from `at` on, where all of them are digits.
std::optional<std::int64_t> number_at(std::string_view text, std::size_t at, std::size_t width) {
  const auto value = text::parse_decimal(text.substr(at, width));
  if (!value) return {};
  return static_cast<std::int64_t>(*value);
}

}  // namespace

std::string rfc3339(WallTime at) {
  using namespace std::chrono;
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  std::string text;
  append_padded(text, static_cast<int>(date.year()), 4);
  text += '-';
  append_padded(text, static_cast<unsigned>(date.month()), 2);
  text += '-';
  append_padded(text, static_cast<unsigned>(date.day()), 2);
  text += 'T';
  append_padded(text, time.hours().count(), 2);
  text += ':';
  append_padded(text, time.minutes().count(), 2);
  text += ':';
  append_padded(text, time.seconds().count(), 2);
  text += '.';
  append_padded(text, time.subseconds().count(), 3);
  text += 'Z';
  return text;
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  if (text.size() != kForm.size()) return {};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kForm[i] == '0' ? !text::is_digit(text[i]) : text[i] != kForm[i]) return {};
  }
  const year_month_day date{year(static_cast<int>(*number_at(text, 0, 4))),
                            month(static_cast<unsigned>(*number_at(text, 5, 2))),
                            day(static_cast<unsigned>(*number_at(text, 8, 2)))};
  const auto hour = *number_at(text, 11, 2);
  const auto minute = *number_at(text, 14, 2);
  const auto second = *number_at(text, 17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  return WallTime(sys_days(date).time_since_epoch() + hours(hour) + minutes(minute) +
                  seconds(second) + milliseconds(*number_at(text, 20, 3)));
}

}  // namespace fdbpack
