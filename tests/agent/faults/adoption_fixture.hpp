// SPDX-License-Identifier: Apache-2.0
//
// Processes that outlive their agent.
#pragma once

#include "tests/support/agent_fixture.hpp"

#include <signal.h>

#include <filesystem>

namespace fdbpack::test {

class AdoptionFault : public AgentTest {
 protected:
  void start_children(const std::vector<Section>& sections, const AgentOptions& options = {}) {
    write_conf(sections);
    sections_ = sections;
    start_agent(options);
    ASSERT_TRUE(wait([&] { return stamps().size() == sections.size(); }));
    ASSERT_TRUE(wait([&] { return is_recorded(); })) << "the state file never knew them all";
  }

  // The state file, wherever the agent keeps it.
  [[nodiscard]] std::string state_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(dir().file("state"))) {
      const auto document = nlohmann::json::parse(read_file(entry.path()), nullptr, false);
      if (document.is_object() && document.contains("boot_id")) return entry.path();
    }
    return "";
  }

  [[nodiscard]] bool is_recorded() const {
    if (!std::filesystem::exists(dir().file("state")) || state_file().empty()) return false;
    const auto document = nlohmann::json::parse(read_file(state_file()), nullptr, false);
    return document.is_object() && document.contains("processes") &&
           document["processes"].size() == sections_.size();
  }

  // All run as they did, under an agent that knows them.
  void expect_all_adopted() {
    for (const Section& section : sections_) {
      EXPECT_TRUE(wait([&] {
        return status_of("child." + section.id).value("pid", 0) == last_pid(section.id);
      })) << section.id
          << " " << status_of("child." + section.id);
      EXPECT_EQ(starts(section.id), 1u) << section.id;
    }
    EXPECT_EQ(living().size(), sections_.size());
    EXPECT_EQ(doubles(), 0u);
  }

  // It is supervised, and not only left alone: it is restarted when it dies.
  void expect_supervised(const std::string& id) {
    const std::size_t before = starts(id);
    ASSERT_TRUE(Pidfd(last_pid(id)).send(SIGKILL));
    EXPECT_TRUE(wait_for_starts(id, before + 1)) << id;
  }

  std::vector<Section> sections_;
};

}  // namespace fdbpack::test
