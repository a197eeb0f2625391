// SPDX-License-Identifier: Apache-2.0
#include "tests/launcher/fixture.hpp"

#include "tests/adapters/http/certificates.hpp"
#include "tests/support/places.hpp"
#include "tests/support/run_program.hpp"

#include <signal.h>

#include <filesystem>
#include <sstream>

namespace fdbpack::test {

using nlohmann::json;

LauncherTest::LauncherTest() {
  for (const char* folder : {"conf", "api/objects", "account"}) {
    std::filesystem::create_directories(dir().file(folder));
  }
  write_file(dir().file("version"), std::string(kContainerVersion) + "\n");
}

LauncherTest::~LauncherTest() {
  if (api_pid_ == 0) return;
  kill(api_pid_, SIGKILL);
  (void)wait_for_exit(api_pid_);
}

std::string LauncherTest::configuration(const std::vector<std::string>& arguments,
                                        const std::string& version) const {
  json id{{"type", "Concatenate"},
          {"values", {{{"value", "--id=p-"}}, {{"type", "ProcessNumber"}}}}};
  json list = json::array({std::move(id), {{"value", "--stamp=" + dir().file("stamps")}}});
  for (const std::string& argument : arguments)
    list.push_back({{"value", argument}});
  return json{{"version", version}, {"arguments", std::move(list)}}.dump();
}

void LauncherTest::write_configuration(const std::string& text) const {
  replace_file(configuration_path(), text);
}

pid_t LauncherTest::running(int number) const {
  const json process = status_of("fdbserver." + std::to_string(number));
  return process.value("state", "") == "running" ? process.value("pid", 0) : 0;
}

std::vector<std::string> LauncherTest::command(const AgentOptions& options) const {
  std::vector<std::string> argv = options.prefix;
  const std::vector<std::string> own{agent_program(),
                                     "launcher",
                                     "--input-dir=" + dir().file("conf"),
                                     "--version-file=" + dir().file("version"),
                                     "--fdbserver-path=" + child_program(),
                                     "--shared-binary-dir=" + dir().file("shared"),
                                     "--listen-address=127.0.0.1:0",
                                     "--state-dir=" + dir().file("state"),
                                     "--cluster-file=" + dir().file("fdb.cluster"),
                                     "--service-account-dir=" + dir().file("account")};
  argv.insert(argv.end(), own.begin(), own.end());
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  return argv;
}

void LauncherTest::start_launcher(const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment) {
  AgentOptions options;
  options.arguments = arguments;
  options.environment = environment;
  start_agent(options);
}

int LauncherTest::port() const {
  const std::string words = "Serving metrics on 127.0.0.1 port ";
  if (!wait_for_log(words)) return 0;
  const std::string text = log();
  return std::stoi(text.substr(text.rfind(words) + words.size()));
}

Answered LauncherTest::get(const std::string& target) const {
  return Client(static_cast<std::uint16_t>(port())).ask(test::get(target));
}

std::string LauncherTest::metric(const std::string& sample) const {
  const std::string prefix = "fdbkubernetesmonitor_" + sample + " ";
  std::istringstream lines(get("/metrics").body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  }
  return "";
}

bool LauncherTest::start_api_server(const std::string& behaviour) {
  if (run_to_end({"python3", "-c", "import ssl"}) != 0) return false;
  const auto authority = support::make_certificate({{{"CN", "authority"}}, "", nullptr, true});
  const auto server = support::make_certificate({{{"CN", "api"}}, "IP:127.0.0.1", &authority});
  write_file(dir().file("account/ca.crt"), authority.certificate_pem);
  write_file(dir().file("account/token"), "first-token\n");
  write_file(dir().file("api/token"), "first-token");
  write_file(dir().file("api/server.pem"), server.certificate_pem + server.key_pem);
  write_file(dir().file("api/requests"), "");
  write_file(
      dir().file("api/objects/pod"),
      R"({"metadata":{"name":"pod-1","resourceVersion":"5","annotations":{"other":"kept"}}})");
  write_file(dir().file("api/objects/node"),
             R"({"metadata":{"name":"node-1","resourceVersion":"9",
                 "labels":{"topology.kubernetes.io/zone":"zone-a"}}})");
  set_behaviour(behaviour);
  const std::string script = test::source_file("tests/launcher/api_server.py");
  api_pid_ =
      spawn({{"python3", script, dir().file("api")}, marked_environment(), -1, -1, log_fd()});
  if (!wait([&] { return !read_file(dir().file("api/port")).empty(); })) return false;
  api_port_ = std::stoi(read_file(dir().file("api/port")));
  return true;
}

void LauncherTest::set_behaviour(const std::string& behaviour) const {
  replace_file(dir().file("api/behaviour"), behaviour);
}

std::vector<std::string> LauncherTest::pod_environment(int api_port) const {
  return {"KUBERNETES_SERVICE_HOST=127.0.0.1",
          "KUBERNETES_SERVICE_PORT=" + std::to_string(api_port), "FDB_POD_NAMESPACE=space",
          "FDB_POD_NAME=pod-1", "FDB_NODE_NAME=node-1"};
}

json LauncherTest::requests() const {
  json all = json::array();
  std::istringstream lines(read_file(dir().file("api/requests")));
  for (std::string line; std::getline(lines, line);) {
    auto request = json::parse(line, nullptr, false);
    if (!request.is_discarded()) all.push_back(std::move(request));
  }
  return all;
}

std::string LauncherTest::annotation(const std::string& name) const {
  const auto pod = json::parse(read_file(dir().file("api/objects/pod")), nullptr, false);
  if (!pod.is_object()) return "";
  return pod.at("metadata").value("annotations", json::object()).value(name, "");
}

void LauncherTest::set_annotation(const std::string& name, const std::string& value) const {
  auto pod = json::parse(read_file(dir().file("api/objects/pod")));
  pod["metadata"]["annotations"][name] = value;
  replace_file(dir().file("api/objects/pod"), pod.dump());
}

}  // namespace fdbpack::test
