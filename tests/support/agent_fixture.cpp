// SPDX-License-Identifier: Apache-2.0
#include "tests/support/agent_fixture.hpp"

#include "tests/support/places.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <utility>

namespace fdbpack::test {
namespace {

constexpr const char* kMark = "AGENT_TEST_MARK";

std::string new_mark() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return std::to_string(getpid()) + "." + std::to_string(now);
}

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

AgentTest::AgentTest() : mark_(new_mark()) {
  // Children of other users report here, too.
  std::filesystem::permissions(dir_.path(), std::filesystem::perms::all);
  log_fd_ = open(dir_.file("agent.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

AgentTest::~AgentTest() {
  kill_agent();
  kill_marked(kMark, mark_);
  close(log_fd_);
  if (HasFailure()) {
    const std::string text = log();
    const std::size_t from = text.size() > 8000 ? text.size() - 8000 : 0;
    std::string shown = text.substr(from);
    std::replace(shown.begin(), shown.end(), '\0', '?');
    printf("---- agent.log%s\n%s---- stamps\n%s----\n", from > 0 ? " (its end)" : "", shown.c_str(),
           read_file(dir_.file("stamps")).c_str());
  }
}

std::string AgentTest::child_program() {
  return test::program_file("test-child");
}

std::string AgentTest::agent_program() {
  return test::program_file("fdbpack-agent");
}

std::string AgentTest::conf(const std::vector<Section>& sections,
                            const std::string& general) const {
  std::string text = "[general]\n" + general;
  text += "[child]\ncommand = " + child_program() + "\nid = $ID\nstamp = " + dir_.file("stamps");
  text += "\n";
  for (const Section& section : sections) {
    text += "[child." + section.id + "]\n" + section.lines;
    if (!section.lines.empty() && section.lines.back() != '\n') text += "\n";
  }
  return text;
}

void AgentTest::write_conf(const std::vector<Section>& sections, const std::string& general) {
  replace_file(conf_path(), conf(sections, general));
}

std::vector<std::string> AgentTest::marked_environment() const {
  return environment_with({std::string(kMark) + "=" + mark_});
}

std::vector<std::string> AgentTest::command(const AgentOptions& options) const {
  std::vector<std::string> argv = options.prefix;
  for (const std::string& word :
       {options.program.empty() ? agent_program() : options.program, std::string("monitor"),
        std::string("--conffile"), conf_path(), std::string("--lockfile"), dir_.file("lock")}) {
    argv.push_back(word);
  }
  if (options.has_state_dir) {
    argv.push_back("--statedir");
    argv.push_back(dir_.file("state"));
  }
  // Agents of tests that run at the same time would want one port.
  const auto& more = options.arguments;
  if (std::find(more.begin(), more.end(), "--listen") == more.end()) {
    argv.insert(argv.end(), {"--listen", "off"});
  }
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

void AgentTest::start_agent(const AgentOptions& options) {
  ASSERT_EQ(agent_pid_, 0) << "an agent runs already";
  std::vector<std::string> more = options.environment;
  more.push_back(std::string(kMark) + "=" + mark_);
  const int error = options.error >= 0 ? options.error : log_fd_;
  agent_pid_ = spawn({command(options), environment_with(more), -1, log_fd_, error});
}

void AgentTest::kill_and_start_agent(const AgentOptions& options) {
  const pid_t old = std::exchange(agent_pid_, 0);
  kill(old, SIGKILL);
  start_agent(options);
  EXPECT_EQ(wait_for_exit(old), -SIGKILL);
}

void AgentTest::signal_agent(int signal) const {
  ASSERT_GT(agent_pid_, 0);
  kill(agent_pid_, signal);
}

AgentOptions AgentTest::with_grace(int seconds) {
  AgentOptions options;
  options.arguments = {"--stop-grace", std::to_string(seconds)};
  return options;
}

int AgentTest::wait_for_exit(pid_t pid, Seconds limit) {
  int status = 0;
  if (!Pidfd(pid).wait_for_end(limit) || waitpid(pid, &status, 0) != pid) return -1;
  return exit_code(status);
}

int AgentTest::wait_for_agent(Seconds limit) {
  if (!Pidfd(agent_pid_).wait_for_end(limit)) return -1;
  return wait_for_exit(std::exchange(agent_pid_, 0));
}

int AgentTest::stop_agent(Seconds limit) {
  signal_agent(SIGTERM);
  return wait_for_agent(limit);
}

void AgentTest::kill_agent() {
  if (agent_pid_ == 0) return;
  kill(agent_pid_, SIGKILL);
  (void)wait_for_agent();
}

bool AgentTest::wait(const std::function<bool()>& holds, Seconds limit) const {
  return eventually(dir_.path().string(), limit, holds);
}

bool AgentTest::wait_for_log(const std::string& text, std::size_t from, Seconds limit) const {
  return wait([&] { return log().find(text, from) != std::string::npos; }, limit);
}

std::size_t AgentTest::count_in_log(const std::string& text) const {
  const std::string all = log();
  std::size_t count = 0;
  for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1))
    ++count;
  return count;
}

std::vector<Stamp> AgentTest::stamps() const {
  std::vector<Stamp> result;
  std::istringstream lines(read_file(dir_.file("stamps")));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Stamp stamp;
    std::string word;
    if (words >> stamp.ns >> stamp.pid >> stamp.id >> word) {
      stamp.is_double = word == "double";
      result.push_back(stamp);
    }
  }
  return result;
}

std::size_t AgentTest::starts(const std::string& id) const {
  const auto all = stamps();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Stamp& s) { return s.id == id; }));
}

std::size_t AgentTest::doubles() const {
  const auto all = stamps();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Stamp& s) { return s.is_double; }));
}

pid_t AgentTest::last_pid(const std::string& id) const {
  const auto all = stamps();
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [&](const Stamp& s) { return s.id == id; });
  return found == all.rend() ? 0 : found->pid;
}

bool AgentTest::wait_for_starts(const std::string& id, std::size_t count, Seconds limit) const {
  return wait([&] { return starts(id) >= count; }, limit);
}

std::vector<std::string> AgentTest::living() const {
  std::vector<std::string> ids;
  for (const Stamp& stamp : stamps()) {
    if (is_alive(stamp.pid) && environment_of(stamp.pid, kMark) == mark_) ids.push_back(stamp.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

nlohmann::json AgentTest::status() const {
  auto document = nlohmann::json::parse(read_file(dir_.file("state/status.json")), nullptr, false);
  // What an agent before this one wrote says nothing about now.
  const bool is_of_now = document.is_object() && document.contains("agent") &&
                         document["agent"].value("pid", 0) == agent_pid_;
  return is_of_now ? document : nlohmann::json::object();
}

nlohmann::json AgentTest::status_of(const std::string& section) const {
  const auto processes = status().value("processes", nlohmann::json::object());
  return processes.value(section, nlohmann::json::object());
}

nlohmann::json AgentTest::last_exit(const std::string& section) const {
  return status_of(section).value("last_exit", nlohmann::json::object());
}

void AgentTest::reload() {
  const std::size_t from = log_size();
  signal_agent(SIGHUP);
  ASSERT_TRUE(wait_for_log("Loading configuration", from));
}

}  // namespace fdbpack::test
