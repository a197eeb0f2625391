// SPDX-License-Identifier: Apache-2.0
//
// `fdbpack-agent launcher` as a black box, with real children and, where a test wants one, an API
// server on a real socket.
//
//   folder/   conf/config.json      the configuration; conf/ may become a config map with ..data
//             version               of the container
//             api/                  of the API server, see api_server.py
//             account/              token and ca.crt of the service account
//             fdb.cluster  state/  agent.log  stamps
#pragma once

#include "tests/support/agent_fixture.hpp"
#include "tests/support/http_client.hpp"

#include <map>
#include <string>
#include <vector>

namespace fdbpack::test {

inline constexpr const char* kContainerVersion = "7.1.51";

class LauncherTest : public AgentTest {
 protected:
  LauncherTest();
  ~LauncherTest() override;

  // Process n has the id "<id>-n". `arguments` are literal, behind --id, --stamp.
  [[nodiscard]] std::string configuration(const std::vector<std::string>& arguments = {},
                                          const std::string& version = kContainerVersion) const;
  void write_configuration(const std::string& text) const;
  [[nodiscard]] std::string configuration_path() const { return dir().file("conf/config.json"); }
  // The pid of process `number` by the agent's status; 0 when it does not run.
  [[nodiscard]] pid_t running(int number) const;
  [[nodiscard]] static std::string id(int number) { return "p-" + std::to_string(number); }

  [[nodiscard]] std::vector<std::string> command(const AgentOptions& options) const override;
  void start_launcher(const std::vector<std::string>& arguments = {},
                      const std::vector<std::string>& environment = {});
  // The port on which it serves metrics; 0 when it does not say so in time.
  [[nodiscard]] int port() const;
  [[nodiscard]] Answered get(const std::string& target) const;
  // Value of a sample such as `restart_count{process="1"}`; empty when it is not there.
  [[nodiscard]] std::string metric(const std::string& sample) const;

  // ---- the API server
  // False when there is no python3 to play it.
  [[nodiscard]] bool start_api_server(const std::string& behaviour = "ok");
  void set_behaviour(const std::string& behaviour) const;
  // The variables of a pod that is to use this port as its API server.
  [[nodiscard]] std::vector<std::string> pod_environment(int api_port) const;
  [[nodiscard]] int api_port() const { return api_port_; }
  [[nodiscard]] nlohmann::json requests() const;
  [[nodiscard]] std::string annotation(const std::string& name) const;
  void set_annotation(const std::string& name, const std::string& value) const;

 private:
  pid_t api_pid_ = 0;
  int api_port_ = 0;
};

}  // namespace fdbpack::test
