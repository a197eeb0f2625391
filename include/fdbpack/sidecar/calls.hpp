// SPDX-License-Identifier: Apache-2.0
//
// The sidecar's HTTP calls and its answers, as sidecar.py gives them: success is text/plain, an
// error is a page of HTML whose message is the reason phrase, too. The target is taken as it came:
// a query string and "%2e" are parts of a name. Every answer ends its connection, as in HTTP/1.0:
// no client ever meets one that was closed while it was idle.
//
//   GET  /ready  /substitutions  /check_hash/{path}  /is_present/{path}
//   POST /copy_files  /copy_binaries  /copy_libraries  /copy_monitor_conf  /refresh_certs  /restart
#pragma once

#include "fdbpack/http/answer.hpp"
#include "fdbpack/http/message.hpp"
#include "fdbpack/http/peer_rules.hpp"
#include "fdbpack/sidecar/settings.hpp"

#include <string>
#include <string_view>

namespace fdbpack::sidecar {

enum class Verb {
  ready,
  substitutions,
  check_hash,
  is_present,
  copy_files,
  copy_binaries,
  copy_libraries,
  copy_monitor_conf,
  refresh_certs,
  restart,
  unknown_path,
  unknown_method,
};

struct Call {
  Verb verb = Verb::unknown_path;
  std::string path;        // of check_hash and is_present, below the output directory; "." is it
  bool leads_out = false;  // the path begins with ".."
};

[[nodiscard]] Call parse_call(std::string_view method, std::string_view target);

// Whether this client may make the call: without TLS everybody may, with it those whose certificate
// the rules welcome; /ready is for all. As in sidecar.py rules about the root match nobody, and
// names of addresses may be called "IP Address" and "email".
[[nodiscard]] bool is_approved(const Call& call, const http::Peer& peer,
                               const std::optional<TlsSettings>& tls);

[[nodiscard]] http::Response text_answer(std::string text);
[[nodiscard]] http::Response error_page(int status, std::string_view message);

// The answers that differ between releases or need no files.
[[nodiscard]] http::Response unknown_answer(const Call& call, const http::Request& request,
                                            Dialect dialect);
[[nodiscard]] http::Response outside_answer(const Call& call, std::string_view output_dir,
                                            Dialect dialect);
[[nodiscard]] http::Response not_found_answer(const Call& call);
[[nodiscard]] http::Response no_contents_answer(std::string_view message, Dialect dialect);

}  // namespace fdbpack::sidecar
