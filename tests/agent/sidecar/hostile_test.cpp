// SPDX-License-Identifier: Apache-2.0
//
// Clients that mean ill, disks that are full, and a sidecar that is killed.
#include "tests/agent/sidecar/fixture.hpp"
#include "tests/support/run_program.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

namespace fdbpack::sidecar {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using SidecarHostile = SidecarProgram;

constexpr const char* kSecret = "hello world";
constexpr const char* kSecretHash =
    "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";

TEST_F(SidecarHostile, NoPathLeadsOut) {
  const std::string secret = folder_.write("secret/file", kSecret);
  folder_.write("out-beside/file", kSecret);  // a name that begins like the directory's
  folder_.write("out/inside/file", kSecret);
  const auto link = [&](const std::string& name, const std::string& to) {
    fs::create_symlink(to, output_dir() + "/" + name);
  };
  link("absolute", secret);
  link("relative", "../secret/file");
  link("folder", "../secret");
  link("absolute-folder", folder_.file("secret"));
  link("inside/up", "../..");
  link("proc", "/proc/self/root");
  link("loop", "loop");
  link("good", "inside/file");
  const std::vector<std::string> ways = {"../secret/file",
                                         "inside/../../secret/file",
                                         "./../secret/file",
                                         "..//secret/file",
                                         "../../../../../../../.." + secret,
                                         "/" + secret,
                                         secret,
                                         "%2e%2e/secret/file",
                                         "..%2fsecret%2ffile",
                                         "%2e%2e%2fsecret/file",
                                         "..%5csecret%5cfile",
                                         "..\\secret\\file",
                                         "....//secret/file",
                                         "../out-beside/file",
                                         "../out/../secret/file",
                                         "absolute",
                                         "relative",
                                         "folder/file",
                                         "absolute-folder/file",
                                         "inside/up/secret/file",
                                         "proc" + secret,
                                         "proc/etc/passwd",
                                         "loop",
                                         "loop/x",
                                         "inside/up/out-beside/file",
                                         "../check_hash/../secret/file",
                                         "inside/up/out/inside/up/secret/file",
                                         "..",
                                         "../",
                                         "%00",
                                         "file%00../secret/file",
                                         std::string(3000, 'a'),
                                         std::string(300, 'a') + "/b"};
  for (const char* version : {"7.1.43", "7.4.5"}) {
    version_ = version;
    ASSERT_TRUE(start());
    for (const std::string& way : ways) {
      for (const char* call : {"/check_hash/", "/is_present/"}) {
        SCOPED_TRACE(std::string(version) + " " + call + way);
        const Answered answer = get(call + way);
        EXPECT_GE(answer.status, 400);
        EXPECT_NE(answer.status, 0);
        EXPECT_THAT(answer.body, Not(HasSubstr(kSecretHash)));
      }
    }
    EXPECT_EQ(get("/check_hash/inside/file").body, kSecretHash);
    EXPECT_EQ(get("/check_hash/good").body, kSecretHash);
    EXPECT_EQ(get("/is_present/inside").status, 200);
    const int denied = version_ == "7.1.43" ? 404 : 403;
    EXPECT_EQ(get("/check_hash/relative").status, denied);
    EXPECT_EQ(get("/is_present/folder/nothing").status, denied);  // there or not is not told
    kill_program(SIGKILL);
  }
}

TEST_F(SidecarHostile, CopiesDoNotFollowLinksOut) {
  write_input("fdb.cluster", "new");
  folder_.write("usr/bin/fdbserver", "binary");
  folder_.write("outside/fdb.cluster", "precious");
  fs::create_directory(folder_.file("outside/bin"));
  fs::create_symlink("../outside/fdb.cluster", output_dir() + "/fdb.cluster");
  EXPECT_EQ(run({"--copy-file", "fdb.cluster", "--init-mode"}), 0);
  EXPECT_FALSE(fs::is_symlink(output_dir() + "/fdb.cluster"));  // replaced, not written through
  EXPECT_EQ(output("fdb.cluster"), "new");
  fs::create_directory_symlink("../outside/bin", output_dir() + "/bin");
  EXPECT_EQ(run({"--copy-binary", "fdbserver", "--init-mode"}), 1);
  EXPECT_THAT(log_, HasSubstr("leads out"));
  EXPECT_TRUE(fs::is_empty(folder_.file("outside/bin")));
}

TEST_F(SidecarHostile, ANameIsNeitherFieldNorAnswer) {
  ASSERT_TRUE(start());
  const Answered answer = get("/check_hash/<script>alert(1)</script>");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, Not(HasSubstr("<script>")));
  EXPECT_EQ(answer.rest, "");
}

