// SPDX-License-Identifier: Apache-2.0
//
// The sidecar as a program: how it is called, how it ends, what curl sees, how certificates change.
#include "tests/agent/sidecar/fixture.hpp"
#include "tests/support/places.hpp"
#include "tests/support/run_program.hpp"

#include <sys/stat.h>

#include <filesystem>

namespace fdbpack::sidecar {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kCurl = "/usr/bin/curl";

TEST_F(SidecarProgram, InitModeCopiesAndEnds) {
  write_input("fdb.cluster", "a:b@1.2.3.4:4501");
  write_input("fdbmonitor.conf", "x = $FDB_POD_IP");
  const std::vector<std::string> arguments = {
      "--copy-file",          "fdb.cluster",     "--require-not-empty", "fdb.cluster",
      "--input-monitor-conf", "fdbmonitor.conf", "--init-mode"};
  EXPECT_EQ(run(arguments), 0);
  EXPECT_EQ(output("fdb.cluster"), "a:b@1.2.3.4:4501");
  EXPECT_EQ(output("fdbmonitor.conf"), "x = 127.0.0.1");
}

TEST_F(SidecarProgram, NothingIsCopiedWithoutTheRequiredFile) {
  write_input("fdb.cluster", "");
  write_input("other", "text");
  const std::vector<std::string> arguments = {"--copy-file", "other", "--require-not-empty",
                                              "fdb.cluster", "--init-mode"};
  EXPECT_EQ(run(arguments), 1);
  EXPECT_THAT(log_, HasSubstr("No contents for file " + input_dir() + "/fdb.cluster"));
  EXPECT_EQ(output("other"), "");
}

TEST_F(SidecarProgram, AFileThatCannotBeCopiedIsTheEnd) {
  EXPECT_EQ(run({"--copy-file", "none"}), 1);
  EXPECT_THAT(log_, HasSubstr(input_dir() + "/none"));
  EXPECT_EQ(run({"--copy-binary", "none"}), 1);
  EXPECT_EQ(run({"--copy-library", "7.1"}), 1);
  EXPECT_EQ(run({"--input-monitor-conf", "none"}), 1);
}

TEST_F(SidecarProgram, IsMeantByItsName) {
  program_ = folder_.file("sidecar.py");
  std::filesystem::create_symlink(test::program_file("fdbpack-agent"), program_);
  mode_.clear();
  EXPECT_EQ(run({"--init-mode"}), 0);
  ASSERT_TRUE(start());
  EXPECT_EQ(get("/ready").body, "OK\n");
}

TEST_F(SidecarProgram, SaysWhatIsWrongWithItsCommandLine) {
  EXPECT_EQ(run({"--bogus"}), 2);
  EXPECT_THAT(log_, HasSubstr("--bogus"));
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("--copy-binary"));
  environment_["COPY_ONCE"] = "1";
  EXPECT_EQ(run({}), 1);
  EXPECT_THAT(out_, HasSubstr("Environment variable COPY_ONCE is not supported"));
}

TEST_F(SidecarProgram, EndsWhenToldTo) {
  ASSERT_TRUE(start());
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(SidecarProgram, RestartAnswersAndThenEnds) {
  ASSERT_TRUE(start());
  const Answered answer = post("/restart");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "OK\n");
  EXPECT_EQ(wait_for_end(), 1);  // the container is started again
}

TEST_F(SidecarProgram, CopiesWhenAsked) {
  write_input("fdb.cluster", "one");
  write_input("fdbmonitor.conf", "c1 $FDB_POD_IP");
  folder_.write("usr/bin/fdbserver", "binary");
  write_input("nested/ca.pem", "ca");
  ASSERT_TRUE(start({"--copy-file", "fdb.cluster", "--copy-file", "nested/ca.pem",
                     "--input-monitor-conf", "fdbmonitor.conf", "--copy-binary", "fdbserver"}));
  EXPECT_EQ(output("nested/ca.pem"), "ca");
  write_input("fdb.cluster", "two");
  write_input("fdbmonitor.conf", "c2 $FDB_POD_IP");
  EXPECT_EQ(output("fdb.cluster"), "one");  // not before it is asked
  EXPECT_EQ(post("/copy_files").body, "OK\n");
  EXPECT_EQ(output("fdb.cluster"), "two");
  EXPECT_EQ(output("fdbmonitor.conf"), "c1 127.0.0.1");
  EXPECT_EQ(post("/copy_monitor_conf").body, "OK\n");
  EXPECT_EQ(output("fdbmonitor.conf"), "c2 127.0.0.1");
  EXPECT_EQ(post("/copy_binaries").status, 200);
  std::filesystem::remove(input_dir() + "/fdb.cluster");
  EXPECT_EQ(post("/copy_files").status, 500);
  EXPECT_EQ(output("fdb.cluster"), "two");
  EXPECT_THAT(temporaries(output_dir()), IsEmpty());
}

