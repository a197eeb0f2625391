// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/etcd_link.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/wire/etcd_json.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::store {
namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

// The codes of gRPC with which etcd has refused, so that nothing was done. Any other may mean that
// it does it yet.
enum GrpcCode : int {
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kOutOfRange = 11,
  kUnauthenticated = 16,
};

}  // namespace

EtcdLink::EtcdLink(std::shared_ptr<EtcdAccess> access)
    : access_(std::move(access)),
      clients_(access_->endpoints),
      endpoint_(access_->random.below(access_->endpoints)),
      pause_alarm_(access_->clock.make_alarm([this] { send(); })) {}

EtcdLink::~EtcdLink() = default;

void EtcdLink::ask(Question question, OnAnswer on_answer) {
  FDBPACK_CHECK(!is_busy());
  question_ = std::move(question);
  on_answer_ = std::move(on_answer);
  const Duration timeout =
      question_.timeout > Duration::zero() ? question_.timeout : access_->options.timeout;
  deadline_ = access_->clock.now() + timeout;
  tried_ = 0;
  pause_ = kEtcdPauseMin;
  has_logged_in_ = false;
  last_failure_ = "no time left";
  send();
}

void EtcdLink::give_up() {
  call_.reset();
  pause_alarm_->clear();
  on_answer_ = nullptr;
}

std::unique_ptr<ports::HttpCall> EtcdLink::post(const std::string& path, std::string body,
                                                ports::HttpClient::OnAnswer on_answer) {
  auto& client = clients_[endpoint_];
  if (!client) client = access_->make_client(endpoint_);
  ports::HttpRequest request;
  request.method = http::Method::post;
  request.target = path;
  request.body = std::move(body);
  request.headers.add("Content-Type", "application/json");
  if (!access_->token.empty()) request.headers.add("Authorization", access_->token);
  request.is_repeatable = question_.is_repeatable;
  request.body_bytes_max = kAnswerBytesMax;
  const Duration left = std::max(deadline_ - access_->clock.now(), Duration(1));
  // One endpoint that hangs must not use up the time of the others.
  const bool may_try_others = question_.is_repeatable && access_->endpoints > 1;
  request.deadline = may_try_others ? std::min(left, access_->options.timeout / 3) : left;
  return client->call(std::move(request), std::move(on_answer));
}

void EtcdLink::send() {
  if (!access_->options.user.empty() && access_->token.empty()) return log_in();
  call_ = post(question_.path, question_.body,
               [this](Result<ports::HttpAnswer> answer) { answered(std::move(answer)); });
}

void EtcdLink::log_in() {
  has_logged_in_ = true;
  const auto& options = access_->options;
  call_ = post("/v3/auth/authenticate", wire::print_etcd_login(options.user, options.password),
               [this](Result<ports::HttpAnswer> answer) {
                 if (!answer) return lost(answer.error(), /*was_sent=*/false);
                 if (answer->status != 200) return refused(*answer);
                 auto token = wire::read_etcd_token(answer->body);
                 if (!token) return tell(fail(std::move(token).error()));
                 access_->token = *std::move(token);
                 send();
               });
}

void EtcdLink::answered(Result<ports::HttpAnswer> answer) {
  if (!answer) {
    return lost(answer.error(), answer.error().code != ErrorCode::unavailable);
  }
  if (answer->status == 200) return tell(std::move(answer->body));
  refused(*answer);
}

void EtcdLink::refused(const ports::HttpAnswer& answer) {
  const auto failure = wire::read_etcd_failure(answer.body);
  const std::string message = "etcd: " + failure.message;
  switch (failure.code) {
    case kUnauthenticated:
      access_->token.clear();
      if (!has_logged_in_ && !access_->options.user.empty()) return log_in();
      return tell(fail(ErrorCode::permission_denied, message));
    case kInvalidArgument:
      return tell(fail(ErrorCode::invalid_argument, message));
    case kNotFound:
    case kOutOfRange:
      return tell(fail(ErrorCode::not_found, message));
    case kPermissionDenied:
      return tell(fail(ErrorCode::permission_denied, message));
    case kFailedPrecondition:
    case kResourceExhausted:
      return tell(fail(ErrorCode::internal, message));
    default:
      return lost(Error{ErrorCode::unavailable, message}, /*was_sent=*/true);
  }
}

void EtcdLink::lost(const Error& error, bool was_sent) {
  last_failure_ = error.message;
  endpoint_ = (endpoint_ + 1) % access_->endpoints;
  if (was_sent && !question_.is_repeatable) {
    return tell(fail(ErrorCode::unavailable, error.message));
  }
  if (access_->clock.now() >= deadline_) {
    return tell(fail(ErrorCode::timed_out, "etcd cannot be reached: " + last_failure_));
  }
  if (++tried_ < access_->endpoints) return send();
  tried_ = 0;
  pause_alarm_->set(std::min(access_->clock.now() + access_->jittered(pause_), deadline_));
  pause_ = std::min(pause_ * 2, kEtcdPauseMax);
}

void EtcdLink::tell(Result<std::string> result) {
  call_.reset();
  const auto on_answer = std::exchange(on_answer_, nullptr);
  on_answer(std::move(result));
}

}  // namespace fdbpack::store
