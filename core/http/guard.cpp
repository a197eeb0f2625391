// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/guard.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>

namespace fdbpack::http {
namespace {

bool is_address(std::string_view host) {
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 1);
    if (!host.ends_with(']')) return false;
    host.remove_suffix(1);
    return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
      return text::is_digit(c) || c == ':' || c == '.' ||
             (text::lower(c) >= 'a' && text::lower(c) <= 'f');
    });
  }
  return std::count(host.begin(), host.end(), '.') == 3 &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return text::is_digit(c) || c == '.'; });
}

// Without a port behind it.
std::string_view host_of(std::string_view field) {
  field = text::trim(field);
  const auto colon = field.rfind(':');
  if (colon == field.npos || (field.starts_with('[') && field.find(']') > colon)) return field;
  return text::parse_decimal(field.substr(colon + 1)) ? field.substr(0, colon) : field;
}

}  // namespace

bool is_host_ours(std::string_view host, const std::vector<std::string>& names) {
  host = host_of(host);
  if (host.ends_with('.')) host.remove_suffix(1);
  const auto is = [&](std::string_view name) {
    return text::compare_ignoring_case(host, name) == 0;
  };
  return is("localhost") || is_address(host) || std::any_of(names.begin(), names.end(), is);
}

std::string refusal_of_origin(const Request& request, const std::vector<std::string>& host_names) {
  // Nothing of ours runs in a browser; what one sends from a page of somebody else is not meant.
  if (request.method != Method::get && request.method != Method::head &&
      request.headers.find("Origin")) {
    return "calls that change something are not taken from web pages";
  }
  const auto host = request.headers.find("Host");
  const bool is_local = !request.peer.credentials && request.peer.is_loopback;
  if (is_local && host && !is_host_ours(*host, host_names)) {
    return "this host is not called '" + std::string(host_of(*host)) + "'";
  }
  return {};
}

Duration FailureLimit::wait(const std::string& peer, Instant now) const {
  const auto found = peers_.find(peer);
  if (found == peers_.end() || found->second.failures < kFailuresMax) return Duration::zero();
  return std::max(Duration::zero(), found->second.since + kWindow - now);
}

void FailureLimit::note_failure(const std::string& peer, Instant now) {
  if (!peers_.contains(peer) && peers_.size() >= kPeersMax) {
    const auto oldest = std::min_element(
        peers_.begin(), peers_.end(),
        [](const auto& a, const auto& b) { return a.second.since < b.second.since; });
    peers_.erase(oldest);
  }
  Entry& entry = peers_[peer];
  if (entry.failures == 0 || now - entry.since >= kWindow) entry = {0, now};
  ++entry.failures;
}

}  // namespace fdbpack::http