TEST_F(SidecarProgram, ABinaryThatIsThereIsLeftAloneUnlessItDiffers) {
  folder_.write("usr/bin/fdbserver", "binary");
  const std::string target = output_dir() + "/bin/7.1.43/fdbserver";
  const auto inode = [&] {
    struct ::stat info {};
    EXPECT_EQ(::stat(target.c_str(), &info), 0);
    return info.st_ino;
  };
  ASSERT_TRUE(start({"--copy-binary", "fdbserver"}));
  const auto first = inode();
  EXPECT_EQ(post("/copy_binaries").status, 200);
  EXPECT_EQ(inode(), first);
  folder_.write("out/bin/7.1.43/fdbserver", "bin");  // cut off by a power failure
  EXPECT_EQ(post("/copy_binaries").status, 200);
  EXPECT_EQ(output("bin/7.1.43/fdbserver"), "binary");
  ::chmod(target.c_str(), 0600);
  EXPECT_EQ(post("/copy_binaries").status, 200);
  struct ::stat info {};
  ASSERT_EQ(::stat(target.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0744U);
}

// As the kubelet does it: a new folder, and one link that is replaced.
TEST_F(SidecarProgram, FollowsAConfigMap) {
  namespace fs = std::filesystem;
  write_input("..v1/fdb.cluster", "one");
  write_input("..v2/fdb.cluster", "two");
  fs::create_directory_symlink("..v1", input_dir() + "/..data");
  fs::create_symlink("..data/fdb.cluster", input_dir() + "/fdb.cluster");
  ASSERT_TRUE(start({"--copy-file", "fdb.cluster"}));
  EXPECT_EQ(output("fdb.cluster"), "one");
  fs::create_directory_symlink("..v2", input_dir() + "/..data_tmp");
  fs::rename(input_dir() + "/..data_tmp", input_dir() + "/..data");
  EXPECT_EQ(post("/copy_files").status, 200);
  EXPECT_EQ(output("fdb.cluster"), "two");
}

TEST_F(SidecarProgram, AllAddressesMeansIpv4Too) {
  bind_address_ = "[::]:0";
  if (!start()) GTEST_SKIP() << "this host has no IPv6: " << log_;
  EXPECT_EQ(get("/ready").status, 200);  // the client is at 127.0.0.1
}

TEST_F(SidecarProgram, ListensOnANameToo) {
  bind_address_ = "localhost:0";
  ASSERT_TRUE(start());
  EXPECT_EQ(get("/ready").status, 200);
}

TEST_F(SidecarProgram, APortInUseIsTheEnd) {
  ASSERT_TRUE(start());
  const ::pid_t first = std::exchange(pid_, -1);
  EXPECT_EQ(run({"--bind-address", "127.0.0.1:" + std::to_string(port_)}), 1);
  EXPECT_THAT(log_, HasSubstr("Address already in use"));
  pid_ = first;
}

TEST_F(SidecarProgram, SpeaksWithCurl) {
  if (!std::filesystem::exists(kCurl)) GTEST_SKIP() << "there is no " << kCurl;
  write_input("fdb.cluster", "hello world");
  use_tls("S.CN=operator");
  client_ = issue("operator");
  const std::string cert = folder_.write("tls/client.pem", client_->certificate_pem);
  const std::string key = folder_.write("tls/client.key", client_->key_pem);
  ASSERT_TRUE(start({"--copy-file", "fdb.cluster"}));
  const std::string base = "https://127.0.0.1:" + std::to_string(port_);
  const auto curl = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {kCurl, "-sS", "--max-time", "30", "-k"});
    return support::run_program(more).out;
  };
  const std::vector<std::string> identity = {"--cert", cert, "--key", key};
  const auto known = [&](std::vector<std::string> more) {
    more.insert(more.end(), identity.begin(), identity.end());
    return curl(std::move(more));
  };
  EXPECT_EQ(curl({base + "/ready"}), "OK\n");
  EXPECT_EQ(curl({"-o", "/dev/null", "-w", "%{http_code}", base + "/substitutions"}), "401");
  EXPECT_THAT(known({base + "/substitutions"}), HasSubstr(R"("FDB_POD_IP": "127.0.0.1")"));
  EXPECT_EQ(known({base + "/check_hash/fdb.cluster"}),
            "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
  EXPECT_EQ(known({"-X", "POST", "-d", "{}", base + "/copy_files"}), "OK\n");
  EXPECT_EQ(known({"-o", "/dev/null", "-w", "%{http_code}", "--path-as-is",
                   base + "/check_hash/../tls/client.key"}),
            "404");
}

