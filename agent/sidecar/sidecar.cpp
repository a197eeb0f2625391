// SPDX-License-Identifier: Apache-2.0
#include "agent/sidecar/sidecar.hpp"

#include "fdbpack/base/check.hpp"

#include <utility>

namespace fdbpack::agent {

using sidecar::Call;
using sidecar::Verb;
using supervise::Severity;

namespace {

constexpr std::size_t kBodyBytesMax = 64 * 1024;  // nobody looks at it
constexpr std::string_view kLogName = "sidecar";

bool is_read(Verb verb) {
  return verb == Verb::check_hash || verb == Verb::is_present;
}

bool is_copy(Verb verb) {
  return verb == Verb::copy_files || verb == Verb::copy_binaries || verb == Verb::copy_libraries ||
         verb == Verb::copy_monitor_conf;
}

}  // namespace

// A request that is being answered.
struct Sidecar::Pending {
  Call call;
  std::string request_line, peer;
  ports::Reply reply;
  ports::ClientGone gone;  // none: it is carried through, whoever waits
};

ports::Admission Sidecar::admit(const http::Request& head) {
  ports::Admission admission;
  admission.body_bytes_max = kBodyBytesMax;
  admission.is_probe = sidecar::parse_call(head.method_name, head.target).verb == Verb::ready;
  return admission;
}

void Sidecar::handle(const http::Request& request, ports::Reply reply) {
  const Call call = sidecar::parse_call(request.method_name, request.target);
  auto pending =
      std::make_shared<Pending>(Pending{call, request.method_name + " " + request.target,
                                        http::describe(request.peer), std::move(reply), nullptr});
  if (!sidecar::is_approved(call, request.peer, settings_.tls)) {
    return send(*pending, sidecar::error_page(401, "Client certificate was not approved"));
  }
  if (is_read(call.verb) && call.leads_out) {
    return send(*pending, sidecar::outside_answer(call, settings_.output_dir, settings_.dialect));
  }
  if (is_read(call.verb)) {
    // A queue of hashes for clients that gave up would hold up those who still ask.
    const ports::ClientGone gone = pending->gone = pending->reply.gone();
    return answer_later(
        world_.reads,
        [this, call, gone]() -> Result<std::string> {
          if (*gone) return fail(ErrorCode::unavailable, call.path + ": the client has gone");
          if (call.verb == Verb::check_hash) return world_.tree.hash(call.path, *gone);
          FDBPACK_TRY(const bool is_there, world_.tree.exists(call.path));
          if (!is_there) return fail(ErrorCode::not_found, call.path + " is not there");
          return "OK\n";
        },
        std::move(pending));
  }
  if (is_copy(call.verb)) {
    return answer_later(
        world_.copies,
        [this, call]() -> Result<std::string> {
          FDBPACK_TRY_VOID(copier_.copy(call.verb));
          return "OK\n";
        },
        std::move(pending));
  }
  send(*pending, answer_now(call, request));
}

http::Response Sidecar::answer_now(const Call& call, const http::Request& request) {
  switch (call.verb) {
    case Verb::ready:
      return sidecar::text_answer("OK\n");
    case Verb::substitutions:
      return sidecar::text_answer(settings_.substitutions.to_json() + "\n");
    case Verb::refresh_certs:
      return refresh();
    case Verb::restart:
      world_.restart();
      return sidecar::text_answer("OK\n");
    case Verb::unknown_path:
    case Verb::unknown_method:
      return sidecar::unknown_answer(call, request, settings_.dialect);
    case Verb::check_hash:
    case Verb::is_present:
    case Verb::copy_files:
    case Verb::copy_binaries:
    case Verb::copy_libraries:
    case Verb::copy_monitor_conf:
      break;
  }
  FDBPACK_UNREACHABLE();
}

http::Response Sidecar::refresh() {
  if (!settings_.tls) return sidecar::error_page(400, "Server is not using TLS");
  const Status refreshed = world_.refresh_certificates();
  if (refreshed) return sidecar::text_answer("OK\n");
  world_.log.write(Severity::error, kLogName,
                   "Error processing request: " + refreshed.error().message);
  return sidecar::error_page(500, http::reason(500));
}

http::Response Sidecar::failed(const Pending& pending, const Error& error) {
  const Call& call = pending.call;
  // A client that does not wait is no trouble of ours. One that still reads may ask again.
  if (pending.gone && *pending.gone && error.code == ErrorCode::unavailable) {
    return sidecar::error_page(503, http::reason(503));
  }
  if (is_read(call.verb) && error.code == ErrorCode::not_found) {
    return sidecar::not_found_answer(call);
  }
  world_.log.write(Severity::error, kLogName, "Error processing request: " + error.message);
  if (is_read(call.verb) && error.code == ErrorCode::permission_denied) {
    return sidecar::outside_answer(call, settings_.output_dir, settings_.dialect);
  }
  if (error.code == ErrorCode::precondition) {
    return sidecar::no_contents_answer(error.message, settings_.dialect);
  }
  return sidecar::error_page(500, http::reason(500));
}

void Sidecar::answer_later(ports::Background& where, std::function<Result<std::string>()> work,
                           std::shared_ptr<Pending> pending) {
  auto outcome = std::make_shared<Result<std::string>>(
      fail(ErrorCode::internal, pending->request_line + " was not carried out"));
  where.run([outcome, work = std::move(work)] { *outcome = work(); },
            [this, outcome, pending = std::move(pending)] {
              send(*pending,
                   *outcome ? sidecar::text_answer(**outcome) : failed(*pending, outcome->error()));
            });
}

void Sidecar::send(Pending& pending, http::Response response) {
  world_.log.write(
      Severity::info, kLogName,
      pending.peer + " \"" + pending.request_line + "\" " + std::to_string(response.status));
  pending.reply.send(std::move(response));
}

}  // namespace fdbpack::agent
