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

}  // namespace

std::optional<ListenAddress> listen_address(const std::vector<std::string>& argv) {
  std::string_view value = value_of(argv, "listen_address");
  if (value.empty() || value == "public") value = value_of(argv, "public_address");
  if (value.empty()) return {};
  value = text::split(value, ',').front();
  if (value.ends_with(":tls")) value.remove_suffix(4);
  const auto colon = value.rfind(':');
  if (colon == std::string_view::npos) return {};
  const auto port = text::parse_decimal(value.substr(colon + 1));
  if (!port || *port == 0 || *port > UINT16_MAX) return {};
  std::string ip(value.substr(0, colon));
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  if (ip == "auto") return {};  // only fdbserver knows which it chose
  if (ip == "0.0.0.0") ip = "127.0.0.1";
  if (ip == "::") ip = "::1";
  return ListenAddress{ip, static_cast<std::uint16_t>(*port)};
}

}  // namespace fdbpack::agent
