// SPDX-License-Identifier: Apache-2.0
#include "agent/api/api.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/http/target.hpp"
#include "fdbpack/metrics/metrics_text.hpp"
#include "fdbpack/wire/http_config.hpp"

#include <algorithm>

namespace fdbpack::agent {
namespace {

constexpr std::size_t kTokenBytesMax = 64 * 1024;
constexpr auto kTokensEvery = std::chrono::seconds(10);
constexpr auto kWaitDefault = std::chrono::seconds(30);
constexpr auto kWaitSpare = std::chrono::seconds(2);  // before the server gives up on us

http::Response text_response(int status, std::string body) {
  return {status, "text/plain; charset=utf-8", std::move(body), {}, false};
}

http::Response json_response(int status, wire::JsonWriter& json) {
  json.end_object();
  return {status, "application/json", std::move(json).text() + "\n", {}, false};
}

// For a value in quotes within one line.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, 400)) {
    const bool is_plain = static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\';
    result += is_plain ? c : '?';
  }
  return result + '"';
}

std::string peer_name(const http::Peer& peer) {
  return peer.credentials ? "uid " + std::to_string(peer.credentials->uid) : peer.address;
}

std::optional<http::PeerRules> rules_of(bool is_given, const std::string& text) {
  if (!is_given) return {};
  auto rules = http::PeerRules::parse(text);
  if (!rules) return {};  // has been validated
  return *std::move(rules);
}

// "wait=5": how long the caller waits, in seconds.
std::optional<Duration> wait_of(std::string_view query, Duration max) {
  const auto parameters = http::parse_query(query);
  if (!parameters) return {};
  Duration wait = std::min<Duration>(kWaitDefault, max);
  for (const auto& [name, value] : *parameters) {
    const auto seconds = text::parse_decimal(value);
    if (name != "wait" || !seconds || *seconds > 3600) return {};
    wait = std::min<Duration>(std::chrono::seconds(*seconds), max);
  }
  return wait;
}

}  // namespace

Api::Api(Agent& agent, const http::ServiceSettings& settings, std::function<ServiceCounts()> counts)
    : agent_(agent),
      settings_(settings),
      service_counts_(std::move(counts)),
      router_(make_routes()),
      pages_(agent),
      operations_(agent) {
  policy_.operator_uids = settings_.operator_uids;
  policy_.operator_gids = settings_.operator_gids;
  policy_.read_rules = rules_of(settings_.has_read_peers, settings_.read_peers);
  policy_.operate_rules = rules_of(settings_.has_operate_peers, settings_.operate_peers);
  agent_.set_observer([this](bool is_urgent) {
    pages_.note_change(is_urgent);
    if (is_urgent) operations_.note_change();
  });
}

Api::~Api() {
  agent_.set_observer({});
}

// A small file, looked at when somebody shows a token and it was not looked at for a while: a
// renewed one counts without a restart.
void Api::refresh_tokens() {
  const Instant now = agent_.world().clock.now();
  if (has_read_tokens_ && now - tokens_read_at_ < kTokensEvery) return;
  has_read_tokens_ = true;
  tokens_read_at_ = now;
  std::string trouble;
  const auto read = [&](const std::string& path, std::vector<std::string>& tokens) {
    tokens.clear();
    if (path.empty()) return;
    const auto text = agent_.world().files.read(path, kTokenBytesMax);
    auto parsed =
        text ? http::parse_tokens(*text) : Result<std::vector<std::string>>(fail(text.error()));
    if (parsed) {
      tokens = *std::move(parsed);
    } else {
      trouble += (trouble.empty() ? "" : "; ") + path + ": " + parsed.error().message;
    }
  };
  read(settings_.read_token_file, policy_.read_tokens);
  read(settings_.operate_token_file, policy_.operate_tokens);
  if (trouble == token_trouble_) return;
  token_trouble_ = trouble;
  agent_.set_degraded("tokens", trouble.empty()
                                    ? std::vector<std::string>()
                                    : std::vector<std::string>{"no token is valid: " + trouble});
}

