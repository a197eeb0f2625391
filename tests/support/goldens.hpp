// SPDX-License-Identifier: Apache-2.0
//
// Literal cases of the systems fdbpack has to match. They are not part of the repository: they lie
// beside it, in
// ../shared/goldens, or where the environment variable FDBPACK_GOLDENS points. A test whose folder
// is not there skips and says so:
//
//   TEST(Conf, MatchesFdbmonitor) {
//     FDBPACK_GOLDENS_OR_SKIP(cases, "monitor/fdbmonitor_conf");
//     for (const GoldenCase& golden : cases) { SCOPED_TRACE(golden.name); ... golden.json() ... }
//   }
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fdbpack::tests {

inline std::filesystem::path goldens_folder() {
  if (const char* given = std::getenv("FDBPACK_GOLDENS")) return given;
  return std::filesystem::path(FDBPACK_SOURCE_DIR) / ".." / "shared" / "goldens";
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct GoldenCase {
  std::string name;  // file name without folder
  std::string text;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(text); }
};

// The files of a folder in order of their names. Cases marked `"conformance": false` are left out.
inline std::vector<GoldenCase> goldens_in(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(goldens_folder() / folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<GoldenCase> cases;
  for (const auto& path : paths) {
    GoldenCase golden{path.filename().string(), read_file(path)};
    if (path.extension() == ".json") {
      const auto json = nlohmann::json::parse(golden.text, nullptr, false);
      if (json.is_object() && json.value("conformance", true) == false) continue;
    }
    cases.push_back(std::move(golden));
  }
  return cases;
}

}  // namespace fdbpack::tests

#define FDBPACK_GOLDENS_OR_SKIP(variable, folder)                                           \
  if (!std::filesystem::is_directory(::fdbpack::tests::goldens_folder() / (folder)))        \
    GTEST_SKIP() << "no literal cases: " << (::fdbpack::tests::goldens_folder() / (folder)) \
                 << " is not there; set FDBPACK_GOLDENS";                                   \
  const auto variable = ::fdbpack::tests::goldens_in(folder);                               \
  ASSERT_FALSE(variable.empty())
