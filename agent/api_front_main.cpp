// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/service.hpp"
#include "agent/api/api.hpp"
#include "agent/api_front.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>

namespace fdbpack::agent {
namespace {

constexpr auto kGrace = std::chrono::milliseconds(300);

ServiceCounts counts_of(const http_server::Server& server) {
  const auto& totals = server.totals();
  return {totals.requests, totals.bad_requests, totals.connections, server.open_connections(),
          totals.refused,  totals.evicted,      totals.timeouts,    totals.handshake_failures};
}

}  // namespace

struct ApiFront::Parts {
  Parts(boost::asio::io_context& io, Agent& which, const http::ServiceSettings& settings)
      : agent(which),
        api(which, settings, [this] { return counts_of(service.server()); }),
        service(
            io, api, settings,
            [this](std::string_view what) {
              agent.world().log.write(supervise::Severity::info, kLogName, what);
            },
            [this] { show_places(); }, http_server::HttpService::Pace{}) {}

  void show_places() {
    std::vector<ListenerFact> facts;
    std::vector<std::string> sentences;
    for (const auto& place : service.places()) {
      facts.push_back({place.name, place.is_open, place.trouble});
      if (!place.is_open) sentences.push_back("no HTTP on " + place.name + ": " + place.trouble);
    }
    agent.set_listeners(std::move(facts));
    agent.set_degraded("http", std::move(sentences));
  }

  Agent& agent;
  Api api;
  http_server::HttpService service;
};

ApiFront::ApiFront(boost::asio::io_context& io, Agent& agent, const http::ServiceSettings& settings)
    : parts_(std::make_unique<Parts>(io, agent, settings)) {}

ApiFront::~ApiFront() = default;

void ApiFront::start() {
  parts_->service.start();
}

void ApiFront::stop(std::function<void()> on_stopped) {
  parts_->api.end_all();
  parts_->service.stop(kGrace, std::move(on_stopped));
}

}  // namespace fdbpack::agent
