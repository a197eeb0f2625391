// SPDX-License-Identifier: Apache-2.0
//
// TLS: cases 44 and 45 of the fault list.
#include "fdbpack/http/peer_rules.hpp"
#include "tests/adapters/http/certificates.hpp"
#include "tests/adapters/http/http_fixture.hpp"
#include "tests/support/temp_dir.hpp"

#include <sys/time.h>

#include <filesystem>

namespace fdbpack::http_server {
namespace {

using std::chrono_literals::operator""ms;
using support::Certificate;
using support::make_certificate;

struct TlsWish {
  const Certificate* certificate = nullptr;
  int version_max = 0;
};

// A blocking TLS client.
class TlsClient {
 public:
  TlsClient(std::uint16_t port, const TlsWish& wish = {})
      : raw_(port), context_(SSL_CTX_new(TLS_client_method())) {
    const ::timeval deadline{kDeadlineMs / 1000, 0};
    ::setsockopt(raw_.fd(), SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    if (wish.version_max != 0) {
      SSL_CTX_set_min_proto_version(context_, 0);
      SSL_CTX_set_security_level(context_, 0);
      SSL_CTX_set_max_proto_version(context_, wish.version_max);
    }
    if (wish.certificate != nullptr) {
      SSL_CTX_use_certificate(context_, wish.certificate->certificate.get());
      SSL_CTX_use_PrivateKey(context_, wish.certificate->key.get());
    }
    tls_ = SSL_new(context_);
    SSL_set_fd(tls_, raw_.fd());
    is_open_ = SSL_connect(tls_) == 1;
  }
  ~TlsClient() {
    SSL_free(tls_);
    SSL_CTX_free(context_);
  }

  // "" when the server has refused us, which TLS 1.3 says only after the handshake.
  std::string ask(const std::string& request) {
    if (!is_open_) return {};
    if (SSL_write(tls_, request.data(), static_cast<int>(request.size())) <= 0) return {};
    std::string answer;
    std::size_t size = std::string::npos;
    char buffer[16384];
    while (answer.size() < size) {
      const int count = SSL_read(tls_, buffer, sizeof buffer);
      if (count <= 0) return {};
      answer.append(buffer, static_cast<std::size_t>(count));
      const auto end = size == std::string::npos ? answer.find("\r\n\r\n") : std::string::npos;
      if (end == std::string::npos) continue;
      const auto length = answer.find("Content-Length: ");
      size = end + 4 + std::stoul(answer.substr(length + 16, 20));
    }
    return answer;
  }
  std::string body(const std::string& request) {
    const std::string answer = ask(request);
    const auto end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
  }

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] SSL* tls() const { return tls_; }
  // The common name of the server's certificate.
  [[nodiscard]] std::string server_name() const {
    char name[256] = "";
    const X509* certificate = SSL_get0_peer_certificate(tls_);
    if (certificate != nullptr) {
      X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                                sizeof name);
    }
    return name;
  }

 private:
  Client raw_;
  SSL_CTX* context_;
  SSL* tls_ = nullptr;
  bool is_open_ = false;
};

class TlsServerTest : public HttpServerTest {
 protected:
  TlsServerTest() {
    authority_ = make_certificate({{{"CN", "TestCA"}, {"O", "Org"}}, "", nullptr, true});
    stranger_ = make_certificate({{{"CN", "OtherCA"}}, "", nullptr, true});
    install("server-1");
    folder_.write("ca.pem", authority_.certificate_pem);
  }
  ~TlsServerTest() override { stop(); }

  void install(const std::string& name) {
    const Certificate made = issue(name);
    folder_.write("cert.pem", made.certificate_pem);
    folder_.write("key.pem", made.key_pem);
  }

  Certificate issue(const std::string& name, const std::string& alt_names = "") {
    return make_certificate({{{"CN", name}, {"O", "FDB"}}, alt_names, &authority_});
  }

  void start_tls(TlsFiles files = {}, http::Limits limits = {}) {
    files.certificate_file = folder_.file("cert.pem");
    files.key_file = folder_.file("key.pem");
    files.authority_file = folder_.file("ca.pem");
    make(limits);
    const Status status = server_->use_tls(files);
    ASSERT_TRUE(status) << status.error().message;
    port_ = *server_->listen(TcpPlace{}, Server::Security::tls);
    run();
  }

  Result<TlsStore::Outcome> refresh() {
    return on_server([this] { return server_->refresh_tls(); });
  }

