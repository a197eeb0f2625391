// SPDX-License-Identifier: Apache-2.0
//
// What a client asks and who it is, as plain values.
#pragma once

#include "fdbpack/http/certificate.hpp"
#include "fdbpack/http/headers.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http {

enum class Method { get, head, post, put, patch, delete_, options, unknown };

[[nodiscard]] Method method_of(std::string_view name);
[[nodiscard]] std::string_view to_string(Method method);

// Of a process on the other end of a unix socket, as the kernel knows it.
struct UnixCredentials {
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  // the further ones

  bool operator==(const UnixCredentials&) const = default;
};

struct Peer {
  std::string address;  // "127.0.0.1", "fd00::7"; empty on a unix socket
  std::uint16_t port = 0;
  bool is_loopback = false;
  bool is_tls = false;
  std::optional<UnixCredentials> credentials;   // on a unix socket
  std::optional<CertificateFacts> certificate;  // what the client showed
};

// "127.0.0.1:4711", "unix uid=0 pid=17", with " CN=…" when there is a certificate. For audit lines.
[[nodiscard]] std::string describe(const Peer& peer);

struct Request {
  Method method = Method::unknown;
  std::string method_name;
  std::string target;  // as it came
  Headers headers;
  std::string body;
  Peer peer;
};

}  // namespace fdbpack::http
