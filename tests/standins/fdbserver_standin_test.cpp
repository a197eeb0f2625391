// SPDX-License-Identifier: Apache-2.0
//
// fdbserver-standin says and does what was captured from fdbserver 7.1.67.
#include "tests/support/files.hpp"
#include "tests/support/places.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace fdbpack::test {
namespace {

constexpr Seconds kLimit{20};

struct Ended {
  int code = 0;  // -N: ended by signal N
  std::string out;
  std::string err;
};

class Standin : public ::testing::Test {
 protected:
  Standin() : port_(free_port()) {
    write_file(dir_.file("fdb.cluster"), "test:id@" + address() + "\n");
    write_file(dir_.file("empty"), "");
    write_file(dir_.file("bad"), "garbage\n");
  }

  ~Standin() override {
    if (pid_ <= 0) return;
    Pidfd(pid_).send(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> argv = {program(), "--cluster_file=" + dir_.file("fdb.cluster"),
                                     "--public_address=" + address(),
                                     "--datadir=" + dir_.file("deep/data")};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }

  void start(const std::vector<std::string>& argv) {
    const int out = open(dir_.file("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int err = open(dir_.file("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    pid_ = spawn({argv, environment_with({}), -1, out, err});
    close(out);
    close(err);
  }

  [[nodiscard]] Ended wait_for_end() {
    int status = 0;
    EXPECT_TRUE(Pidfd(pid_).wait_for_end(kLimit));
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            read_file(dir_.file("out")), read_file(dir_.file("err"))};
  }

  [[nodiscard]] Ended run(const std::vector<std::string>& argv) {
    start(argv);
    return wait_for_end();
  }

  void start_and_join() {
    start(arguments({"--class=storage"}));
    ASSERT_TRUE(eventually(dir_.path().string(), kLimit, [&] {
      return read_file(dir_.file("out")).find("FDBD joined cluster.\n") != std::string::npos;
    }));
  }

  [[nodiscard]] static std::string program() { return test::program_file("fdbserver-standin"); }
  [[nodiscard]] static std::string advice() {
    return "Try `" + program() + " --help' for more information.\n";
  }

  support::TempDir dir_;
  int port_;
  pid_t pid_ = 0;
};

TEST_F(Standin, RefusesBadArgumentsWithCodeOne) {
  struct Case {
    std::string flag;
    std::string message;
  };
  for (const Case& bad :
       {Case{"--no_such_flag=1", "ERROR: unknown option: `--no_such_flag'\n"},
        Case{"--class=bogus", "ERROR: Unknown machine class `bogus'\n"},
        Case{"--memory=lots", "ERROR: Could not parse memory limit from `lots'\n"},
        Case{"extra", "ERROR: unknown option: `extra'\n"},
        Case{"--memory=2GiB", "ERROR: --memory has to be larger than --cache-memory\n"}}) {
    const Ended ended = run(arguments({bad.flag}));
    EXPECT_EQ(ended.code, 1) << bad.flag;
    EXPECT_EQ(ended.err, bad.message + advice()) << bad.flag;
  }
}

TEST_F(Standin, LeavesWithCodeTenWithoutAClusterFile) {
  for (const char* name : {"empty", "bad", "none"}) {
    const Ended ended = run({program(), "-C", dir_.file(name), "-p", address()});
    EXPECT_EQ(ended.code, 10) << name << ": " << ended.err;
  }
}

TEST_F(Standin, JoinsListensLocksAndTearsItsArgumentsApart) {
  ASSERT_NO_FATAL_FAILURE(start_and_join());
  EXPECT_EQ(read_file(dir_.file("out")).rfind("fdbserver-standin: not FoundationDB", 0), 0u);
  const std::string arguments_now = read_file("/proc/" + std::to_string(pid_) + "/cmdline");
  EXPECT_NE(arguments_now.find(std::string("--class\0storage", 15)), std::string::npos);
  const pid_t first = std::exchange(pid_, 0);
  const Ended same_port = run(arguments({}));
  EXPECT_EQ(same_port.code, 1);
  EXPECT_NE(same_port.err.find("(Local address in use)"), std::string::npos);
  const Ended same_data =
      run({program(), "-C", dir_.file("fdb.cluster"), "-p",
           "127.0.0.1:" + std::to_string(free_port()), "-d", dir_.file("deep/data")});
  EXPECT_EQ(same_data.code, 1);
  EXPECT_EQ(same_data.err, "Fatal Error: Disk i/o operation failed\n");
  pid_ = first;
}

TEST_F(Standin, SignalsEndItAsTheyEndFdbserver) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    ASSERT_NO_FATAL_FAILURE(start_and_join());
    Pidfd(pid_).send(number);
    EXPECT_EQ(wait_for_end().code, -number);
  }
  ASSERT_NO_FATAL_FAILURE(start_and_join());
  Pidfd(pid_).send(SIGSEGV);
  const Ended crashed = wait_for_end();
  EXPECT_EQ(crashed.code, -SIGSEGV);
  EXPECT_EQ(crashed.err.rfind("SIGNAL: Segmentation fault (11)\n", 0), 0u);
}

TEST_F(Standin, KillOverTheNetworkIsACleanExit) {
  ASSERT_NO_FATAL_FAILURE(start_and_join());
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port_));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const void* untyped = &to;
  ASSERT_EQ(connect(fd, static_cast<const sockaddr*>(untyped), sizeof to), 0);
  ASSERT_EQ(write(fd, "standin kill\n", 13), 13);
  EXPECT_EQ(wait_for_end().code, 0);
  close(fd);
}

}  // namespace
}  // namespace fdbpack::test
