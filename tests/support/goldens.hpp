// SPDX-License-Identifier: Apache-2.0
//
// Finds the literal cases of the systems that fdbpack has to match. They are not part of this
// repository: FDBPACK_GOLDENS names their folder, otherwise it is ../shared/goldens beside the
// source tree.
//
//   TEST(Subject, MatchesEveryCase) {
//     FDBPACK_GOLDENS_OR_SKIP(folder, "operator/tables");
//     const auto cases = support::read_golden(folder / "connection_string.json");
#pragma once

#include "tests/support/places.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace fdbpack::support {

inline std::filesystem::path goldens_folder() {
  const char* given = std::getenv("FDBPACK_GOLDENS");
  if (given != nullptr && *given != '\0') return given;
  return test::source_file("../shared/goldens");
}

inline nlohmann::json read_golden(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return nlohmann::json::parse(stream);
}

// The JSON files of a folder whose names hold `part`, in order of name.
inline std::vector<std::filesystem::path> golden_files(const std::filesystem::path& folder,
                                                       const std::string& part = "") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json") && name.find(part) != std::string::npos) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct GoldenCase {
  std::string name;  // of its file
  nlohmann::json json;
};

// The JSON files of a folder. Those marked `"conformance": false` need not be matched and are left
// out.
inline std::vector<GoldenCase> golden_cases(const std::filesystem::path& folder) {
  std::vector<GoldenCase> cases;
  for (const auto& file : golden_files(folder)) {
    nlohmann::json json = read_golden(file);
    if (json.is_object() && json.value("conformance", true) == false) continue;
    cases.push_back({file.filename().string(), std::move(json)});
  }
  return cases;
}

}  // namespace fdbpack::support

// Declares `variable` as the path of `folder` below the goldens, or skips the test and says why.
#define FDBPACK_GOLDENS_OR_SKIP(variable, folder)                                         \
  const std::filesystem::path variable = ::fdbpack::support::goldens_folder() / (folder); \
  if (!std::filesystem::is_directory(variable)) {                                         \
    GTEST_SKIP() << "there are no goldens in " << variable                                \
                 << "; set FDBPACK_GOLDENS to their folder";                              \
  }                                                                                       \
  static_assert(true, "a semicolon follows")
