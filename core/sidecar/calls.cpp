// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/calls.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace fdbpack::sidecar {
namespace {

constexpr std::string_view kHashRoot = "check_hash";
constexpr std::string_view kPresenceRoot = "is_present";

constexpr std::array<std::pair<std::string_view, Verb>, 6> kPosts{{
    {"/copy_files", Verb::copy_files},
    {"/copy_binaries", Verb::copy_binaries},
    {"/copy_libraries", Verb::copy_libraries},
    {"/copy_monitor_conf", Verb::copy_monitor_conf},
    {"/refresh_certs", Verb::refresh_certs},
    {"/restart", Verb::restart},
}};

// The target seen from /<root>, after "." and ".." were resolved as far as they go.
Call below(Verb verb, std::string_view root, std::string_view target) {
  std::vector<std::string> parts;
  for (const std::string_view part : text::split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.emplace_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  Call call{verb, {}, parts.empty() || parts.front() != root};
  if (call.leads_out) {
    parts.insert(parts.begin(), "..");
  } else {
    parts.erase(parts.begin());
  }
  call.path = parts.empty() ? "." : text::join(parts, "/");
  return call;
}

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

bool is_path_below(std::string_view target, std::string_view root) {
  return target.size() > root.size() + 1 && target[0] == '/' &&
         target.substr(1).starts_with(root) && target[root.size() + 1] == '/';
}

}  // namespace

Call parse_call(std::string_view method, std::string_view target) {
  if (method == "POST") {
    for (const auto& [path, verb] : kPosts) {
      if (path == target) return {verb, {}, false};
    }
    return {};
  }
  if (method != "GET") return {Verb::unknown_method, {}, false};
  if (target == "/ready") return {Verb::ready, {}, false};
  if (target == "/substitutions") return {Verb::substitutions, {}, false};
  if (is_path_below(target, kHashRoot)) return below(Verb::check_hash, kHashRoot, target);
  if (is_path_below(target, kPresenceRoot)) return below(Verb::is_present, kPresenceRoot, target);
  return {};
}

bool is_approved(const Call& call, const http::Peer& peer, const std::optional<TlsSettings>& tls) {
  if (!tls || call.verb == Verb::ready || call.verb == Verb::unknown_method) return true;
  if (!peer.certificate) return false;
  http::CertificateFacts facts = *peer.certificate;
  facts.root.clear();
  const auto names = facts.subject_alt_names;
  for (const auto& [type, name] : names) {
    if (type == "IP") facts.subject_alt_names.emplace_back("IP Address", name);
    if (type == "EMAIL") facts.subject_alt_names.emplace_back("email", name);
  }
  // A certificate that does not verify is welcome nowhere, whatever Check.Valid says.
  return facts.is_chain_valid && facts.is_unexpired && tls->rules.matches(facts);
}

http::Response text_answer(std::string text) {
  http::Response response;
  response.content_type = "text/plain";
  response.body = std::move(text);
  response.closes = true;
  return response;
}

http::Response error_page(int status, std::string_view message) {
  http::Response response;
  response.status = status;
  response.content_type = "text/html;charset=utf-8";
  response.reason_phrase = message;
  response.closes = true;
  response.body =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<title>Error response</title></head>\n<body>\n<h1>Error response</h1>\n"
      "<p>Error code: " +
      std::to_string(status) + "</p>\n<p>Message: " + escape_html(message) +
      ".</p>\n</body>\n</html>\n";
  return response;
}

http::Response unknown_answer(const Call& call, const http::Request& request, Dialect dialect) {
  if (call.verb == Verb::unknown_method) {
    return error_page(501, "Unsupported method ('" + request.method_name + "')");
  }
  if (dialect == Dialect::since_7_4 && request.method == http::Method::get) {
    return error_page(404, "Path " + request.target + " not found");
  }
  return error_page(404, "Path not found");
}

http::Response outside_answer(const Call& call, std::string_view output_dir, Dialect dialect) {
  // Before 7.4 the path was followed. It is not: the answer is that of a file that is not there.
  if (dialect == Dialect::before_7_4) return not_found_answer(call);
  return error_page(403, "path " + call.path + " is outside of the allowed directory " +
                             std::string(output_dir) + " and therefore denied");
}

http::Response not_found_answer(const Call& call) {
  return error_page(404, call.path + " not found");
}

http::Response no_contents_answer(std::string_view message, Dialect dialect) {
  if (dialect == Dialect::since_7_4) return error_page(400, message);
  return error_page(500, http::reason(500));
}

}  // namespace fdbpack::sidecar
