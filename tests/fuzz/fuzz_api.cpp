// SPDX-License-Identifier: Apache-2.0
//
// Requests all the way: parser, router, access and the agent's own handlers, with an agent behind
// them that has two processes. The first byte says who asks. Whatever is asked, every request is
// answered once, and who may not operate changes nothing.
#include "adapters/http/request_parser.hpp"
#include "agent/api/api.hpp"
#include "tests/fuzz/fake_world.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fdbpack::fuzz {
namespace {

using http_server::RequestParser;
using Step = RequestParser::Step;

constexpr const char* kConf =
    "[general]\nrestart_delay = 60\n[fdbserver]\ncommand = /usr/sbin/fdbserver\n"
    "public_address = 127.0.0.1:$ID\ndatadir = /data/$ID\n[fdbserver.4500]\n[fdbserver.4501]\n";

void require(bool is_true) {
  if (!is_true) std::abort();
}

class Answers final : public ports::ReplySlot {
 public:
  void put(http::Answer answer) override {
    require(!is_answered);
    is_answered = true;
    http::Request nobody;
    status = http::Outgoing(std::move(answer), nobody).status();
    require(status >= 200 && status < 600);
  }
  ports::ClientGone gone() override { return std::make_shared<std::atomic<bool>>(false); }
  bool is_answered = false;
  int status = 0;
};

http::Peer peer_of(std::uint8_t kind) {
  http::Peer peer;
  if (kind % 5 < 2) {  // an operator on the unix socket, and somebody else there
    peer.credentials = http::UnixCredentials{7, kind % 5 == 0 ? 0u : 1000u, 1000, {}};
  } else if (kind % 5 == 2) {
    peer.address = "127.0.0.1";
    peer.is_loopback = true;
  } else {  // another host, with TLS and without
    peer.address = "192.0.2.7";
    peer.is_tls = kind % 5 == 3;
  }
  return peer;
}

class Fixture {
 public:
  explicit Fixture(std::uint8_t kind) : peer_(peer_of(kind)), may_operate_(kind % 5 == 0) {
    world_.files.texts["/f.conf"] = kConf;
    agent::AgentSettings settings;
    settings.conf_path = "/f.conf";
    settings.state_dir = "/state";
    settings.supervisor.agent_id = "fuzz";
    agent_.emplace(world_.all, settings, [](int) {});
    require(agent_->start({}).has_value());
    http::ServiceSettings service;
    service.operator_uids = {0};
    service.limits.header_bytes_max = 2048;
    limits_ = service.limits;
    api_.emplace(*agent_, service, [] { return agent::ServiceCounts{}; });
    world_.clock.advance(std::chrono::seconds(1));
  }

  void run(std::string_view input) {
    RequestParser parser(limits_);
    http::Request request;
    request.peer = peer_;
    std::string buffer(input);
    for (int requests = 0; requests < 8; ++requests) {
      parser.begin(request);
      bool is_refused = false;
      for (;;) {
        std::size_t consumed = 0;
        const Step step = parser.read(buffer, consumed);
        buffer.erase(0, consumed);
        if (step == Step::refused || step == Step::need_more) return;
        if (step == Step::done) break;
        if (step != Step::head) continue;
        const auto admission = api_->admit(request);
        is_refused = admission.refusal.has_value();
        if (!parser.allow_body(is_refused ? 0 : admission.body_bytes_max)) return;
      }
      if (!is_refused) ask(request);
    }
  }

 private:
  void ask(const http::Request& request) {
    const auto slot = std::make_shared<Answers>();
    const auto before = kept();
    api_->handle(request, ports::Reply(slot));
    require(request.method == http::Method::post || slot->is_answered);
    if (request.method != http::Method::get && request.method != http::Method::head) {
      require(may_operate_);
    }
    // The longest that anybody waits is below the server's own patience.
    world_.clock.advance(limits_.answer_deadline);
    require(slot->is_answered);
    if (!may_operate_) require(kept() == before);
  }
  // What the next agent would find.
  std::string kept() {
    return world_.files.texts["/state/state.json"] + world_.files.texts["/state/host.json"];
  }

  FakeWorld world_;
  http::Limits limits_;
  http::Peer peer_;
  const bool may_operate_;
  std::optional<agent::Agent> agent_;
  std::optional<agent::Api> api_;
};

}  // namespace
}  // namespace fdbpack::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  fdbpack::fuzz::Fixture fixture(data[0]);
  fixture.run({reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
