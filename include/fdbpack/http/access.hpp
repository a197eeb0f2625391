// SPDX-License-Identifier: Apache-2.0
//
// Who may do what.
//
//   comes by                     probe   read    operate
//   unix socket, listed uid/gid   yes     yes     yes
//   unix socket, anybody else     yes     yes     no
//   loopback TCP                  yes     yes     no
//   TCP from elsewhere            yes     no      no
//   + certificate by read rules           yes
//   + certificate by operate rules        yes     yes
//   + bearer token of that role           yes     yes
//
// A wrong token gives nothing at all, so that a mistake is seen and not papered over; neither does
// one that came over the network without TLS.
#pragma once

#include "fdbpack/http/message.hpp"
#include "fdbpack/http/peer_rules.hpp"
#include "fdbpack/http/router.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http {

// True if both are the same. Takes as long for a wrong token as for one that is nearly right.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

struct AccessPolicy {
  std::vector<std::uint32_t> operator_uids;  // of unix peers
  std::vector<std::uint32_t> operator_gids;
  std::optional<PeerRules> read_rules, operate_rules;  // without them a certificate gives nothing
  std::vector<std::string> read_tokens, operate_tokens;
  bool is_loopback_trusted_to_read = true;
};

struct AccessDecision {
  Access granted = Access::probe;  // the most that this client may do
  bool is_token_wrong = false;
  std::string by;  // "unix uid 0", "certificate CN=ops", "bearer token", "loopback", "nothing"
};

[[nodiscard]] AccessDecision decide_access(const Request& request, const AccessPolicy& policy);

// The tokens of a file: one a line, blanks around it dropped, empty lines and those that begin with
// '#' skipped. Tokens of less than 16 characters are refused: they could be guessed.
[[nodiscard]] Result<std::vector<std::string>> parse_tokens(std::string_view text);

}  // namespace fdbpack::http