const http::RouteMatch& Api::match(const http::Request& request) {
  if (request.method != last_method_ || request.target != last_target_) {
    last_ = router_.match(request.method, request.target);
    last_method_ = request.method;
    last_target_ = request.target;
    // A view of the target, which is gone before the match is.
    if (!last_.query.empty()) {
      last_.query = std::string_view(last_target_).substr(last_target_.size() - last_.query.size());
    }
  }
  return last_;
}

std::string Api::who(const http::Request& request) const {
  return "peer=" + quoted(http::describe(request.peer)) +
         " by=" + quoted(http::decide_access(request, policy_).by);
}

void Api::audit(const std::string& who, const std::string& what, int status,
                std::string_view detail) {
  const bool is_done = status < 400;
  ++(is_done ? counts_.mutations : counts_.refused_mutations);
  agent_.world().log.write(is_done ? supervise::Severity::info : supervise::Severity::warning,
                           kLogName,
                           "audit " + who + " call=" + quoted(what) +
                               " status=" + std::to_string(status) + " outcome=" + quoted(detail));
}

std::optional<http::Response> Api::refusal(const http::Request& head, const http::Route& route) {
  if (auto why = http::refusal_of_origin(head, settings_.host_names); !why.empty()) {
    return http::problem(403, why);
  }
  if (route.access == http::Access::probe) return {};
  const bool has_token = head.headers.find("Authorization").has_value();
  const std::string peer = has_token ? peer_name(head.peer) : "";
  if (has_token) {
    refresh_tokens();
    // On this host everybody has the same address: one who guesses must not lock out the others.
    const Duration wait =
        head.peer.is_loopback ? Duration::zero() : failures_.wait(peer, agent_.world().clock.now());
    if (wait > Duration::zero()) {
      auto response = http::problem(429, "too many wrong tokens; come back later");
      response.headers.add("Retry-After",
                           std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()));
      return response;
    }
  }
  const auto decision = http::decide_access(head, policy_);
  if (decision.is_token_wrong) {
    failures_.note_failure(peer, agent_.world().clock.now());
    auto response = http::problem(401, "the token is not valid");
    response.headers.add("WWW-Authenticate", "Bearer");
    return response;
  }
  if (has_token) failures_.note_success(peer);
  if (static_cast<int>(decision.granted) >= static_cast<int>(route.access)) return {};
  const bool is_operate = route.access == http::Access::operate;
  return http::problem(
      403, is_operate ? "this takes the unix socket as an operator, a certificate with "
                        "the operate role or a token; here you are " +
                            decision.by
                      : "from another host this takes a certificate, or a token over TLS");
}

ports::Admission Api::admit(const http::Request& head) {
  const http::RouteMatch& found = match(head);
  using Outcome = http::RouteMatch::Outcome;
  ports::Admission admission;
  if (found.outcome != Outcome::found) {
    const int status = found.outcome == Outcome::bad_target       ? 400
                       : found.outcome == Outcome::not_found      ? 404
                       : found.outcome == Outcome::unknown_method ? 501
                                                                  : 405;
    admission.refusal = http::problem(status, status == 404   ? "there is no such call"
                                              : status == 405 ? "this call has other methods"
                                              : status == 501 ? "there is no such method"
                                                              : "the target is no path");
    if (status == 405) admission.refusal->headers.add("Allow", found.allow);
    return admission;
  }
  const http::Route& route = *found.route;
  admission.is_probe = route.access == http::Access::probe;
  admission.refusal = refusal(head, route);
  if (route.method == http::Method::get) return admission;
  admission.body_bytes_max = settings_.limits.body_bytes_max;
  if (admission.refusal) {
    audit(who(head), head.method_name + " " + head.target, admission.refusal->status, "refused");
  }
  return admission;
}

void Api::handle(const http::Request& request, ports::Reply reply) {
  const http::RouteMatch& found = match(request);
  const auto call = static_cast<Call>(found.route->call);
  if (found.route->method != http::Method::get) return change(request, call, std::move(reply));
  reply.send(read(call, found));
}

