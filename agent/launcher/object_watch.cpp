// SPDX-License-Identifier: Apache-2.0
#include "agent/launcher/object_watch.hpp"

#include "agent/world.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/wire/pod_json.hpp"

#include <algorithm>

namespace fdbpack::agent {
namespace {

constexpr auto kRetryMax = std::chrono::seconds(60);
constexpr auto kRewatchGap = std::chrono::seconds(1);
constexpr auto kWatchTime = std::chrono::seconds(240);
constexpr auto kWatchExtra = std::chrono::seconds(30);

}  // namespace

Duration RetryPace::next() {
  const Duration delay = std::min<Duration>(kRetryMax, std::chrono::seconds(1U << failures_));
  failures_ = std::min(failures_ + 1, 6U);
  return delay;
}

void TroubleReport::failed(const std::string& reason) {
  if (reason == reason_) return;
  reason_ = reason;
  log_.write(supervise::Severity::warning, kLogName,
             subject_ + " does not work: " + reason + "; it is tried again");
}

void TroubleReport::works() {
  if (reason_.empty()) return;
  reason_.clear();
  log_.write(supervise::Severity::info, kLogName, subject_ + " works again");
}

std::string refusal_of(const Result<ports::ApiReply>& reply) {
  if (!reply) return reply.error().message;
  if (reply->status / 100 == 2) return "";
  const std::string message = wire::read_status_message(reply->body);
  return "the API server answered " + std::to_string(reply->status) +
         (message.empty() ? "" : " (" + message + ")");
}

ObjectWatch::ObjectWatch(ports::Clock& clock, ports::Log& log, ports::ApiServer& api,
                         std::string collection, std::string kind, std::string name,
                         OnObject on_object)
    : clock_(clock),
      api_(api),
      collection_(std::move(collection)),
      name_(std::move(name)),
      on_object_(std::move(on_object)),
      trouble_(log, "watching the " + kind + " " + name_),
      alarm_(clock.make_alarm([this] { look(); })) {}

void ObjectWatch::stop() {
  is_stopped_ = true;
  alarm_->clear();
}

void ObjectWatch::retry(const std::string& reason) {
  if (is_stopped_) return;
  trouble_.failed(reason);
  alarm_->set(clock_.now() + pace_.next());
}

void ObjectWatch::look() {
  ports::ApiRequest request;
  request.target = collection_ + "/" + name_;
  api_.send(std::move(request), [this](const Result<ports::ApiReply>& reply) {
    if (is_stopped_) return;
    if (const auto refusal = refusal_of(reply); !refusal.empty()) return retry(refusal);
    const auto object = wire::read_metadata(reply->body);
    if (!object) return retry(object.error().message);
    on_object_(*object);
    watch(object->resource_version);
  });
}

void ObjectWatch::watch(const std::string& resource_version) {
  const bool is_plain = std::all_of(resource_version.begin(), resource_version.end(), [](char c) {
    return text::is_digit(c) || (text::lower(c) >= 'a' && text::lower(c) <= 'z');
  });
  if (!is_plain) return retry("the API server sent a resource version that is none");
  ports::ApiRequest request;
  request.target = collection_ + "?watch=true&fieldSelector=metadata.name%3D" + name_ +
                   "&resourceVersion=" + resource_version +
                   "&timeoutSeconds=" + std::to_string(kWatchTime / std::chrono::seconds(1));
  request.deadline = kWatchTime + kWatchExtra;
  event_error_.clear();
  api_.watch(
      std::move(request), [this](std::string_view line) { on_line(line); },
      [this](const Result<ports::ApiReply>& end) {
        if (is_stopped_) return;
        std::string refusal = refusal_of(end);
        if (refusal.empty()) refusal = event_error_;
        if (!refusal.empty()) return retry(refusal);
        trouble_.works();
        pace_.reset();
        alarm_->set(clock_.now() + kRewatchGap);
      });
}

void ObjectWatch::on_line(std::string_view line) {
  if (is_stopped_) return;
  const auto event = wire::read_watch_event(line);
  if (!event) {
    event_error_ = event.error().message;
  } else if (event->type == "ERROR") {
    event_error_ = "the watch was ended: " + event->message;
  } else if ((event->type == "ADDED" || event->type == "MODIFIED") && event->object.name == name_) {
    trouble_.works();
    pace_.reset();
    on_object_(event->object);
  }
}

}  // namespace fdbpack::agent
