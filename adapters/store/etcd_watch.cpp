// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/etcd_watch.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::store {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;
constexpr int kUnauthenticated = 16;

}  // namespace

EtcdWatch::EtcdWatch(std::shared_ptr<EtcdAccess> access, std::string begin, std::string end,
                     OnEvents on_events, OnLost on_lost)
    : access_(std::move(access)),
      begin_(std::move(begin)),
      end_(std::move(end)),
      on_events_(std::move(on_events)),
      on_lost_(std::move(on_lost)),
      login_(access_),
      endpoint_(access_->random.below(access_->endpoints)),
      alarm_(access_->clock.make_alarm([this] {
        if (call_) endpoint_ = (endpoint_ + 1) % access_->endpoints;  // this one is silent
        open();
      })) {}

EtcdWatch::~EtcdWatch() = default;

void EtcdWatch::start(std::uint64_t first_revision) {
  next_revision_ = first_revision;
  is_started_ = true;
  pause_ = kEtcdPauseMin;
  open();
}

void EtcdWatch::stop() {
  is_started_ = false;
  close();
  alarm_->clear();
}

void EtcdWatch::close() {
  login_.give_up();
  call_.reset();
}

void EtcdWatch::open() {
  close();
  if (!access_->options.user.empty() && access_->token.empty()) return log_in();
  client_ = access_->make_client(endpoint_);
  ports::HttpRequest request;
  request.method = http::Method::post;
  request.target = "/v3/watch";
  request.body = wire::print_etcd_watch(begin_, end_, next_revision_);
  request.headers.add("Content-Type", "application/json");
  if (!access_->token.empty()) request.headers.add("Authorization", access_->token);
  request.deadline = access_->options.timeout;
  request.body_bytes_max = kLineBytesMax;
  call_ = client_->stream(
      std::move(request), [this](std::string_view line) { heard(line); },
      [this](const Result<ports::HttpAnswer>& answer) { ended(answer); });
  expect_more();
}

// Any question logs in when there is no token.
void EtcdWatch::log_in() {
  wire::EtcdRange range;
  range.begin = begin_;
  range.limit = 1;
  login_.ask({"/v3/kv/range", wire::print_etcd_range(range), true, {}},
             [this](const Result<std::string>& answer) { answer ? open() : pause(); });
}

void EtcdWatch::expect_more() {
  alarm_->set(access_->clock.now() + access_->options.watch_renewal);
}

void EtcdWatch::heard(std::string_view line) {
  expect_more();
  auto answer = wire::read_etcd_watch(line);
  if (!answer) return pause();
  if (answer->is_canceled) {
    if (answer->compact_revision == 0) return pause();
    return lose(Error{ErrorCode::not_found, "etcd has forgotten what changed before revision " +
                                                std::to_string(answer->compact_revision)});
  }
  pause_ = kEtcdPauseMin;
  // Word of progress: nothing of ours has changed up to there.
  if (!answer->is_created && answer->events.empty()) {
    next_revision_ = std::max(next_revision_, answer->revision + 1);
  }
  [[maybe_unused]] const bool is_alive = deliver(std::move(answer->events));
}

bool EtcdWatch::deliver(std::vector<wire::EtcdEvent> events) {
  const std::weak_ptr<int> alive = alive_;
  auto begin = events.begin();
  while (begin != events.end()) {
    const std::uint64_t revision = begin->entry.mod_revision;
    const auto end = std::find_if(begin, events.end(), [revision](const auto& event) {
      return event.entry.mod_revision != revision;
    });
    if (revision >= next_revision_) {
      next_revision_ = revision + 1;
      on_events_(revision, {std::make_move_iterator(begin), std::make_move_iterator(end)});
      if (alive.expired() || !is_started_) return false;
    }
    begin = end;
  }
  return true;
}

void EtcdWatch::ended(const Result<ports::HttpAnswer>& answer) {
  if (answer && answer->status != 200 &&
      wire::read_etcd_failure(answer->body).code == kUnauthenticated) {
    access_->token.clear();
  }
  pause();
}

void EtcdWatch::pause() {
  close();
  endpoint_ = (endpoint_ + 1) % access_->endpoints;
  alarm_->set(access_->clock.now() + access_->jittered(pause_));
  pause_ = std::min(pause_ * 2, kEtcdPauseMax);
}

void EtcdWatch::lose(Error error) {
  stop();
  on_lost_(std::move(error));
}

}  // namespace fdbpack::store
