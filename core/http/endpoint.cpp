// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/endpoint.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>

namespace fdbpack::http {
namespace {

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

bool is_host_letter(char c) {
  return c > ' ' && c < 0x7F && std::string_view("/?#@\\\"<>").find(c) == std::string_view::npos;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view url) {
  const auto refuse = [url](std::string_view why) {
    return fail(ErrorCode::invalid_argument,
                "endpoint '" + std::string(url) + "': " + std::string(why));
  };
  Endpoint endpoint;
  std::string_view rest = url;
  const auto drop = [&rest](std::string_view scheme) {
    if (!rest.starts_with(scheme)) return false;
    rest.remove_prefix(scheme.size());
    return true;
  };
  if (drop("unix://")) {
    if (!rest.starts_with('/')) return refuse("the path of a unix socket begins with '/'");
    endpoint.unix_path = rest;
    return endpoint;
  }
  endpoint.is_tls = url.starts_with("https://");
  if (!drop("http://") && !drop("https://")) {
    return refuse("it begins with http://, https:// or unix://");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  std::string_view port;
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == rest.npos) return refuse("a ']' is missing");
    endpoint.host = rest.substr(1, end - 1);
    port = rest.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return refuse("only a port follows ']'");
  } else {
    const auto colon = rest.find(':');
    endpoint.host = rest.substr(0, colon);
    if (colon != rest.npos) port = rest.substr(colon);
  }
  if (endpoint.host.empty()) return refuse("the host is missing");
  if (!std::all_of(endpoint.host.begin(), endpoint.host.end(), is_host_letter)) {
    return refuse("there is only a host and a port, no user and no path");
  }
  endpoint.port = endpoint.is_tls ? 443 : 80;
  if (!port.empty()) {
    const auto number = text::parse_decimal(port.substr(1));
    if (!number || *number == 0 || *number > 65535) return refuse("a port is 1 to 65535");
    endpoint.port = static_cast<std::uint16_t>(*number);
  }
  return endpoint;
}

std::string to_string(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return "unix://" + endpoint.unix_path;
  return (endpoint.is_tls ? "https://" : "http://") + in_brackets(endpoint.host) + ":" +
         std::to_string(endpoint.port);
}

std::string host_field(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return "localhost";
  const bool is_usual = endpoint.port == (endpoint.is_tls ? 443 : 80);
  return in_brackets(endpoint.host) + (is_usual ? "" : ":" + std::to_string(endpoint.port));
}

}  // namespace fdbpack::http
