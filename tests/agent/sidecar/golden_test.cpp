// SPDX-License-Identifier: Apache-2.0
//
// What sidecar.py answered, asked of the real program over real sockets. The cases of releases that
// differ are asked of a sidecar of that release.
#include "tests/agent/sidecar/fixture.hpp"
#include "tests/support/goldens.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <regex>

namespace fdbpack::sidecar {
namespace {

using nlohmann::json;

class SidecarGolden : public SidecarProgram {
 protected:
  // The inputs of a case; the binaries and libraries hold their own names.
  std::vector<std::string> prepare(const json& setup) {
    environment_ = setup["env"].get<std::map<std::string, std::string>>();
    for (const auto& [name, text] : setup["input_dir"].items())
      write_input(name, text);
    ::chmod((input_dir() + "/fdb.cluster").c_str(), 0644);
    folder_.write("usr/bin/fdbserver", "fdbserver");
    for (const char* version : {"7.1", "6.3"}) {
      const std::string name = std::string("libfdb_c_") + version + ".so";
      folder_.write("lib/" + name, name);
    }
    return setup["args"].get<std::vector<std::string>>();
  }

  // One answer on the wire, and nothing after it.
  void expect_answer(const Answered& answer, const json& expected, const std::string& method) {
    EXPECT_EQ(answer.status, expected["status"]);
    if (expected.contains("reason")) {
      EXPECT_EQ(answer.reason, expected["reason"]);
    }
    if (expected.contains("reason_regex")) {
      const std::regex pattern(expected["reason_regex"].get<std::string>());
      EXPECT_TRUE(std::regex_search(answer.reason, pattern)) << answer.reason;
    }
    if (expected.contains("content_type")) {
      EXPECT_EQ(answer.field("Content-Type"), expected["content_type"]);
    }
    if (expected.contains("body")) {
      EXPECT_EQ(answer.body, expected["body"]);
    }
    if (expected.contains("body_regex")) {
      const std::regex pattern(expected["body_regex"].get<std::string>());
      EXPECT_TRUE(std::regex_search(answer.body, pattern)) << answer.body;
    }
    if (expected.contains("html_message") && method != "HEAD") {
      const std::string message = expected["html_message"];
      EXPECT_THAT(answer.body, testing::HasSubstr("<p>Message: " + message + ".</p>"));
    }
    EXPECT_EQ(answer.rest, "") << "there is a second answer";
    EXPECT_EQ(answer.field("Connection"), "close");
  }
};

TEST_F(SidecarGolden, Startup) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_observed");
  const json golden = support::read_golden(folder / "00_startup_output.json");
  version_ = golden["setup"]["version_file"];
  ASSERT_TRUE(start(prepare(golden["setup"])));
  int checked = 0;
  for (const auto& [name, expected] : golden["expected"]["output_dir"].items()) {
    SCOPED_TRACE(name);
    if (expected.contains("content")) {
      EXPECT_EQ(output(name), expected["content"]);
    }
    if (expected.contains("from")) {
      EXPECT_EQ(output(name), expected["from"]);
    }
    if (expected.contains("mode")) {
      struct ::stat info {};
      ASSERT_EQ(::stat((output_dir() + "/" + name).c_str(), &info), 0);
      const std::string mode = expected["mode"];
      EXPECT_EQ(info.st_mode & 07777U, std::stoul(mode, nullptr, 8)) << mode;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 5);
  // The order counts, too: it is what the text of the answer is compared by.
  const auto printed = nlohmann::ordered_json::parse(get("/substitutions").body);
  const auto expected = nlohmann::ordered_json::parse(
      support::read_text(folder / "00_startup_output.json"))["expected"]["substitutions"];
  EXPECT_EQ(printed.dump(), expected.dump());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(output_dir()))
    files += entry.is_regular_file() ? 1U : 0U;
  EXPECT_EQ(files, golden["expected"]["output_dir"].size());
}

TEST_F(SidecarGolden, Observed) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_observed");
  const json startup = support::read_golden(folder / "00_startup_output.json");
  const std::map<std::string, std::string> releases{{"7.1-7.3", "7.1.43"}, {"7.4-main", "7.4.5"}};
  int checked = 0;
  for (const auto& golden : support::golden_cases(folder)) {
    if (golden.json["kind"] != "http") continue;
    for (const auto& [release, expected] : golden.json["expected_by_version"].items()) {
      SCOPED_TRACE(golden.name + " " + release);
      version_ = releases.at(release);
      ASSERT_TRUE(start(prepare(startup["setup"])));
      if (golden.name.starts_with("24_")) std::filesystem::remove(input_dir() + "/fdb.cluster");
      const std::string method = golden.json["request"]["method"];
      expect_answer(ask(method, golden.json["request"]["path"]), expected, method);
      kill_program(SIGKILL);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 24);
}

TEST_F(SidecarGolden, ItsOwnTests) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_tests");
  int checked = 0;
  for (const auto& golden : support::golden_cases(folder)) {
    SCOPED_TRACE(golden.name);
    const json& setup = golden.json["setup"];
    const std::string provenance = golden.json["provenance"];
    const bool is_main = provenance.find("foundationdb main ") != std::string::npos;
    version_ = is_main ? "7.4.5" : "7.1.43";
    std::filesystem::remove_all(output_dir());
    std::filesystem::create_directory(output_dir());
    for (const auto& [name, text] : setup["output_dir_files"].items())
      folder_.write("out/" + name, text);
    std::vector<std::string> arguments;
    environment_ = {{"FDB_POD_IP", "127.0.0.1"}};
    const json variables = setup.value("substitutions", json::object());
    for (const auto& [name, value] : variables.items()) {
      environment_[name] = value;
      arguments.insert(arguments.end(), {"--substitute-variable", name});
    }
    ASSERT_TRUE(start(arguments));
    if (golden.json["kind"] == "function") {
      const std::string call = golden.json["call"]["fn"];
      const std::string path = golden.json["call"]["args"][1];
      EXPECT_EQ(get("/" + call + "/" + path).status,
                golden.json["expected"]["http_status_equivalent"]);
    } else {
      const std::string method = golden.json["request"]["method"];
      const Answered answer = ask(method, golden.json["request"]["path"]);
      expect_answer(answer, golden.json["expected"], method);
      // The test of sidecar.py has no other variables.
      const json wanted = golden.json["expected"].value("json", json::object());
      for (const auto& [name, value] : wanted.items())
        EXPECT_EQ(json::parse(answer.body)[name], value);
    }
    kill_program(SIGKILL);
    ++checked;
  }
  EXPECT_EQ(checked, 14);
}

