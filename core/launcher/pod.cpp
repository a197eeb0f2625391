// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/launcher/pod.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fdbpack::launcher {
namespace {

constexpr Duration kDelayMax = std::chrono::hours(24 * 365);

std::string_view value_of(const Annotations& annotations, std::string_view name) {
  const auto found = annotations.find(name);
  return found == annotations.end() ? std::string_view() : std::string_view(found->second);
}

struct Unit {
  std::string_view name;
  double nanoseconds;
};
// Longer names first: "ms" is no "m".
constexpr std::array<Unit, 8> kUnits{{{"ns", 1.0},
                                      {"us", 1e3},
                                      {"µs", 1e3},
                                      {"μs", 1e3},
                                      {"ms", 1e6},
                                      {"s", 1e9},
                                      {"m", 60e9},
                                      {"h", 3600e9}}};

// Digits with at most one point, as a number of thousandths would lose precision nobody needs.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  double scale = 0;  // 0: before the point
  std::size_t digits = 0;
  while (!text.empty() && (text::is_digit(text.front()) || (text.front() == '.' && scale == 0))) {
    if (text.front() == '.') {
      scale = 1;
    } else {
      const double digit = text.front() - '0';
      ++digits;
      if (scale == 0) {
        value = value * 10 + digit;
      } else {
        scale /= 10;
        value += digit * scale;
      }
    }
    text.remove_prefix(1);
  }
  return digits == 0 ? std::nullopt : std::optional(value);
}

}  // namespace

std::optional<bool> parse_go_bool(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kTrue{"1", "t", "T", "TRUE", "true", "True"};
  static constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "FALSE", "false", "False"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  return {};
}

std::optional<Duration> parse_go_duration(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration::zero();
  if (text.empty()) return {};
  double nanoseconds = 0;
  while (!text.empty()) {
    const auto number = take_number(text);
    const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& candidate) {
      return text.starts_with(candidate.name);
    });
    if (!number || unit == kUnits.end()) return {};
    nanoseconds += *number * unit->nanoseconds;
    text.remove_prefix(unit->name.size());
  }
  const double bounded = std::min(nanoseconds, static_cast<double>(kDelayMax.count()));
  const Duration magnitude(static_cast<Duration::rep>(bounded));
  return is_negative ? -magnitude : magnitude;
}

bool is_isolated(const Annotations& annotations) {
  return parse_go_bool(value_of(annotations, kIsolate)).value_or(false);
}

std::optional<Duration> shutdown_delay(const Annotations& annotations) {
  const auto delay = parse_go_duration(value_of(annotations, kDelayShutdown));
  if (!delay || *delay <= Duration::zero()) return {};
  return delay;
}

std::optional<ReloadRequest> reload_request(const Annotations& before, const Annotations& after) {
  if (is_isolated(before) != is_isolated(after)) return ReloadRequest{true, 0};
  const std::string_view outdated = value_of(after, kOutdatedConfigMap);
  const auto seconds = text::parse_decimal(outdated);
  if (!seconds || !std::in_range<std::int64_t>(*seconds)) return {};
  return ReloadRequest{false, static_cast<std::int64_t>(*seconds)};
}

}  // namespace fdbpack::launcher
