// SPDX-License-Identifier: Apache-2.0
//
// The agent with its HTTP service, as a black box: over TCP on a port of its own, and over its unix
// socket.
#pragma once

#include "tests/support/agent_fixture.hpp"
#include "tests/support/http_client.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace fdbpack::test {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ApiTest : public AgentTest {
 protected:
  void start_api(std::vector<std::string> arguments = {}, std::vector<std::string> prefix = {}) {
    AgentOptions options;
    options.arguments = {"--listen", "127.0.0.1:0"};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.prefix = std::move(prefix);
    start_agent(options);
    ASSERT_TRUE(wait_for_api());
  }
  // Until both places are open, as the status says.
  [[nodiscard]] bool wait_for_api() {
    return wait([&] {
      const auto places = status().value("http", json::array());
      port_ = 0;
      for (const auto& place : places) {
        const std::string name = place.value("place", "");
        if (name.starts_with("http") && place.value("open", false)) {
          port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
        }
      }
      return port_ != 0;
    });
  }

  [[nodiscard]] std::string socket_path() const { return dir().file("state/agent.sock"); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // As the user of the test, who is an operator.
  Answered ask(const std::string& bytes) { return Client(socket_path()).ask(bytes); }
  Answered ask_tcp(const std::string& bytes) { return Client(port_).ask(bytes); }
  json get_json(const std::string& target) {
    const auto answer = ask(get(target));
    EXPECT_EQ(answer.status, 200) << target << answer.body;
    return json::parse(answer.body, nullptr, false);
  }
  // Whether the page comes to be as wanted.
  bool wait_for_json(const std::string& target, const std::function<bool(const json&)>& is_wanted) {
    json last;
    const bool is_met = wait([&] {
      last = json::parse(ask(get(target)).body, nullptr, false);
      return last.is_object() && is_wanted(last);
    });
    EXPECT_TRUE(is_met) << target << ": " << last.dump(1);
    return is_met;
  }
  [[nodiscard]] bool wait_running(const std::string& section) {
    return wait_for_json("/v1/processes", [&](const json& page) {
      return page["processes"].contains(section) &&
             page["processes"][section].value("state", "") == "running";
    });
  }

 private:
  std::uint16_t port_ = 0;
};

}  // namespace fdbpack::test
