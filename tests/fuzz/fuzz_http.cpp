// SPDX-License-Identifier: Apache-2.0
//
// The path of a request: parser, router, access, conditional answer. The first byte says how the
// rest is cut into reads; where the cuts are must not change what is understood.
#include "adapters/http/request_parser.hpp"
#include "agent/api/routes.hpp"
#include "fdbpack/http/access.hpp"
#include "fdbpack/http/answer.hpp"
#include "fdbpack/http/guard.hpp"
#include "fdbpack/http/peer_rules.hpp"
#include "fdbpack/http/router.hpp"
#include "fdbpack/http/target.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fdbpack {
namespace {

using http_server::RequestParser;
using Step = RequestParser::Step;

// The agent's own, and one that takes the rest of a path.
const http::Router& router() {
  static const http::Router made = [] {
    http::Router result = agent::make_routes();
    result.add({http::Method::get, "/check_hash/{path...}", http::Access::read, 1000});
    return result;
  }();
  return made;
}

// Everything that was understood, as text.
std::string understand(std::string_view input, std::size_t piece) {
  http::Limits limits;
  limits.header_bytes_max = 1024;
  limits.target_bytes_max = 256;
  RequestParser parser(limits);
  http::Request request;
  std::string log, buffer;
  for (int requests = 0; requests < 20; ++requests) {
    parser.begin(request);
    for (;;) {
      std::size_t consumed = 0;
      const Step step = parser.read(buffer, consumed);
      if (consumed > buffer.size()) std::abort();
      buffer.erase(0, consumed);
      if (step == Step::refused) return log + "refused " + std::to_string(parser.status());
      if (step == Step::head && !parser.allow_body(64)) return log + "too large";
      if (step == Step::done) break;
      if (step == Step::head) continue;
      if (input.empty()) return log;
      buffer += input.substr(0, piece);
      input.remove_prefix(std::min(piece, input.size()));
    }
    if (request.body.size() > 64) std::abort();
    const http::RouteMatch match = router().match(request.method, request.target);
    const http::AccessDecision access = http::decide_access(request, {});
    static_cast<void>(http::refusal_of_origin(request, {}));
    if (const auto query = http::parse_query(match.query)) log += std::to_string(query->size());
    const http::Outgoing answer(http::Page::make("text/plain", request.body), request);
    log += request.method_name + ' ' + request.target + ' ' + request.body + ' ' +
           std::to_string(static_cast<int>(match.outcome)) + match.allow + access.by +
           std::to_string(answer.status()) + '\n';
  }
  return log;
}

void check(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  // A whole read can refuse a header that a later piece would have refused too, so only what was
  // understood before any refusal is compared.
  const std::string whole = understand(input, input.size() + 1);
  const std::string pieces = understand(input, std::size_t{data[0]} % 37 + 1);
  const auto understood = [](const std::string& log) {
    return log.substr(0, log.rfind('\n') == log.npos ? 0 : log.rfind('\n'));
  };
  if (understood(whole) != understood(pieces)) std::abort();
  const auto rules = http::PeerRules::parse(input);
  if (rules) static_cast<void>(rules->matches({}));
}

}  // namespace
}  // namespace fdbpack

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) fdbpack::check(data, size);
  return 0;
}
