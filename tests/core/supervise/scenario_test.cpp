// SPDX-License-Identifier: Apache-2.0
#include "tests/core/supervise/scenario.hpp"

#include "tests/support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace fdbpack::supervise {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = test::source_file("tests/core/supervise/scenarios");

// By name, which does not depend on where the sources are.
std::vector<std::string> scenarios() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".scenario") found.push_back(entry.path().stem());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

class MachineScenario : public testing::TestWithParam<std::string> {};

// FDBPACK_REWRITE=1 writes the answers as they are now; read the difference before it is committed.
TEST_P(MachineScenario, GivesTheAnswersInItsFile) {
  const fs::path file = kFolder / (GetParam() + ".scenario");
  const std::string expected = read(file);
  ASSERT_NE(expected.find("----"), std::string::npos);
  const std::string actual = run_scenario(expected);
  if (std::getenv("FDBPACK_REWRITE") != nullptr) {
    std::ofstream(file) << actual;
    return;
  }
  EXPECT_EQ(actual, expected);
}

INSTANTIATE_TEST_SUITE_P(Files, MachineScenario, testing::ValuesIn(scenarios()),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace fdbpack::supervise
