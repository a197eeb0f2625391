// SPDX-License-Identifier: Apache-2.0
//
// What keeps strangers out before a call is looked at.
//
// Host: a page in a browser can make its own name resolve to 127.0.0.1 and then read what we
// answer. It cannot change the Host field, so on loopback we answer to addresses, to `localhost`
// and to names that we were given, and to no others.
//
// Tokens: whoever guesses is made to wait. Counted per peer, in a table that does not grow.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/http/message.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http {

// `host` is the value of the field: "localhost:4490", "127.0.0.1", "[::1]:4490".
[[nodiscard]] bool is_host_ours(std::string_view host, const std::vector<std::string>& names);

// Why a request is refused before its access is decided; empty: it is not.
[[nodiscard]] std::string refusal_of_origin(const Request& request,
                                            const std::vector<std::string>& host_names);

class FailureLimit {
 public:
  static constexpr unsigned kFailuresMax = 5;
  static constexpr auto kWindow = std::chrono::seconds(60);
  static constexpr std::size_t kPeersMax = 256;

  // How long this peer has to wait; zero: it may try.
  [[nodiscard]] Duration wait(const std::string& peer, Instant now) const;
  void note_failure(const std::string& peer, Instant now);
  void note_success(const std::string& peer) { peers_.erase(peer); }

 private:
  struct Entry {
    unsigned failures = 0;
    Instant since;  // the first of them
  };
  std::map<std::string, Entry> peers_;
};

}  // namespace fdbpack::http