  support::TempDir folder_;
  Certificate authority_, stranger_;
};

TEST_F(TlsServerTest, ServesWithAndWithoutAClientCertificate) {
  start_tls();
  TlsClient plain(port_);
  ASSERT_TRUE(plain.is_open());
  EXPECT_EQ(plain.body(get("/livez")), "ok\n");
  EXPECT_EQ(plain.body(get("/v1/status")), handler_.status_page()->body());
  const Certificate ops = issue("ops", "DNS:ops.example,IP:127.0.0.1");
  TlsClient known(port_, {&ops});
  const std::string who = known.body(get("/who"));
  EXPECT_NE(who.find("(CN=ops,O=FDB)"), std::string::npos) << who;
}

TEST_F(TlsServerTest, ResumesNothing) {
  start_tls();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(port_, {nullptr, version});
    EXPECT_EQ(client.body(get("/livez")), "ok\n");
    EXPECT_EQ(SSL_SESSION_has_ticket(SSL_get_session(client.tls())), 0);
  }
}

// Case 45.
TEST_F(TlsServerTest, RefusesWhomItDoesNotKnow) {
  start_tls();
  const Certificate unknown = make_certificate({{{"CN", "ops"}}, "", &stranger_});
  const Certificate expired = make_certificate({{{"CN", "ops"}}, "", &authority_, false, -60});
  const Certificate self_made = make_certificate({{{"CN", "ops"}}, "", nullptr});
  for (const Certificate* bad : {&unknown, &expired, &self_made}) {
    EXPECT_EQ(TlsClient(port_, {bad}).ask(get("/livez")), "");
  }
  EXPECT_EQ(TlsClient(port_, {nullptr, TLS1_1_VERSION}).ask(get("/livez")), "");
  Client no_tls(port_);
  no_tls.send(get("/livez"));
  EXPECT_TRUE(comes_to(0));
  EXPECT_EQ(TlsClient(port_).body(get("/livez")), "ok\n");
  EXPECT_EQ(counters().handshake_failures, 5U);
  stop();
  EXPECT_NE(notes_.find("tls.refused peer=127.0.0.1:"), std::string::npos) << notes_;
}

TEST_F(TlsServerTest, CanDemandACertificate) {
  TlsFiles files;
  files.client_certificate = TlsFiles::ClientCertificate::required;
  start_tls(files);
  EXPECT_EQ(TlsClient(port_).ask(get("/livez")), "");
  const Certificate ops = issue("ops");
  EXPECT_EQ(TlsClient(port_, {&ops}).body(get("/livez")), "ok\n");
}

// For rules with Check.Valid=0 the handshake lets anybody in, and the facts say what is wrong.
TEST_F(TlsServerTest, TellsTheHandlerWhatDoesNotVerify) {
  TlsFiles files;
  files.accepts_unverified = true;
  start_tls(files);
  const Certificate good = issue("good");
  const Certificate unknown = make_certificate({{{"CN", "unknown"}}, "", &stranger_});
  const Certificate expired = make_certificate({{{"CN", "old"}}, "", &authority_, false, -60});
  const Certificate both = make_certificate({{{"CN", "both"}}, "", &stranger_, false, -60});
  for (const Certificate* one : {&good, &unknown, &expired, &both}) {
    const std::string who = TlsClient(port_, {one}).body(get("/who"));
    const auto facts = on_server([this] { return handler_.last_certificate(); });
    ASSERT_TRUE(facts) << who;
    EXPECT_EQ(facts->is_chain_valid, one == &good || one == &expired) << who;
    EXPECT_EQ(facts->is_unexpired, one == &good || one == &unknown) << who;
    EXPECT_EQ(http::to_string(facts->root), facts->is_chain_valid ? "CN=TestCA,O=Org" : "") << who;
  }
}

TEST_F(TlsServerTest, ReadsTheNamesOfACertificate) {
  start_tls();
  const Certificate ops = issue("ops", "DNS:a.example,IP:127.0.0.1,IP:::1,URI:urn:x,email:a@b");
  TlsClient client(port_, {&ops});
  ASSERT_NE(client.body(get("/who")), "");
  const auto facts = on_server([this] { return handler_.last_certificate(); });
  ASSERT_TRUE(facts);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"DNS", "a.example"}, {"IP", "127.0.0.1"}, {"IP", "::1"}, {"URI", "urn:x"}, {"EMAIL", "a@b"}};
  EXPECT_EQ(facts->subject_alt_names, expected);
  EXPECT_EQ(http::to_string(facts->issuer), "CN=TestCA,O=Org");
  EXPECT_TRUE(http::PeerRules::parse("S.subjectAltName>=DNS:a,R.CN=TestCA")->matches(*facts));
}

