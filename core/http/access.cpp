// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/access.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>

namespace fdbpack::http {
namespace {

constexpr std::size_t kTokenSizeMin = 16;

bool contains(const std::vector<std::uint32_t>& ids, std::uint32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Compares with every token, so that time does not tell which one was near.
bool is_one_of(const std::vector<std::string>& tokens, std::string_view token) {
  bool found = false;
  for (const std::string& known : tokens) {
    found |= equal_in_constant_time(known, token);
  }
  return found;
}

void grant(AccessDecision& decision, Access access, std::string by) {
  if (static_cast<int>(access) <= static_cast<int>(decision.granted)) return;
  decision.granted = access;
  decision.by = std::move(by);
}

void by_place(AccessDecision& decision, const Peer& peer, const AccessPolicy& policy) {
  if (peer.credentials) {
    const std::string who = "unix uid " + std::to_string(peer.credentials->uid);
    const auto& groups = peer.credentials->groups;
    const bool is_operator = contains(policy.operator_uids, peer.credentials->uid) ||
                             contains(policy.operator_gids, peer.credentials->gid) ||
                             std::any_of(groups.begin(), groups.end(), [&](std::uint32_t gid) {
                               return contains(policy.operator_gids, gid);
                             });
    grant(decision, is_operator ? Access::operate : Access::read, who);
  } else if (peer.is_loopback && policy.is_loopback_trusted_to_read) {
    grant(decision, Access::read, "loopback");
  }
}

void by_certificate(AccessDecision& decision, const CertificateFacts& certificate,
                    const AccessPolicy& policy) {
  const std::string who = "certificate " + to_string(certificate.subject);
  if (policy.read_rules && policy.read_rules->matches(certificate)) {
    grant(decision, Access::read, who);
  }
  if (policy.operate_rules && policy.operate_rules->matches(certificate)) {
    grant(decision, Access::operate, who);
  }
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  // Walks over `b`, the client's, to its end whatever `a` is; only the size of `a` could show.
  unsigned difference = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const char other = a.empty() ? '\0' : a[i % a.size()];
    difference |=
        unsigned{static_cast<unsigned char>(other)} ^ unsigned { static_cast<unsigned char>(b[i]) };
  }
  // The compiler may not turn the loop into one that ends early.
  volatile unsigned seen = difference;
  return seen == 0;
}

AccessDecision decide_access(const Request& request, const AccessPolicy& policy) {
  AccessDecision decision;
  decision.by = "nothing";
  if (const auto authorization = request.headers.find("Authorization")) {
    constexpr std::string_view kScheme = "bearer ";
    const std::string_view field = *authorization;
    std::string_view token;
    if (field.size() > kScheme.size() &&
        text::compare_ignoring_case(field.substr(0, kScheme.size()), kScheme) == 0) {
      token = text::trim(field.substr(kScheme.size()));
    }
    const bool may_read = is_one_of(policy.read_tokens, token);
    const bool may_operate = is_one_of(policy.operate_tokens, token);
    if (token.empty() || (!may_read && !may_operate)) {
      decision.is_token_wrong = true;
      return decision;
    }
    // Who could listen on the way has the token now; it is no good there.
    const bool is_overheard =
        !request.peer.is_tls && !request.peer.is_loopback && !request.peer.credentials;
    if (is_overheard) return decision;
    grant(decision, may_operate ? Access::operate : Access::read, "bearer token");
  }
  by_place(decision, request.peer, policy);
  if (request.peer.certificate) by_certificate(decision, *request.peer.certificate, policy);
  return decision;
}

Result<std::vector<std::string>> parse_tokens(std::string_view text) {
  std::vector<std::string> result;
  std::size_t number = 0;
  for (const std::string_view line : text::split(text, '\n')) {
    ++number;
    const std::string_view token = text::trim(line);
    if (token.empty() || token.front() == '#') continue;
    const bool is_plain =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (token.size() < kTokenSizeMin || !is_plain) {
      return fail(ErrorCode::invalid_argument,
                  "line " + std::to_string(number) + ": a token is at least " +
                      std::to_string(kTokenSizeMin) + " printable characters without blanks");
    }
    result.emplace_back(token);
  }
  return result;
}

}  // namespace fdbpack::http
