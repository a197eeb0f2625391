// SPDX-License-Identifier: Apache-2.0
//
// An agent and the HTTP service that shows it, put together.
//
//   requests ──> HttpService ──> Api ──> Agent
//                     └─ places that are open, or not ──> status of the agent
//
// Supervision does not wait for it and does not depend on it.
#pragma once

#include "agent/agent.hpp"
#include "fdbpack/http/service.hpp"

#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace fdbpack::agent {

class ApiFront {
 public:
  // `settings` have been validated. The agent outlives it.
  ApiFront(boost::asio::io_context& io, Agent& agent, const http::ServiceSettings& settings);
  ~ApiFront();

  void start();
  // Calls that wait for an outcome are answered. Then calls back.
  void stop(std::function<void()> on_stopped);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fdbpack::agent
