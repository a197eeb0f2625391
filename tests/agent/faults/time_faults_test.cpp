// SPDX-License-Identifier: Apache-2.0
//
// Clocks that jump, and an agent that hangs.
#include "tests/support/agent_fixture.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace fdbpack::test {
namespace {

class Fault27 : public AgentTest {
 protected:
  void start_with_clock() {
    write_file(dir().file("jump"), "0");
    AgentOptions options;
    options.environment = {"LD_PRELOAD=" FDBPACK_CLOCK_JUMP,
                           "CLOCK_JUMP_FILE=" + dir().file("jump"),
                           "ASAN_OPTIONS=verify_asan_link_order=0"};
    start_agent(options);
  }

  // Times in the log are those of the wall clock: they show that the jump is seen at all.
  [[nodiscard]] double last_log_time() const {
    const std::string text = log();
    const std::size_t at = text.rfind("Time=\"");
    return at == std::string::npos ? 0 : std::atof(text.c_str() + at + 6);
  }
};

// What systemd does for a unit of Type=notify, as far as an agent can tell.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : path_(path) {
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const void* untyped = &address;
    is_bound_ = bind(fd_, static_cast<const sockaddr*>(untyped), sizeof address) == 0;
  }
  ~NotifySocket() { close(fd_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  [[nodiscard]] bool is_bound() const { return is_bound_; }

  // True when a message with this line comes within the limit; others are read and dropped.
  bool wait_for(const std::string& line, Seconds limit) {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
    while (std::chrono::steady_clock::now() < end) {
      pollfd waiting{fd_, POLLIN, 0};
      if (poll(&waiting, 1, 20) != 1) continue;
      char text[4096];
      const ssize_t size = recv(fd_, text, sizeof text, MSG_DONTWAIT);
      if (size <= 0) continue;
      const std::string message = "\n" + std::string(text, static_cast<std::size_t>(size)) + "\n";
      if (message.find("\n" + line + "\n") != std::string::npos) return true;
    }
    return false;
  }

  void drop_all() {
    char text[4096];
    while (recv(fd_, text, sizeof text, MSG_DONTWAIT) > 0) {
    }
  }

 private:
  std::string path_;
  int fd_ = -1;
  bool is_bound_ = false;
};

class Fault49 : public AgentTest {};

TEST_F(Fault27, ClockThatJumpsAnHourRestartsNobody) {
  write_conf({{"a", ""}, {"b", ""}}, "restart_delay = 2\n");
  start_with_clock();
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  for (const char* jump : {"3600", "-3600", "0"}) {
    write_file(dir().file("jump"), jump);
    const double before = last_log_time();
    ASSERT_NO_FATAL_FAILURE(reload());
    if (std::strcmp(jump, "3600") == 0) {
      ASSERT_TRUE(wait([&] { return last_log_time() > before + 3000; }))
          << "the jump is not seen by the agent";
    }
    EXPECT_EQ(stamps().size(), 2u);
  }
  EXPECT_EQ(living().size(), 2u);
}

TEST_F(Fault27, RestartDelayIsNotMovedByAJump) {
  write_conf({{"a", "mode = exit\ncode = 1\n"}}, "restart_delay = 3\ninitial_restart_delay = 3\n");
  start_with_clock();
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_log("restarting in"));
  write_file(dir().file("jump"), "-3600");
  ASSERT_TRUE(wait_for_starts("a", 2, Seconds(30)));
  write_file(dir().file("jump"), "3600");
  ASSERT_TRUE(wait_for_starts("a", 3, Seconds(30)));
  const auto all = stamps();
  EXPECT_GT(all[1].ns - all[0].ns, 1'500'000'000u);
  EXPECT_LT(all[1].ns - all[0].ns, 8'000'000'000u);
  EXPECT_GT(all[2].ns - all[1].ns, 1'500'000'000u) << "an hour forward ended the delay";
}

TEST_F(Fault49, WatchdogIsFedByTheLoopAndAHungAgentCostsNoChild) {
  NotifySocket systemd(dir().file("notify"));
  ASSERT_TRUE(systemd.is_bound());
  write_conf({{"a", ""}, {"b", ""}});
  AgentOptions options;
  options.environment = {"NOTIFY_SOCKET=" + dir().file("notify"), "WATCHDOG_USEC=600000"};
  start_agent(options);
  ASSERT_TRUE(systemd.wait_for("READY=1", kLimit));
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  ASSERT_TRUE(systemd.wait_for("WATCHDOG=1", kLimit));
  ASSERT_TRUE(systemd.wait_for("WATCHDOG=1", kLimit));
  // The loop hangs: no more signs of life. What systemd does then is kill and start anew.
  signal_agent(SIGSTOP);
  ASSERT_TRUE(wait([&] { return process_info(agent_pid()).state == 'T'; }));
  systemd.drop_all();
  EXPECT_FALSE(systemd.wait_for("WATCHDOG=1", Seconds(1)));
  kill_agent();
  start_agent(options);
  ASSERT_TRUE(systemd.wait_for("READY=1", kLimit));
  EXPECT_EQ(stamps().size(), 2u);
  EXPECT_EQ(living().size(), 2u);
  signal_agent(SIGTERM);
  EXPECT_TRUE(systemd.wait_for("STOPPING=1", kLimit));
  EXPECT_EQ(wait_for_agent(), 0);
}

}  // namespace
}  // namespace fdbpack::test
