// SPDX-License-Identifier: Apache-2.0
//
// The launcher without an API server: configuration, processes, metrics, signals.
#include "tests/adapters/http/certificates.hpp"
#include "tests/launcher/fixture.hpp"
#include "tests/support/goldens.hpp"
#include "tests/support/run_program.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;

class Launcher : public LauncherTest {};

TEST_F(Launcher, RunsAsManyProcessesAsItIsToldAndCountsThem) {
  write_configuration(configuration());
  start_launcher({"--process-count", "2"});
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait_for_starts(id(2), 1));
  EXPECT_EQ(metric("restart_count{process=\"1\"}"), "1");
  EXPECT_EQ(metric("restart_count{process=\"2\"}"), "1");
  EXPECT_EQ(metric("configuration_change_count"), "1");
  EXPECT_EQ(metric("running_version{version=\"7.1.51\"}"), "1");
  EXPECT_EQ(metric("desired_version{version=\"7.1.51\"}"), "1");
  EXPECT_FALSE(metric("start_timestamp{process=\"1\"}").empty());
  EXPECT_FALSE(metric("last_applied_configuration_timestamp").empty());
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/livez").status, 200);
  EXPECT_EQ(get("/debug/pprof/heap").status, 404);

  const pid_t first = last_pid(id(1));
  ASSERT_TRUE(Pidfd(first).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts(id(1), 2));
  EXPECT_TRUE(wait([&] { return metric("restart_count{process=\"1\"}") == "2"; }));
  EXPECT_EQ(metric("restart_count{process=\"2\"}"), "1");
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

TEST_F(Launcher, IsChosenByTheNameOfItsLink) {
  write_configuration(configuration());
  const std::string link = dir().file("fdb-kubernetes-monitor");
  fs::create_symlink(agent_program(), link);
  AgentOptions options;
  options.prefix = {"sh", "-c", "link=$1; shift 3; exec \"$link\" \"$@\"", "sh", link};
  start_agent(options);
  EXPECT_TRUE(wait_for_starts(id(1), 1));
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(Launcher, TakesItsFlagsFromVariablesToo) {
  write_configuration(configuration());
  start_launcher({}, {"PROCESS_COUNT=3"});
  ASSERT_TRUE(wait_for_starts(id(3), 1));
  EXPECT_EQ(starts(id(4)), 0U);
}

TEST_F(Launcher, GivesProcessesTheCommandLinesOfTheOriginal) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_config");
  std::size_t seen = 0;
  const auto cases = support::golden_cases(folder);
  for (const auto& golden : cases) {
    if (golden.json.at("kind") != "generate_arguments") continue;
    SCOPED_TRACE(golden.name);
    ++seen;
    auto conf = golden.json.at("config");
    conf["version"] = kContainerVersion;  // whichever it names, its binary must be there
    write_configuration(conf.dump());
    std::vector<std::string> environment;
    for (const auto& [name, value] : golden.json.at("env").items())
      environment.push_back(name + "=" + value.get<std::string>());
    const int number = golden.json.at("process_number");
    start_launcher({"--process-count=" + std::to_string(number)}, environment);
    ASSERT_TRUE(wait([&] { return running(number) > 0; }));
    std::string expected = child_program() + std::string(1, '\0');
    const bool has_binary = golden.json.contains("binary_path");
    const auto words = golden.json.at("expected").get<std::vector<std::string>>();
    for (std::size_t i = has_binary ? 1 : 0; i < words.size(); ++i)
      expected += words[i] + std::string(1, '\0');
    const std::string path = "/proc/" + std::to_string(running(number)) + "/cmdline";
    EXPECT_TRUE(wait([&] { return read_file(path) == expected; })) << read_file(path);
    EXPECT_EQ(stop_agent(), 0);
  }
  EXPECT_EQ(seen, 3U);
}

TEST_F(Launcher, WaitsForAConfigurationThatIsMissing) {
  start_launcher();
  ASSERT_TRUE(wait_for_log("Waiting for a configuration in " + configuration_path()));
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/livez").status, 200);
  write_configuration(configuration());
  EXPECT_TRUE(wait_for_starts(id(1), 1));
  EXPECT_TRUE(wait([&] { return get("/readyz").status == 200; }));
}

