// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

#include "fdbpack/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace fdbpack::place::htools {
namespace {

Error bad(std::string_view what, std::string_view text) {
  return {ErrorCode::invalid_argument, fmt::format("{} '{}' is not a number", what, text)};
}

Result<Spec> parse_spec(std::string_view text) {
  const std::vector<std::string_view> parts = text::split(text, ',');
  if (parts.size() != 6) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("specification '{}' needs 6 numbers", text));
  }
  Spec spec;
  FDBPACK_TRY(spec.memory, field_integer(parts[0], "memory"));
  FDBPACK_TRY(spec.vcpus, field_integer(parts[1], "vcpus"));
  FDBPACK_TRY(spec.disk, field_integer(parts[2], "disk"));
  FDBPACK_TRY(spec.disk_count, field_integer(parts[3], "disk count"));
  FDBPACK_TRY(spec.nic_count, field_integer(parts[4], "nic count"));
  FDBPACK_TRY(spec.spindle_use, field_integer(parts[5], "spindle use"));
  return spec;
}

}  // namespace

Result<std::int64_t> field_integer(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return fail(bad(what, text));
  return value;
}

Result<double> field_number(std::string_view text, std::string_view what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !std::isfinite(value)) return fail(bad(what, text));
  return value;
}

Result<bool> field_bool(std::string_view text, std::string_view what) {
  if (text == "Y") return true;
  if (text == "N") return false;
  return fail(ErrorCode::invalid_argument, fmt::format("{} '{}' is not Y or N", what, text));
}

std::vector<std::string> field_list(std::string_view text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (const std::string_view part : text::split(text, ','))
    out.emplace_back(part);
  return out;
}

Result<std::vector<StorageUnit>> field_storage(std::string_view text) {
  std::vector<StorageUnit> out;
  if (text.empty()) return out;
  for (const std::string_view entry : text::split(text, ';')) {
    if (entry.empty()) continue;
    const std::vector<std::string_view> parts = text::split(entry, ',');
    if (parts.size() < 4) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("storage unit '{}' needs free,total,type,key", entry));
    }
    StorageUnit unit;
    FDBPACK_TRY(unit.free, field_integer(parts[0], "free storage"));
    FDBPACK_TRY(unit.total, field_integer(parts[1], "total storage"));
    if (unit.free < 0 || unit.total < 0 || unit.free > unit.total) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("storage unit '{}' must have 0 <= free <= total", entry));
    }
    unit.id.type = parts[2];
    unit.id.key = parts[3];
    for (std::size_t i = 4; i < parts.size(); ++i)
      unit.id.params.emplace_back(parts[i]);
    const bool is_twice = std::any_of(
        out.begin(), out.end(), [&](const StorageUnit& other) { return other.id == unit.id; });
    if (is_twice) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("storage unit {}:{} is listed twice", unit.id.type, unit.id.key));
    }
    out.push_back(std::move(unit));
  }
  return out;
}

Result<Policy> field_policy(const std::vector<std::string_view>& columns) {
  if (columns.size() < 6) return fail(ErrorCode::invalid_argument, "a policy line needs 6 columns");
  Policy policy;
  FDBPACK_TRY(policy.standard, parse_spec(columns[1]));
  policy.ranges.clear();
  const std::vector<std::string_view> specs = text::split(columns[2], ';');
  if (specs.size() % 2 != 0) {
    return fail(ErrorCode::invalid_argument, "a policy needs pairs of min and max specifications");
  }
  for (std::size_t i = 0; i < specs.size(); i += 2) {
    SpecRange range;
    FDBPACK_TRY(range.min, parse_spec(specs[i]));
    FDBPACK_TRY(range.max, parse_spec(specs[i + 1]));
    policy.ranges.push_back(range);
  }
  policy.templates = field_list(columns[3]);
  FDBPACK_TRY(policy.vcpu_ratio, field_number(columns[4], "vcpu ratio"));
  FDBPACK_TRY(policy.spindle_ratio, field_number(columns[5], "spindle ratio"));
  return policy;
}

bool is_known_status(std::string_view status) {
  static constexpr std::array<std::string_view, 9> kStatus = {
      "running",        "ADMIN_down",        "ADMIN_offline",   "ERROR_up", "ERROR_down",
      "ERROR_nodedown", "ERROR_nodeoffline", "ERROR_wrongnode", "USER_down"};
  return std::find(kStatus.begin(), kStatus.end(), status) != kStatus.end();
}

}  // namespace fdbpack::place::htools
