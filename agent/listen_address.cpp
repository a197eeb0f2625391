// SPDX-License-Identifier: Apache-2.0
#include "agent/listen_address.hpp"

#include "fdbpack/base/text.hpp"

#include <string_view>

namespace fdbpack::agent {
namespace {

// The value of --name=value, whichever of `-` and `_` its words are joined by.
std::string_view value_of(const std::vector<std::string>& argv, std::string_view name) {
  for (const std::string& argument : argv) {
    const auto equals = argument.find('=');
    if (equals == std::string::npos || !argument.starts_with("--")) continue;
    if (text::replace_all(argument.substr(2, equals - 2), "-", "_") == name) {
      return std::string_view(argument).substr(equals + 1);
    }
  }
  return {};
}

// A list of addresses.
std::string_view bound_list(const std::vector<std::string>& argv) {
  const std::string_view value = value_of(argv, "listen_address");
  return value.empty() || value == "public" ? value_of(argv, "public_address") : value;
}

std::optional<ListenAddress> parse_address(std::string_view value) {
  if (value.ends_with(":tls")) value.remove_suffix(4);
  const auto colon = value.rfind(':');
  if (colon == std::string_view::npos) return {};
  const auto port = text::parse_decimal(value.substr(colon + 1));
  if (!port || *port == 0 || *port > UINT16_MAX) return {};
  std::string ip(value.substr(0, colon));
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  return ListenAddress{ip, static_cast<std::uint16_t>(*port)};
}

}  // namespace

std::optional<ListenAddress> listen_address(const std::vector<std::string>& argv) {
  auto address = parse_address(text::split(bound_list(argv), ',').front());
  if (!address || address->ip == "auto") return {};  // only fdbserver knows which it chose
  if (address->ip == "0.0.0.0") address->ip = "127.0.0.1";
  if (address->ip == "::") address->ip = "::1";
  return address;
}

std::vector<ListenAddress> bound_addresses(const std::vector<std::string>& argv) {
  std::vector<ListenAddress> addresses;
  for (const auto item : text::split(bound_list(argv), ',')) {
    if (auto address = parse_address(item)) addresses.push_back(*std::move(address));
  }
  return addresses;
}

}  // namespace fdbpack::agent
