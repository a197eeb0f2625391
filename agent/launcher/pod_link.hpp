// SPDX-License-Identifier: Apache-2.0
//
// Our side of the conversation with Kubernetes: what the pod's annotations and the node's labels
// say, and the annotations that we write. Processes never wait for it.
//
// Writing is a merge patch with our annotations alone. It is repeated until the pod has them, and
// again when somebody takes them away; at most once a second, and ever more rarely while it fails.
#pragma once

#include "agent/launcher/object_watch.hpp"

#include <optional>

namespace fdbpack::agent {

struct PodPlace {
  std::string pod_namespace;
  std::string pod;
  std::string node;  // empty: its labels are not read
};

class PodLink {
 public:
  // `tell_pod`: with the annotations before; `tell_labels`: the node's labels are new.
  using OnPod = std::function<void(const launcher::Annotations& before)>;

  PodLink(ports::Clock& clock, ports::Log& log, ports::ApiServer& api, PodPlace place,
          OnPod tell_pod, std::function<void()> tell_labels);

  // What an earlier launcher knew; before start().
  void remember(const launcher::Metadata& known);
  void start();
  void stop();
  void annotate(std::string_view name, std::string value);

  // As last seen; empty as long as nothing was.
  [[nodiscard]] const launcher::Annotations& annotations() const { return pod_.annotations; }
  [[nodiscard]] const launcher::Annotations& labels() const { return labels_; }

 private:
  void on_pod(const launcher::Metadata& pod);
  void on_node(const launcher::Metadata& node);
  [[nodiscard]] launcher::Annotations missing() const;
  void write();
  void on_written(const launcher::Annotations& sent, const Result<ports::ApiReply>& reply);

  ports::Clock& clock_;
  ports::ApiServer& api_;
  PodPlace place_;
  OnPod tell_pod_;
  std::function<void()> tell_labels_;
  launcher::Metadata pod_;
  launcher::Annotations labels_;
  launcher::Annotations wanted_;
  ObjectWatch pod_watch_;
  std::optional<ObjectWatch> node_watch_;
  TroubleReport trouble_;
  RetryPace pace_;
  std::unique_ptr<ports::Alarm> alarm_;
  Instant not_before_;
  bool is_writing_ = false;
  bool is_stopped_ = false;
};

}  // namespace fdbpack::agent
