// SPDX-License-Identifier: Apache-2.0
//
// A request's target in the first line, options in the next ones, and behind an empty line a conf
// and the values of variables. No path and no copy leads out of the directory, no answer can be
// split, and the list of variables is ASCII.
#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/sidecar/calls.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace sidecar = fdbpack::sidecar;
namespace http = fdbpack::http;
namespace text = fdbpack::text;

bool stays_below(std::string_view path) {
  const auto parts = text::split(path, '/');
  return !path.empty() && path.front() != '/' &&
         std::find(parts.begin(), parts.end(), "..") == parts.end();
}

void check_answer(http::Response response) {
  const http::Outgoing answer(std::move(response), http::Request{});
  const std::string_view lead = answer.lead();
  FDBPACK_CHECK(lead.ends_with("\r\n"));
  FDBPACK_CHECK(lead.find("\r\n\r\n") == lead.npos);
  FDBPACK_CHECK(std::count(lead.begin(), lead.end(), '\n') == 3);
}

void check_call(std::string_view target) {
  const sidecar::Call call = sidecar::parse_call("GET", target);
  const bool is_read =
      call.verb == sidecar::Verb::check_hash || call.verb == sidecar::Verb::is_present;
  if (is_read && !call.leads_out) FDBPACK_CHECK(stays_below(call.path));
  http::Request request;
  request.method = http::Method::get;
  request.target = target;
  for (const auto dialect : {sidecar::Dialect::before_7_4, sidecar::Dialect::since_7_4}) {
    if (is_read) check_answer(sidecar::outside_answer(call, "/out", dialect));
    check_answer(sidecar::unknown_answer({}, request, dialect));
  }
}

void check_settings(const std::vector<std::string>& arguments, std::string_view conf) {
  const auto options = sidecar::parse_options(arguments);
  if (!options || options->wants_help) return;
  const sidecar::Environment environment{{"FDB_POD_IP", "10.0.0.7,fd00::7"},
                                         {"FDB_ZONE_ID", std::string(conf)},
                                         {"FDB_TLS_CA_FILE", "/a"},
                                         {"FDB_TLS_CERTIFICATE_FILE", "/b"},
                                         {"FDB_TLS_KEY_FILE", "/c"}};
  const auto settings = sidecar::make_settings(
      *options, environment, "7.1.43",
      []() -> fdbpack::Result<std::string> { return std::string("192.0.2.1"); });
  if (!settings) return;
  for (const auto* items :
       {&settings->plan.files, &settings->plan.binaries, &settings->plan.libraries}) {
    for (const auto& item : *items)
      FDBPACK_CHECK(stays_below(item.target));
  }
  const std::string json = settings->substitutions.to_json();
  FDBPACK_CHECK(std::all_of(json.begin(), json.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  const std::string made = settings->substitutions.apply(conf);
  if (conf.find('$') == conf.npos) FDBPACK_CHECK(made == conf);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto split = std::min(input.find("\n\n"), input.size());
  const std::string_view conf = input.substr(std::min(split + 2, input.size()));
  const auto lines = text::split(input.substr(0, split), '\n');
  check_call(lines.front());
  check_settings(std::vector<std::string>(lines.begin() + 1, lines.end()), conf);
  const std::string plain = sidecar::with_plain_newlines(conf);
  FDBPACK_CHECK(plain.find('\r') == plain.npos);
  return 0;
}