TEST_F(SidecarGolden, Tls) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_tls");
  int checked = 0;
  for (const auto& golden : support::golden_cases(folder)) {
    SCOPED_TRACE(golden.name);
    const json& setup = golden.json["setup"];
    ASSERT_EQ(setup["ca"], "CN=TestCA,O=Org");
    environment_ = {{"FDB_POD_IP", "127.0.0.1"}};
    use_tls(setup["tls_verify_peers"].is_null() ? "" : setup["tls_verify_peers"]);
    client_.reset();
    if (!setup["client_cert"].is_null()) {
      ASSERT_EQ(setup["client_cert"]["subject"], "CN=server.example,O=FDB");
      std::string names;
      for (const std::string name : setup["client_cert"]["subjectAltName"])
        names += (names.empty() ? "" : ",") + name;
      client_ = issue("server.example", names);
    }
    ASSERT_TRUE(start());
    const Answered answer = ask(golden.json["request"]["method"], golden.json["request"]["path"]);
    EXPECT_EQ(answer.status, golden.json["expected"]["status"]);
    EXPECT_EQ(get("/ready").status, 200);  // for everybody
    kill_program(SIGKILL);
    ++checked;
  }
  EXPECT_EQ(checked, 8);
}

TEST_F(SidecarGolden, Config) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_config");
  const json unset = support::read_golden(folder / "substitute_variable_unset_is_fatal.json");
  write_input("fdbmonitor.conf", "x");
  environment_ = {{"FDB_POD_IP", "127.0.0.1"}};
  EXPECT_EQ(run(unset["args"].get<std::vector<std::string>>()), 1);
  EXPECT_THAT(log_, testing::HasSubstr("NOPE"));
  EXPECT_EQ(output("fdbmonitor.conf"), "");

  const json family = support::read_golden(folder / "public_ip_family_6.json");
  environment_ = family["env"].get<std::map<std::string, std::string>>();
  ASSERT_TRUE(start(family["args"].get<std::vector<std::string>>()));
  const json printed = json::parse(get("/substitutions").body);
  for (const auto& [name, value] : family["expected"]["substitutions"].items())
    EXPECT_EQ(printed[name], value);
}

}  // namespace
}  // namespace fdbpack::sidecar