TEST_F(Launcher, IsStoppedWhileItWaits) {
  start_launcher();
  ASSERT_TRUE(wait_for_log("Waiting for a configuration"));
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(Launcher, KeepsTheLastGoodConfiguration) {
  const std::string good = configuration();
  write_configuration(good);
  start_launcher();
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  const pid_t pid = last_pid(id(1));
  for (const std::string& bad :
       {good.substr(0, good.size() / 2), std::string(), std::string("{}"), std::string("[]"),
        std::string(R"({"version":"latest"})"), configuration({}, "9.9.9"),
        std::string(R"({"version":"7.1.51","arguments":[{"type":"Environment","source":"NO_X"}]})"),
        std::string(R"({"version":"7.1.51","arguments":[{"type":"Riddle"}]})")}) {
    SCOPED_TRACE(bad);
    const std::size_t from = log_size();
    write_configuration(bad);
    ASSERT_TRUE(wait_for_log("keeping the last good one", from));
  }
  fs::remove(configuration_path());
  ASSERT_TRUE(wait_for_log("No such file"));
  EXPECT_TRUE(is_alive(pid));
  ASSERT_TRUE(Pidfd(pid).send(SIGKILL));
  EXPECT_TRUE(wait_for_starts(id(1), 2)) << "it is still started by the last good one";
  EXPECT_EQ(metric("configuration_change_count"), "1");
}

// As the kubelet does it: config.json -> ..data/config.json, ..data -> a folder, renamed over.
TEST_F(Launcher, FollowsAConfigMapAndRestartsNothingForIt) {
  const auto flip = [&](const std::string& folder, const std::string& text) {
    write_file(dir().write("conf/" + folder + "/config.json", ""), text);
    fs::create_directory_symlink(folder, dir().file("conf/..data_tmp"));
    fs::rename(dir().file("conf/..data_tmp"), dir().file("conf/..data"));
  };
  flip("..one", configuration());
  fs::create_symlink("..data/config.json", configuration_path());
  start_launcher();
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  const pid_t pid = last_pid(id(1));
  flip("..two", configuration({"--new=argument"}));
  fs::remove_all(dir().file("conf/..one"));
  ASSERT_TRUE(wait([&] { return metric("configuration_change_count") == "2"; }));
  EXPECT_TRUE(is_alive(pid)) << "a new configuration waits for the next start";
  EXPECT_TRUE(
      wait([&] { return status_of("fdbserver.1").value("pending_change", "") == "command"; }));
  ASSERT_TRUE(Pidfd(pid).send(SIGTERM));
  ASSERT_TRUE(wait_for_starts(id(1), 2));
  EXPECT_NE(
      read_file("/proc/" + std::to_string(last_pid(id(1))) + "/cmdline").find("--new=argument"),
      std::string::npos);
}

TEST_F(Launcher, StopsItsProcessesForRunServersFalseAndStartsThemAgain) {
  write_configuration(configuration());
  start_launcher({"--process-count=2"});
  ASSERT_TRUE(wait_for_starts(id(2), 1));
  auto stopped = nlohmann::json::parse(configuration());
  stopped["runServers"] = false;
  write_configuration(stopped.dump());
  ASSERT_TRUE(wait([&] { return living().empty() && starts(id(1)) == 1; }));
  write_configuration(configuration());
  ASSERT_TRUE(wait_for_starts(id(1), 2));
  ASSERT_TRUE(wait_for_starts(id(2), 2));
  EXPECT_TRUE(wait([&] { return metric("restart_count{process=\"1\"}") == "2"; }));
}

TEST_F(Launcher, ShowsTheVersionsOfWhatLives) {
  const std::string binary = dir().file("shared/7.3.37/fdbserver");
  fs::create_directories(dir().file("shared/7.3.37"));
  fs::copy_file(child_program(), binary);
  write_configuration(configuration({}, "7.3.37"));
  start_launcher();
  ASSERT_TRUE(wait([&] { return running(1) > 0; }));
  kill_agent();
  // The next one adopts what it knows no configuration of.
  auto stopped = nlohmann::json::parse(configuration({"--new=argument"}));
  write_configuration(stopped.dump());
  const std::size_t from = log_size();
  start_launcher();
  ASSERT_TRUE(wait_for_log("Serving metrics", from));
  EXPECT_TRUE(wait([&] { return metric("running_version{version=\"7.3.37\"}") == "1"; }));
  EXPECT_EQ(metric("running_version{version=\"7.1.51\"}"), "");
  stopped["runServers"] = false;
  write_configuration(stopped.dump());
  EXPECT_TRUE(wait([&] { return metric("running_version{version=\"7.3.37\"}") == "0"; }));
}

TEST_F(Launcher, TakesAnotherVersionFromTheSharedBinariesAsSoonAsItIsThere) {
  write_configuration(configuration());
  start_launcher();
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  write_configuration(configuration({}, "7.3.37"));
  ASSERT_TRUE(wait_for_log("7.3.37/fdbserver"));
  EXPECT_EQ(metric("desired_version{version=\"7.1.51\"}"), "1");

  fs::create_directories(dir().file("shared/7.3.37"));
  const std::string binary = dir().file("shared/7.3.37/fdbserver");
  fs::copy_file(child_program(), binary);
  ASSERT_TRUE(wait_for_log("Configuration in force: version 7.3.37"));
  EXPECT_EQ(metric("desired_version{version=\"7.3.37\"}"), "1");
  EXPECT_EQ(metric("desired_version{version=\"7.1.51\"}"), "0");
  ASSERT_TRUE(Pidfd(last_pid(id(1))).send(SIGTERM));
  ASSERT_TRUE(wait_for_starts(id(1), 2));
  EXPECT_EQ(executable_of(last_pid(id(1))), binary);
  EXPECT_TRUE(wait([&] { return metric("running_version{version=\"7.3.37\"}") == "1"; }));
  EXPECT_EQ(metric("running_version{version=\"7.1.51\"}"), "0");
}

TEST_F(Launcher, WaitsSquaresOfTheFailuresBeforeIt) {
  write_configuration(configuration({"--mode=exit", "--code=3"}));
  start_launcher();
  ASSERT_TRUE(wait_for_starts(id(1), 4));
  const auto all = stamps();
  std::vector<double> gaps;
  for (std::size_t i = 1; i < 4; ++i) {
    gaps.push_back(static_cast<double>(all[i].ns - all[i - 1].ns) / 1e9);
  }
  EXPECT_LT(gaps[0], 1.0);
  EXPECT_GE(gaps[1], 1.0);
  EXPECT_LT(gaps[1], 4.0);
  EXPECT_GE(gaps[2], 4.0);
}

TEST_F(Launcher, GivesChildrenItsFolderAndItsEnvironment) {
  write_configuration(configuration({"--mode=report", "--report=" + dir().file("report")}));
  AgentOptions options;
  options.prefix = {"env", "-C", dir().path().string()};
  options.environment = {"GIVEN_BY_THE_POD=yes"};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  const pid_t pid = last_pid(id(1));
  EXPECT_EQ(environment_of(pid, "GIVEN_BY_THE_POD"), "yes");
  EXPECT_EQ(fs::read_symlink("/proc/" + std::to_string(pid) + "/cwd"), dir().path());
}

TEST_F(Launcher, UsesTheAdditionalEnvironment) {
  const std::string file = dir().write("env", "export ZONE=from-the-file\nnonsense\n");
  auto conf = nlohmann::json::parse(configuration());
  conf["arguments"].push_back(
      {{"type", "Concatenate"},
       {"values", {{{"value", "--zone="}}, {{"type", "Environment"}, {"source", "ZONE"}}}}});
  write_configuration(conf.dump());
  start_launcher({"--additional-env-file=" + file}, {"ZONE=from-the-pod"});
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  const std::string argv = read_file("/proc/" + std::to_string(last_pid(id(1))) + "/cmdline");
  EXPECT_NE(argv.find("--zone=from-the-file"), std::string::npos);
  EXPECT_TRUE(wait_for_log("cannot parse: nonsense"));
}

TEST_F(Launcher, AdoptsItsProcessesAfterItWasKilled) {
  write_configuration(configuration());
  start_launcher({"--process-count=2"});
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait_for_starts(id(2), 1));
  const pid_t first = last_pid(id(1));
  const pid_t second = last_pid(id(2));
  ASSERT_TRUE(wait([&] { return running(1) == first && running(2) == second; }));
  kill_agent();
  EXPECT_TRUE(is_alive(first));
  AgentOptions options;
  options.arguments = {"--process-count=2"};
  start_agent(options);
  ASSERT_TRUE(wait([&] { return running(1) == first && running(2) == second; }));
  EXPECT_EQ(status_of("fdbserver.1").value("adopted", false), true);
  EXPECT_EQ(starts(id(1)), 1U);
  EXPECT_EQ(doubles(), 0U);
  ASSERT_TRUE(Pidfd(first).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts(id(1), 2)) << "adopted ones are restarted like any other";
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

TEST_F(Launcher, StopsWhatAnEarlierOneStartedBeyondTheCount) {
  write_configuration(configuration());
  start_launcher({"--process-count=2"});
  ASSERT_TRUE(wait_for_starts(id(2), 1));
  ASSERT_TRUE(wait([&] { return running(1) > 0 && running(2) > 0; }));
  kill_agent();
  start_agent();
  ASSERT_TRUE(wait([&] { return living() == std::vector<std::string>{id(1)}; }));
}

TEST_F(Launcher, RunsAsPidOne) {
  if (run_to_end({"unshare", "--pid", "--fork", "--mount-proc", "true"}) != 0) {
    GTEST_SKIP() << "needs a pid namespace: run as root";
  }
  write_configuration(configuration());
  AgentOptions options;
  options.prefix = {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  pid_t inside = 0;
  pid_t child = 0;
  for (const pid_t pid : processes_marked("AGENT_TEST_MARK", mark())) {
    if (process_info(pid).parent == agent_pid()) inside = pid;
    if (environment_of(pid, "FDBPACK_PROCESS") == "fdbserver.1") child = pid;
  }
  ASSERT_GT(inside, 0);
  ASSERT_GT(child, 0);
  ASSERT_TRUE(Pidfd(child).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts(id(1), 2));
  ASSERT_TRUE(Pidfd(inside).send(SIGTERM));
  EXPECT_EQ(wait_for_agent(), 0);
}

TEST_F(Launcher, RefusesASecondOneOnTheSameState) {
  write_configuration(configuration());
  start_launcher();
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  const pid_t second = spawn({command({}), marked_environment(), -1, log_fd(), log_fd()});
  EXPECT_EQ(wait_for_exit(second), 69);
  EXPECT_EQ(starts(id(1)), 1U);
}

TEST_F(Launcher, RefusesASecondOneWithoutAStateDirectory) {
  write_configuration(configuration());
  AgentOptions options;
  options.arguments = {"--state-dir=" + dir().write("a-file", "") + "/state"};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  EXPECT_TRUE(wait_for_log("The state directory cannot be used"));
  const pid_t second = spawn({command(options), marked_environment(), -1, log_fd(), log_fd()});
  EXPECT_EQ(wait_for_exit(second), 69);
  EXPECT_EQ(starts(id(1)), 1U);
  kill_agent();
  start_agent(options);
  EXPECT_TRUE(wait_for_log("fdbserver.1", log_size())) << "the name is free again";
  EXPECT_TRUE(is_alive(last_pid(id(1))));
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(Launcher, WritesItsLogToAFileAndToStdout) {
  write_configuration(configuration({"--mode=say", "--text=said by the child", "--to=2"}));
  const std::string file = dir().file("logs/deep/monitor.log");
  start_launcher({"--log-path", file});
  ASSERT_TRUE(wait_for_log("said by the child"));
  ASSERT_TRUE(wait([&] { return read_file(file).find("said by the child") != std::string::npos; }));
  std::istringstream lines(read_file(file));
  bool is_there = false;
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(entry.is_object()) << line;
    EXPECT_TRUE(entry.at("ts").is_number());
    if (entry.at("msg") != "said by the child") continue;
    is_there = true;
    EXPECT_EQ(entry.at("level"), "error");
    EXPECT_EQ(entry.at("process"), "fdbserver.1");
  }
  EXPECT_TRUE(is_there);
}

TEST_F(Launcher, DoesNotNeedItsMetricsPort) {
  const std::string taken = [&] {
    write_configuration(configuration());
    start_launcher();
    return std::to_string(port());
  }();
  ASSERT_NE(taken, "0");
  fs::create_directories(dir().file("other"));
  write_file(dir().file("other/config.json"), configuration({"--id=other"}));
  AgentOptions options;
  options.arguments = {"--listen-address=127.0.0.1:" + taken, "--input-dir=" + dir().file("other"),
                       "--state-dir=" + dir().file("other-state")};
  const pid_t second = spawn({command(options), marked_environment(), -1, log_fd(), log_fd()});
  EXPECT_TRUE(wait_for_log("Metrics are not served"));
  EXPECT_TRUE(wait([&] { return starts(id(1)) + starts("other") == 2; }));
  kill(second, SIGTERM);
  EXPECT_EQ(wait_for_exit(second), 0);
}

TEST_F(Launcher, TakesTheOtherHalfOfItsMetricsPortWhenItComesFree) {
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  const int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int outcome = bind(probe, reinterpret_cast<const sockaddr*>(&six), sizeof six);
  if (probe >= 0) close(probe);
  if (outcome != 0) GTEST_SKIP() << "there is no ::1 on this machine";

  DeafServer four;
  const std::string number = std::to_string(four.port());
  write_configuration(configuration());
  start_launcher({"--listen-address=localhost:" + number});
  ASSERT_TRUE(wait_for_log("Serving metrics on ::1 port " + number));
  EXPECT_TRUE(wait_for_log("not served at every address, it is tried again: listening on 127"));
  four.close();
  ASSERT_TRUE(wait_for_log("Serving metrics on 127.0.0.1 port " + number, 0, Seconds(60)));
  EXPECT_EQ(get("/livez").status, 200);
}

TEST_F(Launcher, ServesMetricsWithTlsWhenItHasACertificate) {
  if (run_to_end({"curl", "--version"}) != 0) GTEST_SKIP() << "there is no curl";
  const auto authority = support::make_certificate({{{"CN", "authority"}}, "", nullptr, true});
  const auto own = support::make_certificate({{{"CN", "pod"}}, "IP:127.0.0.1", &authority});
  dir().write("ca.pem", authority.certificate_pem);
  write_configuration(configuration());
  start_launcher({"--certificate-path=" + dir().file("tls.crt"),
                  "--certificate-key-path=" + dir().file("tls.key")});
  ASSERT_TRUE(wait_for_starts(id(1), 1)) << "the certificate may come later";
  ASSERT_TRUE(wait_for_log("Metrics are not served"));
  dir().write("tls.key", own.key_pem);
  dir().write("tls.crt", own.certificate_pem);
  const std::string url = "https://127.0.0.1:" + std::to_string(port()) + "/metrics";
  const auto answer = support::run_program(
      {"/usr/bin/env", "curl", "-sS", "--max-time", "10", "--cacert", dir().file("ca.pem"), url});
  EXPECT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_NE(answer.out.find("fdbkubernetesmonitor_restart_count{process=\"1\"} 1\n"),
            std::string::npos);
}

TEST_F(Launcher, EndsWithoutTheVersionOfItsContainer) {
  fs::remove(dir().file("version"));
  start_launcher();
  EXPECT_EQ(wait_for_agent(), 1);
  EXPECT_NE(log().find("the version of this container"), std::string::npos);
}

}  // namespace
}  // namespace fdbpack::test