TEST_F(SidecarHostile, WhatIsNoFileIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((output_dir() + "/fifo").c_str(), 0600), 0);
  ASSERT_TRUE(start());
  EXPECT_EQ(get("/check_hash/fifo").status, 500);
  EXPECT_EQ(get("/check_hash/").status, 500);
  EXPECT_EQ(get("/is_present/fifo").status, 200);
}

// Clients that connect and say nothing, or half of something, are nobody else's business.
TEST_F(SidecarHostile, StalledClientsHoldUpNobody) {
  ASSERT_TRUE(start());
  std::vector<std::unique_ptr<Connection>> stalled;
  for (int i = 0; i < 40; ++i) {
    stalled.push_back(std::make_unique<Connection>(port_));
    if (i % 2 == 1) stalled.back()->send("POST /copy_files HTTP/1.1\r\nHost: x\r\nContent-");
    if (i % 8 != 0) continue;
    EXPECT_EQ(get("/ready").status, 200) << i;
  }
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(get("/substitutions").status, 200);
  // More than there is room for: those that have stalled longest give way.
  for (int i = 0; i < 200; ++i)
    stalled.push_back(std::make_unique<Connection>(port_));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int status = 0;
  while ((status = get("/substitutions").status) != 200) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << status;
  }
}

TEST_F(SidecarHostile, AStalledHandshakeHoldsUpNobody) {
  use_tls();
  client_ = issue("operator");
  ASSERT_TRUE(start());
  std::vector<std::unique_ptr<Connection>> stalled;
  for (int i = 0; i < 10; ++i) {
    stalled.push_back(std::make_unique<Connection>(port_));
    if (i % 2 == 1) stalled.back()->send("\x16\x03\x01");
  }
  EXPECT_EQ(get("/ready").status, 200);
  EXPECT_EQ(get("/substitutions").status, 200);
}