TEST_F(SidecarProgram, NewCertificatesAreUsedWhenAsked) {
  use_tls();
  client_ = issue("operator");
  ASSERT_TRUE(start());
  const auto served = [&] {
    Connection connection(port_);
    EXPECT_TRUE(connection.secure(&*client_));
    return connection.server_name();
  };
  EXPECT_EQ(served(), "server-1");
  install_certificate("server-2");
  EXPECT_EQ(post("/refresh_certs").body, "OK\n");
  EXPECT_EQ(served(), "server-2");
  // A key that does not fit: the old pair stays, and it is said every time.
  folder_.write("tls/key.pem", issue("server-3").key_pem);
  EXPECT_EQ(post("/refresh_certs").status, 500);
  EXPECT_EQ(post("/refresh_certs").status, 500);
  EXPECT_EQ(served(), "server-2");
  install_certificate("server-4");
  EXPECT_EQ(post("/refresh_certs").status, 200);
  EXPECT_EQ(served(), "server-4");
  // The authorities are read again, too.
  authority_ = support::make_certificate({{{"CN", "NextCA"}}, "", nullptr, true});
  folder_.write("tls/ca.pem", authority_->certificate_pem);
  EXPECT_EQ(post("/refresh_certs").status, 200);
  EXPECT_EQ(get("/substitutions").status, 0);  // the handshake fails
  client_ = issue("operator");
  EXPECT_EQ(get("/substitutions").status, 200);
}

TEST_F(SidecarProgram, WithoutTlsThereAreNoCertificates) {
  ASSERT_TRUE(start());
  const Answered answer = post("/refresh_certs");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.reason, "Server is not using TLS");
}

TEST_F(SidecarProgram, TlsWithoutGoodFilesIsTheEnd) {
  use_tls();
  folder_.write("tls/key.pem", "no key");
  EXPECT_EQ(run({}), 1);
  EXPECT_THAT(log_, HasSubstr("key.pem"));
  environment_.erase("FDB_TLS_KEY_FILE");
  EXPECT_EQ(run({}), 1);
  EXPECT_THAT(log_, HasSubstr("FDB_TLS_KEY_FILE"));
}

// As the kubelet does it, every few seconds.
TEST_F(SidecarProgram, AProbeThatOnlyConnectsIsNoNews) {
  use_tls();
  ASSERT_TRUE(start());
  for (int i = 0; i < 3; ++i)
    const Connection probe(port_);
  Connection stranger(port_);
  stranger.send("GET /ready HTTP/1.1\r\n\r\n");
  EXPECT_EQ(stranger.receive().status, 0);
  EXPECT_TRUE(log_says("tls.refused"));
  EXPECT_EQ(get("/ready").status, 200);
  EXPECT_TRUE(log_says("GET /ready"));
  EXPECT_THAT(log_, Not(HasSubstr("stream truncated")));
  EXPECT_EQ(log_.find("tls.refused"), log_.rfind("tls.refused")) << log_;
}

TEST_F(SidecarProgram, WarnsOfRulesThatNeverMatch) {
  use_tls("R.CN=TestCA");
  ASSERT_TRUE(start());
  EXPECT_TRUE(log_says("never match")) << log_;
}

// Whether the end of its sending is seen before the answer is ready is chance: so many times.
TEST_F(SidecarProgram, AnswersClientsThatHaveFinishedSending) {
  folder_.write("out/small", "abc");
  ASSERT_TRUE(start());
  for (int i = 0; i < 100; ++i) {
    for (const char* call : {"check_hash", "is_present"}) {
      Connection connection(port_);
      connection.send(std::string("GET /") + call + "/small HTTP/1.1\r\nHost: pod\r\n\r\n");
      connection.finish_sending();
      ASSERT_EQ(connection.receive().status, 200) << call << ", turn " << i;
    }
  }
  EXPECT_EQ(get("/nowhere").status, 404);
  EXPECT_TRUE(log_says("\"GET /nowhere\" 404"));
  EXPECT_EQ(log_.find("ERROR"), std::string::npos);
}

TEST_F(SidecarProgram, EveryRequestIsLogged) {
  ASSERT_TRUE(start());
  EXPECT_EQ(get("/nowhere").status, 404);
  EXPECT_TRUE(log_says("\"GET /nowhere\" 404"));
  EXPECT_THAT(log_,
              testing::MatchesRegex("[0-9]+-[0-9]+-[0-9]+ [0-9:]+,[0-9]+ INFO Listening(.|\n)*"));
}

}  // namespace
}  // namespace fdbpack::sidecar
