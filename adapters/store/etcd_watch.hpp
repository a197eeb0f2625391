// SPDX-License-Identifier: Apache-2.0
//
// What changes in a range of etcd's keys, from a revision on, through every loss of the connection.
//
//   start() ──► opening ──created──► watching ──lost, silent──► pause ──► opening, where it was
//                                       └──compacted──► over: on_lost
#pragma once

#include "adapters/store/etcd_access.hpp"
#include "adapters/store/etcd_link.hpp"
#include "fdbpack/base/result.hpp"
#include "fdbpack/wire/etcd_json.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::store {

class EtcdWatch {
 public:
  // All events of one revision, each revision once, in order. May end the watch.
  using OnEvents = std::function<void(std::uint64_t revision, std::vector<wire::EtcdEvent>)>;
  // What comes next cannot be had any more.
  using OnLost = std::function<void(Error)>;

  EtcdWatch(std::shared_ptr<EtcdAccess> access, std::string begin, std::string end,
            OnEvents on_events, OnLost on_lost);
  ~EtcdWatch();
  EtcdWatch(const EtcdWatch&) = delete;
  EtcdWatch& operator=(const EtcdWatch&) = delete;

  void start(std::uint64_t first_revision);
  void stop();
  [[nodiscard]] bool is_started() const { return is_started_; }

 private:
  void open();
  void log_in();
  void heard(std::string_view line);
  [[nodiscard]] bool deliver(std::vector<wire::EtcdEvent> events);
  void ended(const Result<ports::HttpAnswer>& answer);
  void pause();
  void expect_more();
  void close();
  void lose(Error error);

  const std::shared_ptr<EtcdAccess> access_;
  const std::string begin_, end_;
  const OnEvents on_events_;
  const OnLost on_lost_;
  EtcdLink login_;
  std::size_t endpoint_;
  std::unique_ptr<ports::HttpClient> client_;
  std::unique_ptr<ports::HttpCall> call_;
  std::unique_ptr<ports::Alarm> alarm_;  // of the pause, or of a silence too long
  std::uint64_t next_revision_ = 0;
  Duration pause_ = kEtcdPauseMin;
  bool is_started_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace fdbpack::store
