// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/address.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/model/ip.hpp"
#include "fdbpack/model/names.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace fdbpack::model {
namespace {

constexpr std::string_view kFromHostname = "(fromHostname)";

struct Parts {
  std::string_view host;
  std::optional<std::string_view> port;
  std::optional<std::string_view> flag;
};

auto bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument,
              "\"" + std::string(text) + "\" is not an address: " + std::string(why));
}

// What is behind the host: "", ":port" or ":port:flag".
Result<Parts> divide_tail(std::string_view text, std::string_view host, std::string_view tail) {
  Parts parts{.host = host, .port = std::nullopt, .flag = std::nullopt};
  if (tail.empty()) return parts;
  if (tail.front() != ':') return bad(text, "only :port may follow the closing bracket");
  const auto fields = text::split(tail.substr(1), ':');
  if (fields.size() > 2) return bad(text, "write it as host:port or host:port:tls");
  parts.port = fields[0];
  if (fields.size() == 2) parts.flag = fields[1];
  return parts;
}

Result<Parts> divide(std::string_view whole, std::string_view text) {
  if (text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return bad(whole, "the bracket is not closed");
    return divide_tail(whole, text.substr(1, close - 1), text.substr(close + 1));
  }
  // A bare IPv6 address has no port: "::1:4500" is one address of eight groups.
  if (parse_ip(text)) return Parts{.host = text, .port = std::nullopt, .flag = std::nullopt};
  const std::size_t colon = std::min(text.find(':'), text.size());
  return divide_tail(whole, text.substr(0, colon), text.substr(colon));
}

Result<std::string> canonical_host(std::string_view whole, std::string_view host) {
  if (const auto ip = parse_ip(host)) return to_string(*ip);
  if (!host.empty() && host.front() == '$' && is_variable_name(host.substr(1))) {
    return std::string(host);
  }
  if (is_host_name(host)) return std::string(host);
  return bad(whole, "the host is neither an IP address, a host name nor $NAME");
}

Result<std::uint16_t> parse_port(std::string_view whole, std::string_view text) {
  const auto port = text::parse_decimal(text);
  if (!port || *port < 1 || *port > 65535 || text.front() == '0') {
    return bad(whole, "the port must be a number from 1 to 65535");
  }
  return static_cast<std::uint16_t>(*port);
}

}  // namespace

HostKind kind_of_host(std::string_view host) {
  if (!host.empty() && host.front() == '$') return HostKind::placeholder;
  const auto ip = parse_ip(host);
  if (!ip) return HostKind::name;
  return ip->family == IpFamily::v4 ? HostKind::ipv4 : HostKind::ipv6;
}

Result<Address> parse_address(std::string_view text) {
  std::string_view rest = text;
  Address address;
  if (rest.ends_with(kFromHostname)) {
    rest.remove_suffix(kFromHostname.size());
    address.from_hostname = true;
  }
  if (rest.empty()) return bad(text, "it is empty");
  FDBPACK_TRY(const Parts parts, divide(text, rest));
  FDBPACK_TRY(address.host, canonical_host(text, parts.host));
  if (parts.port) {
    FDBPACK_TRY(address.port, parse_port(text, *parts.port));
  }
  if (parts.flag) {
    if (*parts.flag != "tls") return bad(text, "the only flag behind the port is tls");
    address.tls = true;
  }
  return address;
}

std::string to_string(const Address& address, Brackets brackets) {
  const bool has_brackets = brackets == Brackets::always ||
                            (address.port != 0 && kind_of_host(address.host) == HostKind::ipv6);
  std::string result = has_brackets ? "[" + address.host + "]" : address.host;
  if (address.port != 0) result += ":" + std::to_string(address.port);
  if (address.tls) result += ":tls";
  if (address.from_hostname) result += kFromHostname;
  return result;
}

Result<std::vector<Address>> parse_addresses(std::string_view text) {
  std::vector<Address> addresses;
  for (const auto part : text::split(text, ',')) {
    FDBPACK_TRY(auto address, parse_address(part));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

std::string to_string(const std::vector<Address>& addresses, Brackets brackets) {
  std::vector<std::string> parts;
  parts.reserve(addresses.size());
  for (const auto& address : addresses)
    parts.push_back(to_string(address, brackets));
  return text::join(parts, ",");
}

}  // namespace fdbpack::model
