// SPDX-License-Identifier: Apache-2.0
//
// Who may come from where, for peers that a test on one machine cannot be: calls go to the handler
// with a peer of our making.
#include "agent/api/api.hpp"
#include "tests/agent/fixture.hpp"

namespace fdbpack::agent {
namespace {

using testing::HasSubstr;

class ApiAccess : public WithAgent {
 protected:
  void start_api(const http::ServiceSettings& settings = {}) {
    write_conf("[x.1]\ncommand = " + sleeper() + "\n");
    start();
    api_ = std::make_unique<Api>(*instance_->agent, settings, [] { return ServiceCounts{}; });
  }
  ~ApiAccess() override { api_.reset(); }

  int ask(http::Peer peer, const std::string& method, const std::string& target,
          const std::string& token = "") {
    http::Request request;
    request.method_name = method;
    request.method = http::method_of(method);
    request.target = target;
    request.peer = std::move(peer);
    request.headers.add("Host", "db-7.example");
    if (!token.empty()) request.headers.add("Authorization", "Bearer " + token);
    const auto admission = api_->admit(request);
    return admission.refusal ? admission.refusal->status : 200;
  }
  static http::Peer stranger(bool is_tls = false) {
    http::Peer peer;
    peer.address = "192.0.2.7";
    peer.port = 4711;
    peer.is_tls = is_tls;
    return peer;
  }

  std::unique_ptr<Api> api_;
};

TEST_F(ApiAccess, OffLoopbackNothingButProbesIsServedWithoutAuthentication) {
  start_api();
  for (const auto& route : make_routes().routes()) {
    const bool is_probe = route.access == http::Access::probe;
    std::string target = route.pattern;
    if (const auto at = target.find("{id}"); at != target.npos) target.replace(at, 4, "x.1");
    const std::string method(http::to_string(route.method));
    EXPECT_EQ(ask(stranger(), method, target), is_probe ? 200 : 403) << method << " " << target;
    EXPECT_EQ(ask(stranger(true), method, target), is_probe ? 200 : 403) << method << " " << target;
  }
  EXPECT_TRUE(is_logged("audit peer=\"192.0.2.7:4711\" by=\"nothing\" call=\"POST /v1/drain\""));
}

TEST_F(ApiAccess, TokensCountOverTlsAndAreRenewed) {
  http::ServiceSettings settings;
  settings.operate_token_file = dir_.write("tokens", "operate-0123456789abcdef\n");
  settings.read_token_file = dir_.write("readers", "read-0123456789abcdef\n");
  start_api(settings);
  EXPECT_EQ(ask(stranger(true), "POST", "/v1/reload", "operate-0123456789abcdef"), 200);
  EXPECT_EQ(ask(stranger(false), "POST", "/v1/reload", "operate-0123456789abcdef"), 403);
  EXPECT_EQ(ask(stranger(true), "GET", "/v1/status", "read-0123456789abcdef"), 200);
  EXPECT_EQ(ask(stranger(true), "POST", "/v1/reload", "read-0123456789abcdef"), 403);
  EXPECT_EQ(ask(stranger(true), "GET", "/livez", "wrong"), 200) << "probes ask nobody";
  EXPECT_EQ(ask(stranger(true), "GET", "/v1/status", "wrong"), 401);
}

TEST_F(ApiAccess, AFileOfTokensThatIsNoneIsSaid) {
  http::ServiceSettings settings;
  settings.operate_token_file = dir_.write("tokens", "short\n");
  start_api(settings);
  EXPECT_EQ(ask(stranger(true), "POST", "/v1/reload", "short"), 401);
  EXPECT_THAT(instance_->agent->facts().degraded,
              testing::Contains(HasSubstr("no token is valid")));
}

}  // namespace
}  // namespace fdbpack::agent
