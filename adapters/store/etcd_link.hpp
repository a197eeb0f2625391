// SPDX-License-Identifier: Apache-2.0
//
// One question at a time to whichever endpoint of etcd answers.
//
//   ask() ──► endpoint ──no connection──► next endpoint ──► … ──all tried──► pause ──► …
//                │                                                    until the timeout
//                ├──lost after it was sent──► repeatable: as above; else `unavailable`
//                ├──not logged in──► log in, once ──► the same endpoint
//                └──► told
//
//   ErrorCode::unavailable   it cannot be said whether it was done
//   ErrorCode::timed_out     not done; or, if repeatable, perhaps
//   not_found, conflict, invalid_argument, permission_denied, internal: etcd refused; not done
#pragma once

#include "adapters/store/etcd_access.hpp"
#include "fdbpack/base/result.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fdbpack::store {

class EtcdLink {
 public:
  struct Question {
    std::string path;  // "/v3/kv/txn"
    std::string body;
    bool is_repeatable = false;
    Duration timeout{};  // 0: as configured
  };
  using OnAnswer = std::function<void(Result<std::string> body)>;

  explicit EtcdLink(std::shared_ptr<EtcdAccess> access);
  ~EtcdLink();  // gives up the question
  EtcdLink(const EtcdLink&) = delete;
  EtcdLink& operator=(const EtcdLink&) = delete;

  [[nodiscard]] bool is_busy() const { return on_answer_ != nullptr; }
  // Not while it is busy. Answered later, never from inside the call.
  void ask(Question question, OnAnswer on_answer);
  void give_up();

 private:
  void send();
  void log_in();
  void answered(Result<ports::HttpAnswer> answer);
  void refused(const ports::HttpAnswer& answer);
  void lost(const Error& error, bool was_sent);
  void tell(Result<std::string> result);
  [[nodiscard]] std::unique_ptr<ports::HttpCall> post(const std::string& path, std::string body,
                                                      ports::HttpClient::OnAnswer on_answer);

  const std::shared_ptr<EtcdAccess> access_;
  std::vector<std::unique_ptr<ports::HttpClient>> clients_;  // by endpoint; made when needed
  std::size_t endpoint_;
  std::unique_ptr<ports::HttpCall> call_;
  std::unique_ptr<ports::Alarm> pause_alarm_;
  Question question_;
  OnAnswer on_answer_;
  Instant deadline_;
  std::size_t tried_ = 0;  // endpoints since the last pause
  Duration pause_ = kEtcdPauseMin;
  bool has_logged_in_ = false;  // for this question
  std::string last_failure_;
};

}  // namespace fdbpack::store