// Plain HTTP on a TLS port, and a stranger's certificate.
TEST_F(SidecarHostile, StrangersGetNothing) {
  use_tls();
  ASSERT_TRUE(start());
  const auto other = support::make_certificate({{{"CN", "OtherCA"}}, "", nullptr, true});
  client_ = support::make_certificate({{{"CN", "operator"}}, "", &other});
  EXPECT_EQ(get("/substitutions").status, 0);
  client_ = support::make_certificate({{{"CN", "operator"}}, "", &*authority_, false, -60});
  EXPECT_EQ(get("/substitutions").status, 0);  // expired
  client_.reset();
  for (const char* target : {"/substitutions", "/check_hash/x", "/is_present/x", "/nowhere"})
    EXPECT_EQ(get(target).status, 401) << target;
  for (const char* target : {"/copy_files", "/refresh_certs", "/restart", "/nowhere"})
    EXPECT_EQ(post(target).status, 401) << target;
  EXPECT_EQ(get("/ready").status, 200);
  Connection plain(port_);
  plain.send("GET /substitutions HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(plain.receive().status, 0);
}

// A hash that takes minutes: others are answered, and the end does not wait for it.
TEST_F(SidecarHostile, ALongHashHoldsUpNothing) {
  folder_.write("out/huge", "");
  fs::resize_file(output_dir() + "/huge", std::uintmax_t{1} << 40);
  write_input("fdb.cluster", "x");
  ASSERT_TRUE(start({"--copy-file", "fdb.cluster"}));
  Connection hashing(port_);
  hashing.send("GET /check_hash/huge HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(get("/ready").status, 200);
  EXPECT_EQ(get("/substitutions").status, 200);
  EXPECT_EQ(post("/copy_files").status, 200);
  EXPECT_FALSE(hashing.has_input());
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(wait_for_end(), 0);
}

// Hashes that take minutes, for clients that have gone: they do not hold up those who still ask.
TEST_F(SidecarHostile, ClientsThatHaveGoneLeaveNoWorkBehind) {
  folder_.write("out/huge", "");
  fs::resize_file(output_dir() + "/huge", std::uintmax_t{1} << 40);
  ASSERT_TRUE(start({}));
  for (int i = 0; i < 8; ++i) {
    Connection impatient(port_);
    impatient.send("GET /check_hash/huge HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  EXPECT_EQ(get("/is_present/huge").status, 200);
  EXPECT_TRUE(log_says("\"GET /check_hash/huge\" 503"));
  EXPECT_THAT(log_, Not(HasSubstr("Error processing request"))) << "who leaves is no error";
}

// Killed while it copies, it leaves the old file or the new one, and the next start clears up.
TEST_F(SidecarHostile, KilledInTheMiddleOfACopyAFileIsWhole) {
  const std::string before(8 << 20, 'a');
  const std::string after(96 << 20, 'b');
  write_input("big", before);
  EXPECT_EQ(run({"--copy-file", "big", "--init-mode"}), 0);
  int cut_off = 0;
  for (int i = 0; i < 4; ++i) {
    write_input("big", before);
    ASSERT_TRUE(start({"--copy-file", "big"}));
    EXPECT_THAT(temporaries(output_dir()), IsEmpty());  // those of the last round are gone
    write_input("big", after);
    Connection copying(port_);
    copying.send("POST /copy_files HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (temporaries(output_dir()).empty() && !copying.has_input() &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    kill_program(SIGKILL);
    cut_off += temporaries(output_dir()).empty() ? 0 : 1;
    const std::string found = output("big");
    EXPECT_TRUE(found == before || found == after) << found.size();
  }
  EXPECT_GT(cut_off, 0) << "no copy was ever met in its middle";
  write_input("big", before);
  EXPECT_EQ(run({"--copy-file", "big", "--init-mode"}), 0);
  EXPECT_THAT(temporaries(output_dir()), IsEmpty());
  EXPECT_EQ(output("big"), before);
}

class SidecarOnAFullDisk : public SidecarProgram {
 protected:
  // Lets the program run with 256 KiB for its output; false when this machine does not allow it.
  bool mount() {
    const std::string script = "mount -t tmpfs -o size=256k tmpfs \"$0\" && exec \"$@\"";
    wrapper_ = {"/usr/bin/unshare"};
    if (::geteuid() != 0) wrapper_.push_back("--map-root-user");
    wrapper_.insert(wrapper_.end(), {"--mount", "--", "/bin/sh", "-c", script, output_dir()});
    if (!fs::exists(wrapper_[0])) return false;
    std::vector<std::string> probe = wrapper_;
    probe.push_back("/bin/true");
    return support::run_program(probe).exit_code == 0;
  }
  [[nodiscard]] std::string inside() const {
    return "/proc/" + std::to_string(pid_) + "/root" + output_dir();
  }
};

TEST_F(SidecarOnAFullDisk, TheOldFileStaysAndTheAnswerIsAnError) {
  if (!mount()) GTEST_SKIP() << "no mount namespace can be made here";
  write_input("fdb.cluster", kSecret);
  write_input("fdbmonitor.conf", kSecret);
  ASSERT_TRUE(start({"--copy-file", "fdb.cluster", "--input-monitor-conf", "fdbmonitor.conf"}));
  write_input("fdb.cluster", std::string(1 << 20, 'x'));
  write_input("fdbmonitor.conf", std::string(1 << 20, 'y'));
  for (const char* call : {"/copy_files", "/copy_monitor_conf"}) {
    const Answered answer = post(call);
    EXPECT_EQ(answer.status, 500) << call;
    EXPECT_EQ(answer.reason, "Internal Server Error") << call;
  }
  EXPECT_TRUE(log_says("No space left on device"));
  EXPECT_EQ(get("/check_hash/fdb.cluster").body, kSecretHash);
  EXPECT_EQ(get("/check_hash/fdbmonitor.conf").body, kSecretHash);
  EXPECT_THAT(temporaries(inside()), IsEmpty());
  write_input("fdb.cluster", "small again");
  EXPECT_EQ(post("/copy_files").status, 200);
  EXPECT_NE(get("/check_hash/fdb.cluster").body, kSecretHash);
}

}  // namespace
}  // namespace fdbpack::sidecar
