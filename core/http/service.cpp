// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/service.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/http/peer_rules.hpp"

#include <algorithm>
#include <array>

namespace fdbpack::http {
namespace {

// What a limit may be; `is_time` is in milliseconds.
struct LimitEntry {
  std::string_view name;
  std::size_t Limits::*size = nullptr;
  std::chrono::milliseconds Limits::*time = nullptr;
  std::uint64_t low = 1;
  std::uint64_t high = 1;
};

constexpr std::uint64_t kHour = 3'600'000;
constexpr std::uint64_t kMiB = 1024 * 1024;

constexpr std::array<LimitEntry, 17> kLimits{{
    {"header_bytes", &Limits::header_bytes_max, nullptr, 512, kMiB},
    {"target_bytes", &Limits::target_bytes_max, nullptr, 128, kMiB},
    {"header_fields", &Limits::header_fields_max, nullptr, 8, 10'000},
    {"body_bytes", &Limits::body_bytes_max, nullptr, 0, 64 * kMiB},
    {"upload_bytes", &Limits::upload_bytes_max, nullptr, 0, 64 * kMiB},
    {"json_depth", &Limits::json_depth_max, nullptr, 1, 1000},
    {"pipelined", &Limits::pipelined_max, nullptr, 1, 1000},
    {"header_ms", nullptr, &Limits::header_deadline, 10, kHour},
    {"request_ms", nullptr, &Limits::request_deadline, 10, kHour},
    {"answer_ms", nullptr, &Limits::answer_deadline, 10, kHour},
    {"write_ms", nullptr, &Limits::write_deadline, 10, kHour},
    {"idle_ms", nullptr, &Limits::idle_deadline, 10, kHour},
    {"farewell_ms", nullptr, &Limits::farewell_deadline, 10, kHour},
    {"half_closed_ms", nullptr, &Limits::half_closed_deadline, 10, kHour},
    {"connections", &Limits::connections_max, nullptr, 1, 100'000},
    {"connections_per_peer", &Limits::connections_per_peer_max, nullptr, 1, 100'000},
    {"probe_connections", &Limits::probe_connections_max, nullptr, 1, 1000},
}};

Status check_rules(bool is_given, const std::string& rules, std::string_view role) {
  if (!is_given) return {};
  const auto parsed = PeerRules::parse(rules);
  if (parsed) return {};
  return fail(with_context(parsed.error(), "the rules for peers that may " + std::string(role)));
}

}  // namespace

Result<ListenPlace> parse_listen_place(std::string_view text) {
  ListenPlace place;
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is no place to listen: " + std::string(why));
  };
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    place.security = ListenPlace::Security::tls;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    place.security = ListenPlace::Security::plain;
    rest.remove_prefix(7);
  }
  const auto colon = rest.rfind(':');
  if (colon == rest.npos || colon == 0) return refuse("write ADDRESS:PORT");
  const auto port = text::parse_decimal(rest.substr(colon + 1));
  if (!port || *port > UINT16_MAX) return refuse("the port is a number up to 65535");
  std::string_view address = rest.substr(0, colon);
  const bool has_brackets = address.starts_with('[') && address.ends_with(']');
  if (has_brackets) address = address.substr(1, address.size() - 2);
  if (has_brackets != (address.find(':') != address.npos)) {
    return refuse("an IPv6 address stands in brackets");
  }
  const auto is_part = [](char c) {
    return text::is_digit(c) || c == '.' || c == ':' ||
           (text::lower(c) >= 'a' && text::lower(c) <= 'f');
  };
  if (address.empty() || !std::all_of(address.begin(), address.end(), is_part)) {
    return refuse("it takes an IP address, not a name");
  }
  place.address = address;
  place.port = static_cast<std::uint16_t>(*port);
  return place;
}

std::string to_string(const ListenPlace& place) {
  std::string result = place.security == ListenPlace::Security::tls     ? "https://"
                       : place.security == ListenPlace::Security::plain ? "http://"
                                                                        : "";
  const bool is_v6 = place.address.find(':') != std::string::npos;
  result += is_v6 ? '[' + place.address + ']' : place.address;
  return result + ':' + std::to_string(place.port);
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

Status validate(const ServiceSettings& settings) {
  if (settings.certificate_file.empty() != settings.key_file.empty()) {
    return fail(ErrorCode::invalid_argument, "a certificate and its key are given together");
  }
  if (!settings.authority_file.empty() && !settings.has_tls()) {
    return fail(ErrorCode::invalid_argument, "authorities for clients need a certificate");
  }
  if ((settings.has_read_peers || settings.has_operate_peers) && settings.authority_file.empty()) {
    return fail(ErrorCode::invalid_argument,
                "rules for peers need the authorities that sign their certificates");
  }
  for (const ListenPlace& place : settings.listen) {
    if (settings.uses_tls(place) && !settings.has_tls()) {
      return fail(ErrorCode::invalid_argument, to_string(place) + " needs a certificate");
    }
  }
  FDBPACK_TRY_VOID(check_rules(settings.has_read_peers, settings.read_peers, "read"));
  return check_rules(settings.has_operate_peers, settings.operate_peers, "operate");
}

std::vector<std::string_view> limit_names() {
  std::vector<std::string_view> names;
  for (const LimitEntry& entry : kLimits)
    names.push_back(entry.name);
  return names;
}

Status set_limit(Limits& limits, std::string_view name, std::uint64_t value) {
  for (const LimitEntry& entry : kLimits) {
    if (entry.name != name) continue;
    if (value < entry.low || value > entry.high) {
      return fail(ErrorCode::invalid_argument, "the limit " + std::string(name) + " is between " +
                                                   std::to_string(entry.low) + " and " +
                                                   std::to_string(entry.high));
    }
    if (entry.size != nullptr) {
      limits.*entry.size = static_cast<std::size_t>(value);
    } else {
      limits.*entry.time = std::chrono::milliseconds(value);
    }
    return {};
  }
  return fail(ErrorCode::invalid_argument, "there is no limit '" + std::string(name) + "'");
}

}  // namespace fdbpack::http