// Case 44.
TEST_F(TlsServerTest, RenewsItsCertificateAndKeepsConnections) {
  start_tls();
  TlsClient old(port_);
  EXPECT_EQ(old.server_name(), "server-1");
  EXPECT_EQ(*refresh(), TlsStore::Outcome::unchanged);
  install("server-2");
  EXPECT_EQ(*refresh(), TlsStore::Outcome::renewed);
  EXPECT_EQ(TlsClient(port_).server_name(), "server-2");
  EXPECT_EQ(old.body(get("/livez")), "ok\n");
  EXPECT_EQ(counters().tls_renewals, 1U);
}

TEST_F(TlsServerTest, KeepsTheOldPairUntilTheNewOneFits) {
  start_tls();
  const Certificate next = issue("server-2");
  folder_.write("cert.pem", next.certificate_pem);  // and not yet the key
  EXPECT_FALSE(refresh());
  EXPECT_EQ(TlsClient(port_).server_name(), "server-1");
  EXPECT_EQ(*refresh(), TlsStore::Outcome::unchanged) << "said once";
  folder_.write("key.pem", next.key_pem);
  EXPECT_EQ(*refresh(), TlsStore::Outcome::renewed);
  EXPECT_EQ(TlsClient(port_).server_name(), "server-2");
  for (const std::string broken : {"", "garbage", "-----BEGIN CERTIFICATE-----\n"}) {
    folder_.write("cert.pem", broken);
    EXPECT_FALSE(refresh()) << broken;
    EXPECT_EQ(TlsClient(port_).server_name(), "server-2");
  }
  std::filesystem::remove(folder_.file("cert.pem"));
  EXPECT_FALSE(refresh());
  EXPECT_EQ(TlsClient(port_).body(get("/livez")), "ok\n");
  folder_.write("cert.pem", next.certificate_pem);
  EXPECT_TRUE(refresh());
}

TEST_F(TlsServerTest, SeesAKubernetesVolumeFlip) {
  const auto write_version = [&](const std::string& version, const std::string& name) {
    const Certificate made = issue(name);
    folder_.write("..v" + version + "/cert.pem", made.certificate_pem);
    folder_.write("..v" + version + "/key.pem", made.key_pem);
    folder_.write("..v" + version + "/ca.pem", authority_.certificate_pem);
    std::filesystem::create_symlink("..v" + version, folder_.path() / "..data_tmp");
    std::filesystem::rename(folder_.path() / "..data_tmp", folder_.path() / "..data");
  };
  write_version("1", "pod-1");
  for (const std::string file : {"cert.pem", "key.pem", "ca.pem"}) {
    std::filesystem::remove(folder_.file(file));
    std::filesystem::create_symlink("..data/" + file, folder_.file(file));
  }
  start_tls();
  EXPECT_EQ(TlsClient(port_).server_name(), "pod-1");
  write_version("2", "pod-2");
  EXPECT_EQ(*refresh(), TlsStore::Outcome::renewed);
  EXPECT_EQ(TlsClient(port_).server_name(), "pod-2");
}

TEST_F(TlsServerTest, TakesANewAuthority) {
  start_tls();
  const Certificate other = make_certificate({{{"CN", "ops"}}, "", &stranger_});
  EXPECT_EQ(TlsClient(port_, {&other}).ask(get("/livez")), "");
  folder_.write("ca.pem", authority_.certificate_pem + stranger_.certificate_pem);
  EXPECT_EQ(*refresh(), TlsStore::Outcome::renewed);
  EXPECT_EQ(TlsClient(port_, {&other}).body(get("/livez")), "ok\n");
  const Certificate ops = issue("ops");
  EXPECT_EQ(TlsClient(port_, {&ops}).body(get("/livez")), "ok\n");
}

TEST_F(TlsServerTest, IsNotHeldByAClientThatDoesNotShakeHands) {
  http::Limits limits;
  limits.header_deadline = 1000ms;
  start_tls({}, limits);
  Client silent(port_);
  EXPECT_EQ(TlsClient(port_).body(get("/livez")), "ok\n");
  EXPECT_TRUE(silent.is_closed_by_server());
}

TEST_F(TlsServerTest, SendsLargeAnswersWhole) {
  start_tls();
  EXPECT_EQ(TlsClient(port_).body(get("/big")).size(), 32U * 1024 * 1024);
}

TEST_F(TlsServerTest, NeedsFilesThatFit) {
  make({});
  TlsFiles files;
  files.certificate_file = folder_.file("nothing.pem");
  files.key_file = folder_.file("key.pem");
  EXPECT_FALSE(server_->use_tls(files));
  files.certificate_file = folder_.write("other.pem", issue("other").certificate_pem);
  const Status status = server_->use_tls(files);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("key.pem"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace fdbpack::http_server
