// SPDX-License-Identifier: Apache-2.0
//
// What an administrator says about a program's HTTP service: where it listens, who may come, and
// the limits. From the command line and from configuration files alike.
//
//   127.0.0.1:4490   [::1]:4490     plain on loopback
//   0.0.0.0:4490                    TLS when there is a certificate; otherwise for probes alone
//   https://127.0.0.1:4490          TLS in any case
//   http://10.0.0.7:4490            plain in any case; for probes alone when not on loopback
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/http/limits.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http {

struct ListenPlace {
  enum class Security { automatic, plain, tls };

  std::string address;  // without brackets
  std::uint16_t port = 0;
  Security security = Security::automatic;

  bool operator==(const ListenPlace&) const = default;
};

[[nodiscard]] Result<ListenPlace> parse_listen_place(std::string_view text);
// "https://[::1]:4490"; the scheme where it is not automatic.
[[nodiscard]] std::string to_string(const ListenPlace& place);
[[nodiscard]] bool is_loopback(std::string_view address);

struct ServiceSettings {
  std::vector<ListenPlace> listen;
  std::string socket_path;  // empty: no unix socket
  unsigned socket_mode = 0660;

  std::string certificate_file, key_file, authority_file;
  std::string read_peers, operate_peers;  // rules as in peer_rules.hpp
  bool has_read_peers = false, has_operate_peers = false;
  std::string read_token_file, operate_token_file;
  std::vector<std::uint32_t> operator_uids, operator_gids;
  std::vector<std::string> host_names;  // by which clients on loopback may call us, too

  Limits limits;

  [[nodiscard]] bool has_tls() const { return !certificate_file.empty(); }
  [[nodiscard]] bool uses_tls(const ListenPlace& place) const {
    if (place.security != ListenPlace::Security::automatic) {
      return place.security == ListenPlace::Security::tls;
    }
    return has_tls() && !is_loopback(place.address);
  }
};

// What can be wrong before anything is opened: TLS without a certificate, rules that are none, …
[[nodiscard]] Status validate(const ServiceSettings& settings);

// The limits by name, for configurations: "connections", "header_bytes", "idle_ms", …
[[nodiscard]] std::vector<std::string_view> limit_names();
// Fails with invalid_argument on an unknown name or a value out of bounds.
[[nodiscard]] Status set_limit(Limits& limits, std::string_view name, std::uint64_t value);

}  // namespace fdbpack::http
