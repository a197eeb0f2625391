// SPDX-License-Identifier: Apache-2.0
#include "agent/launcher/pod_link.hpp"

#include "fdbpack/wire/pod_json.hpp"

namespace fdbpack::agent {
namespace {

constexpr auto kWriteGap = std::chrono::seconds(1);

std::string pods_of(const PodPlace& place) {
  return "/api/v1/namespaces/" + place.pod_namespace + "/pods";
}

}  // namespace

PodLink::PodLink(ports::Clock& clock, ports::Log& log, ports::ApiServer& api, PodPlace place,
                 OnPod tell_pod, std::function<void()> tell_labels)
    : clock_(clock),
      api_(api),
      place_(std::move(place)),
      tell_pod_(std::move(tell_pod)),
      tell_labels_(std::move(tell_labels)),
      pod_watch_(clock, log, api, pods_of(place_), "pod", place_.pod,
                 [this](const launcher::Metadata& pod) { on_pod(pod); }),
      trouble_(log, "writing annotations to the pod " + place_.pod),
      alarm_(clock.make_alarm([this] { write(); })) {
  if (!place_.node.empty()) {
    node_watch_.emplace(clock, log, api, "/api/v1/nodes", "node", place_.node,
                        [this](const launcher::Metadata& node) { on_node(node); });
  }
}

void PodLink::remember(const launcher::Metadata& known) {
  pod_.annotations = known.annotations;
  labels_ = known.labels;
}

void PodLink::start() {
  pod_watch_.start();
  if (node_watch_) node_watch_->start();
}

void PodLink::stop() {
  is_stopped_ = true;
  alarm_->clear();
  pod_watch_.stop();
  if (node_watch_) node_watch_->stop();
}

void PodLink::on_pod(const launcher::Metadata& pod) {
  const launcher::Annotations before = std::exchange(pod_, pod).annotations;
  tell_pod_(before);
  write();
}

void PodLink::on_node(const launcher::Metadata& node) {
  if (labels_ == node.labels) return;
  labels_ = node.labels;
  tell_labels_();
}

void PodLink::annotate(std::string_view name, std::string value) {
  wanted_.insert_or_assign(std::string(name), std::move(value));
  write();
}

launcher::Annotations PodLink::missing() const {
  launcher::Annotations missing;
  for (const auto& [name, value] : wanted_) {
    const auto there = pod_.annotations.find(name);
    if (there == pod_.annotations.end() || there->second != value) missing.emplace(name, value);
  }
  return missing;
}

void PodLink::write() {
  if (is_stopped_ || is_writing_ || pod_.is_being_deleted) return;
  launcher::Annotations annotations = missing();
  if (annotations.empty()) return;
  if (clock_.now() < not_before_) return alarm_->set(not_before_);
  is_writing_ = true;
  ports::ApiRequest request;
  request.method = http::Method::patch;
  request.target = pods_of(place_) + "/" + place_.pod + "?fieldManager=fdb-kubernetes-monitor";
  request.content_type = "application/merge-patch+json";
  request.body = wire::write_annotation_patch(annotations);
  api_.send(std::move(request),
            [this, sent = std::move(annotations)](const Result<ports::ApiReply>& reply) {
              on_written(sent, reply);
            });
}

void PodLink::on_written(const launcher::Annotations& sent, const Result<ports::ApiReply>& reply) {
  is_writing_ = false;
  const std::string refusal = refusal_of(reply);
  if (refusal.empty()) {
    for (const auto& [name, value] : sent)
      pod_.annotations.insert_or_assign(name, value);
    trouble_.works();
    pace_.reset();
    not_before_ = clock_.now() + kWriteGap;
  } else {
    if (!is_stopped_) trouble_.failed(refusal);
    not_before_ = clock_.now() + pace_.next();
  }
  write();
}

}  // namespace fdbpack::agent
