// SPDX-License-Identifier: Apache-2.0
//
// Keeps up with one object of the Kubernetes API: our pod, or our node.
//
//   ┌─> read it ──> watch it from there ──> events … ──> the watch ends ─┐
//   └──── at once after a watch that was granted; else 1, 2, 4 … 60 s ───┘
//
// Nothing here ever gives up or blocks; without a server it tries once a minute. A failure is
// logged when it is new, and once more when it is over.
#pragma once

#include "fdbpack/launcher/pod.hpp"
#include "ports/api_server.hpp"
#include "ports/clock.hpp"
#include "ports/log.hpp"

#include <functional>
#include <memory>
#include <string>

namespace fdbpack::agent {

// 1, 2, 4, … 60 s.
class RetryPace {
 public:
  [[nodiscard]] Duration next();
  void reset() { failures_ = 0; }

 private:
  unsigned failures_ = 0;
};

// Says what is wrong when that changes.
class TroubleReport {
 public:
  TroubleReport(ports::Log& log, std::string subject) : log_(log), subject_(std::move(subject)) {}
  void failed(const std::string& reason);
  void works();

 private:
  ports::Log& log_;
  std::string subject_;
  std::string reason_;
};

// Why a reply is none that we wanted; empty when its status is 2xx.
[[nodiscard]] std::string refusal_of(const Result<ports::ApiReply>& reply);

class ObjectWatch {
 public:
  using OnObject = std::function<void(const launcher::Metadata& object)>;

  // `collection` is "/api/v1/nodes"; `kind` and `name` are for the log.
  ObjectWatch(ports::Clock& clock, ports::Log& log, ports::ApiServer& api, std::string collection,
              std::string kind, std::string name, OnObject on_object);
  void start() { look(); }
  void stop();

 private:
  void look();
  void watch(const std::string& resource_version);
  void on_line(std::string_view line);
  void retry(const std::string& reason);

  ports::Clock& clock_;
  ports::ApiServer& api_;
  std::string collection_;
  std::string name_;
  OnObject on_object_;
  TroubleReport trouble_;
  RetryPace pace_;
  std::unique_ptr<ports::Alarm> alarm_;
  std::string event_error_;
  bool is_stopped_ = false;
};

}  // namespace fdbpack::agent
