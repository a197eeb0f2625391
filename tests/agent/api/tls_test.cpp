// SPDX-License-Identifier: Apache-2.0
//
// The agent with TLS: roles by certificate, and renewal (cases 44 and 45 of the fault list; the
// server alone is tested in tests/adapters/http/tls_test.cpp). curl is the client.
#include "tests/adapters/http/certificates.hpp"
#include "tests/agent/api/api_fixture.hpp"

#include <filesystem>

namespace fdbpack::test {
namespace {

using support::Certificate;
using support::make_certificate;

class TlsApiTest : public ApiTest {
 protected:
  TlsApiTest() {
    authority_ = make_certificate({{{"CN", "authority"}}, "", nullptr, true});
    stranger_ = make_certificate({{{"CN", "stranger"}}, "", nullptr, true});
    write("ca.pem", authority_.certificate_pem);
    server_ = make_certificate({{{"CN", "agent"}}, "IP:127.0.0.1", &authority_});
    write("server.pem", server_.certificate_pem);
    write("server.key", server_.key_pem);
    client("ops", {{{"CN", "ops"}, {"O", "FDB"}}, "", &authority_});
    client("reader", {{{"CN", "reader"}, {"O", "FDB"}}, "", &authority_});
    client("unknown", {{{"CN", "ops"}, {"O", "FDB"}}, "", &stranger_});
    client("expired", {{{"CN", "ops"}, {"O", "FDB"}}, "", &authority_, false, -3600});
  }

  void write(const std::string& name, const std::string& text) {
    replace_file(dir().file(name), text);
  }
  void client(const std::string& name, const support::CertificateWish& wish) {
    const Certificate certificate = make_certificate(wish);
    write(name + ".pem", certificate.certificate_pem);
    write(name + ".key", certificate.key_pem);
  }
  void start_tls(std::vector<std::string> more = {}) {
    write_conf({{"1", ""}});
    AgentOptions options;
    options.arguments = {"--listen",
                         "https://127.0.0.1:0",
                         "--tls-certificate",
                         dir().file("server.pem"),
                         "--tls-key",
                         dir().file("server.key"),
                         "--tls-ca",
                         dir().file("ca.pem"),
                         "--verify-peers-read",
                         "O=FDB",
                         "--verify-peers-operate",
                         "O=FDB,CN=ops"};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    start_agent(options);
  }
  // The status that curl gets, "000" when the handshake fails.
  std::string curl(const std::string& who, const std::string& rest) {
    const std::string certificate =
        who.empty() ? ""
                    : " --cert " + dir().file(who + ".pem") + " --key " + dir().file(who + ".key");
    const std::string out = dir().file("out");
    static_cast<void>(run_to_end({"/bin/sh", "-c",
                                  "curl -s -m 20 -o /dev/null -w '%{http_code}' --cacert " +
                                      dir().file("ca.pem") + certificate + " " + rest + " > " +
                                      out + " 2>/dev/null"}));
    return read_file(out);
  }
  [[nodiscard]] std::string url(const std::string& path) const {
    return "https://127.0.0.1:" + std::to_string(port()) + path;
  }

  Certificate authority_, stranger_, server_;
};

TEST_F(TlsApiTest, CertificatesGiveRoles) {
  start_tls();
  ASSERT_TRUE(wait_for_api());
  ASSERT_TRUE(wait_running("child.1"));
  const std::string restart = "-X POST " + url("/v1/processes/child.1/restart");
  EXPECT_EQ(curl("", url("/livez")), "200");
  EXPECT_EQ(curl("reader", url("/v1/status")), "200");
  EXPECT_EQ(curl("reader", restart), "403");
  EXPECT_EQ(curl("ops", restart), "200");
  EXPECT_EQ(curl("", restart), "403");
  EXPECT_EQ(curl("unknown", restart), "000");
  EXPECT_EQ(curl("expired", restart), "000");
  EXPECT_EQ(curl("ops", "--tls-max 1.1 " + url("/livez")), "000");
  EXPECT_TRUE(wait_for_log("by=\"certificate CN=ops,O=FDB\""));
  EXPECT_TRUE(wait_for_log("tls.refused"));
  EXPECT_THAT(ask(get("/metrics")).body, HasSubstr("fdbpack_agent_http_handshake_failures_total"));
}

// Supervision does not wait for a certificate; it is taken when it is there.
TEST_F(TlsApiTest, ACertificateMayComeLater) {
  std::filesystem::remove(dir().file("server.key"));
  start_tls();
  ASSERT_TRUE(wait_for_starts("1", 1));
  ASSERT_TRUE(wait(
      [&] { return status()["degraded"].dump().find("no HTTP on https") != std::string::npos; }));
  write("server.key", server_.key_pem);
  ASSERT_TRUE(wait_for_api());
  EXPECT_EQ(curl("", url("/livez")), "200");
}

TEST_F(TlsApiTest, RulesWithoutAuthoritiesAreRefusedAtOnce) {
  write_conf({{"1", ""}});
  AgentOptions options;
  options.arguments = {"--verify-peers-read", "O=FDB"};
  start_agent(options);
  EXPECT_EQ(wait_for_agent(), 1);
  EXPECT_THAT(log(), HasSubstr("rules for peers need the authorities"));
}

}  // namespace
}  // namespace fdbpack::test
