// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/process_settings.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace fdbpack::model {
namespace {

constexpr unsigned kCpuMax = 1023;  // what sched_setaffinity() takes in a cpu_set_t
constexpr double kGraceMaxS = 3600;
constexpr std::array<std::string_view, 10> kLimitNames{
    "as", "core", "cpu", "data", "fsize", "memlock", "nofile", "nproc", "rss", "stack"};

Status refuse(std::string_view expected, std::string_view value) {
  return fail(ErrorCode::invalid_argument,
              "'" + std::string(value) + "' is not " + std::string(expected));
}

template <class T>
bool read_whole(std::string_view text, T& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<int> parse_between(std::string_view text, int lowest, int highest) {
  int number = 0;
  if (!read_whole(text, number, 10) || number < lowest || number > highest) return {};
  return number;
}

Status set_grace(ProcessSettings& settings, std::string_view value) {
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), seconds, std::chars_format::fixed);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  if (!is_number || !(seconds >= 0 && seconds <= kGraceMaxS)) {
    return refuse("a number of seconds from 0 to 3600", value);
  }
  settings.stop_grace = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  return {};
}

Status set_umask(ProcessSettings& settings, std::string_view value) {
  std::uint32_t mask = 0;
  if (!read_whole(value, mask, 8) || mask > 0777) return refuse("octal, from 0 to 777", value);
  settings.umask = mask;
  return {};
}

Status set_cpus(ProcessSettings& settings, std::string_view value) {
  std::vector<unsigned> cpus;
  for (const std::string_view part : text::split(value, ',')) {
    const std::string_view range = text::trim(part);
    const auto dash = range.find('-');
    unsigned first = 0;
    unsigned last = 0;
    const bool is_first = read_whole(range.substr(0, dash), first, 10);
    last = first;
    const bool is_last =
        dash == std::string_view::npos || read_whole(range.substr(dash + 1), last, 10);
    if (!is_first || !is_last || first > last || last > kCpuMax) {
      return refuse("a list of CPUs such as 0-3,8", value);
    }
    for (unsigned cpu = first; cpu <= last; ++cpu)
      cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  settings.cpus = std::move(cpus);
  return {};
}

std::optional<std::uint64_t> parse_limit(std::string_view text) {
  text = text::trim(text);
  return text == "unlimited" ? std::optional(kUnlimited) : text::parse_decimal(text);
}

Status set_limit(ProcessSettings& settings, std::string_view name, std::string_view value) {
  if (std::find(kLimitNames.begin(), kLimitNames.end(), name) == kLimitNames.end()) {
    return fail(ErrorCode::invalid_argument, "there is no limit '" + std::string(name) + "'");
  }
  const auto colon = value.find(':');
  const auto soft = parse_limit(value.substr(0, colon));
  const auto hard = colon == std::string_view::npos ? soft : parse_limit(value.substr(colon + 1));
  if (!soft || !hard || *soft > *hard) {
    return refuse("a limit: SOFT:HARD, one number for both, or unlimited", value);
  }
  Limit limit{std::string(name), *soft, *hard};
  auto& limits = settings.limits;
  const auto place =
      std::lower_bound(limits.begin(), limits.end(), name,
                       [](const Limit& one, std::string_view other) { return one.name < other; });
  if (place != limits.end() && place->name == name) {
    *place = std::move(limit);
  } else {
    limits.insert(place, std::move(limit));
  }
  return {};
}

}  // namespace

Status set_setting(ProcessSettings& settings, std::string_view name, std::string_view value) {
  constexpr std::string_view kLimitPrefix = "limit-";
  if (name == "stop-grace") return set_grace(settings, value);
  if (name == "umask") return set_umask(settings, value);
  if (name == "cpus") return set_cpus(settings, value);
  if (name.starts_with(kLimitPrefix)) {
    return set_limit(settings, name.substr(kLimitPrefix.size()), value);
  }
  if (name == "cwd") {
    const bool has_control = std::any_of(
        value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
    if (!value.starts_with('/') || has_control) return refuse("an absolute path", value);
    settings.working_directory = value;
    return {};
  }
  if (name == "nice") {
    settings.nice = parse_between(value, -20, 19);
    return settings.nice ? Status() : refuse("a number from -20 to 19", value);
  }
  if (name == "oom-score-adj") {
    settings.oom_score_adj = parse_between(value, -1000, 1000);
    return settings.oom_score_adj ? Status() : refuse("a number from -1000 to 1000", value);
  }
  return fail(ErrorCode::invalid_argument, "there is no setting '" + std::string(name) + "'");
}

}  // namespace fdbpack::model
