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

std::vector<fs::path> scenarios() {
  std::vector<fs::path> found;
  const fs::path folder = fs::path(test::source_file("tests/core/supervise/scenarios"));
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".scenario") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

class MachineScenario : public testing::TestWithParam<fs::path> {};

// FDBPACK_REWRITE=1 writes the answers as they are now; read the difference before it is committed.
TEST_P(MachineScenario, GivesTheAnswersInItsFile) {
  const std::string expected = read(GetParam());
  ASSERT_NE(expected.find("----"), std::string::npos);
  const std::string actual = run_scenario(expected);
  if (std::getenv("FDBPACK_REWRITE") != nullptr) {
    std::ofstream(GetParam()) << actual;
    return;
  }
  EXPECT_EQ(actual, expected);
}

INSTANTIATE_TEST_SUITE_P(Files, MachineScenario, testing::ValuesIn(scenarios()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace fdbpack::supervise