http::Answer Api::read(Call call, const http::RouteMatch& found) {
  if (call == Call::livez) return text_response(200, "ok\n");
  if (call == Call::readyz) return ready();
  if (call == Call::metrics) {
    counts_.renderings = pages_.renderings();
    const bool has_launcher_names = found.query == "names=fdb-kubernetes-monitor";
    if (!has_launcher_names && !found.query.empty()) {
      return http::problem(400, "the only names besides ours are fdb-kubernetes-monitor");
    }
    http::Response response;
    response.content_type = metrics::kContentType;
    response.body = metrics_page(agent_, service_counts_(), counts_, has_launcher_names);
    return response;
  }
  if (call == Call::process) {
    auto page = pages_.process(found.parameter("id"));
    if (page) return page;
    return http::problem(404, "there is no process '" + found.parameter("id") + "'");
  }
  return pages_.get(call);
}

http::Response Api::ready() {
  std::string why;
  const auto add = [&](const std::string& reason) { why += reason + "\n"; };
  if (agent_.is_ending()) add("the agent is stopping");
  if (!agent_.is_started() || agent_.conf().in_force() == nullptr) add("there is no conf in force");
  if (agent_.host().draining()) add("the host is being drained");
  for (const auto& [section, process] : agent_.supervisor().processes()) {
    const auto& state = process->state;
    const bool is_wanted = state.is_configured && !state.is_held;
    if (is_wanted && !supervise::is_alive(state)) add(section + " does not run");
  }
  return why.empty() ? text_response(200, "ok\n") : text_response(503, why);
}

void Api::change(const http::Request& request, Call call, ports::Reply reply) {
  const std::string by = who(request);
  const std::string what = request.method_name + " " + request.target;
  auto answer = std::make_shared<ports::Reply>(std::move(reply));
  const auto finish = [this, by, what, answer](http::Response response, std::string_view detail) {
    audit(by, what, response.status, detail);
    answer->send(std::move(response));
  };
  const auto type = request.headers.find("Content-Type").value_or("");
  if (!request.body.empty() && !text::to_lower(type).starts_with("application/json")) {
    return finish(http::problem(415, "a body is application/json"), "refused");
  }
  const http::RouteMatch& found = match(request);
  if (call == Call::reload) {
    auto response = reload();
    const bool is_done = response.status == 200;
    return finish(std::move(response), is_done ? "in force" : "refused");
  }
  if (call == Call::drain) {
    auto response = drain(request);
    const bool is_done = response.status == 200;
    return finish(std::move(response), is_done ? "noted" : "refused");
  }
  const Duration wait_max = std::max<Duration>(settings_.limits.answer_deadline - kWaitSpare,
                                               settings_.limits.answer_deadline / 2);
  const auto wait = wait_of(found.query, wait_max);
  if (!wait) return finish(http::problem(400, "wait takes a number of seconds"), "refused");
  const Order order = call == Call::restart ? Order::restart
                      : call == Call::stop  ? Order::stop
                                            : Order::start;
  operations_.begin(found.parameter("id"), order, *wait, [finish](http::Response response) {
    const int status = response.status;
    finish(std::move(response), status == 200 ? "done" : status == 202 ? "under way" : "failed");
  });
}

http::Response Api::reload() {
  if (!agent_.reload_now()) {
    std::string why = "the conf is refused and the last good one stays in force";
    for (const auto& problem : agent_.conf().problems())
      why += "; " + conf::to_string(problem);
    return http::problem(409, why);
  }
  wire::JsonWriter json;
  json.begin_object().member("outcome", "in force");
  return json_response(200, json);
}

http::Response Api::drain(const http::Request& request) {
  auto wanted = wire::parse_drain_request(request.body, settings_.limits.json_depth_max);
  if (!wanted) return http::problem(400, wire::to_string(wanted.error()));
  HostWatch& host = agent_.host();
  std::optional<wire::Draining> draining;
  if (wanted->is_draining) {
    const bool was_draining = host.draining().has_value();
    draining = wire::Draining{was_draining ? host.draining()->since : agent_.world().clock.wall(),
                              wanted->reason};
  }
  host.set_draining(draining);
  if (const auto unsaved = agent_.save_now(); !unsaved.empty()) {
    return http::problem(500, std::string(kNotRecorded) + unsaved);
  }
  wire::JsonWriter json;
  json.begin_object();
  wire::write_draining(json, draining);
  return json_response(200, json);
}

}  // namespace fdbpack::agent
