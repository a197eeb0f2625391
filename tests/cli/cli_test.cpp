// SPDX-License-Identifier: Apache-2.0
//
// The real program: what it prints, and its exit codes.
#include "tests/support/places.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fdbpack::cli {
namespace {

using support::ProgramResult;
using support::TempDir;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kExamples = test::source_file("examples/");
const std::string kSpec = kExamples + "sample-cluster.json";

ProgramResult fdbpack(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), test::program_file("fdbpack"));
  return support::run_program(std::move(arguments), input);
}

ProgramResult render(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"render", "--spec", kSpec});
  return fdbpack(std::move(arguments));
}

TEST(Cli, HelpShowsAnExampleForEveryCommand) {
  for (const auto& command : std::vector<std::vector<std::string>>{{"--help"},
                                                                   {"render", "--help"},
                                                                   {"conf", "--help"},
                                                                   {"conf", "check", "--help"},
                                                                   {"conf", "argv", "--help"},
                                                                   {"spec", "--help"},
                                                                   {"spec", "check", "--help"}}) {
    const auto result = fdbpack(command);
    EXPECT_EQ(result.exit_code, 0) << command[0];
    EXPECT_THAT(result.out, HasSubstr("Example:\n  fdbpack ")) << command[0];
  }
  EXPECT_THAT(fdbpack({"--version"}).out, StartsWith("fdbpack "));
}

TEST(Cli, UsageErrorsAreOneSentenceAndExit64) {
  for (const auto& command : std::vector<std::vector<std::string>>{
           {},
           {"bogus"},
           {"--bogus"},
           {"conf", "bogus"},
           {"conf", "check", "--fdbmonitor", "9", kSpec},
           {"render", "--spec", kSpec, "--class", "log", "--format", "2"},
           {"render"},
           {"render", "--spec", kSpec, "--class", "nonsense"},
           {"render", "--spec", kSpec, "--class", "log", "--density", "0"},
           {"render", "--spec", kSpec, "--class", "log", "--tls", "maybe"},
           {"render", "--spec", kSpec, "--class", "log", "--set", "nope"},
           {"render", "--spec", kSpec, "--class", "log", "--format", "xml"},
           {"conf", "argv"}}) {
    const auto result = fdbpack(command);
    EXPECT_EQ(result.exit_code, 64) << testing::PrintToString(command);
    EXPECT_THAT(result.error, StartsWith("fdbpack: "));
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_THAT(fdbpack({"bogus"}).error, HasSubstr("bogus"));
  EXPECT_THAT(fdbpack({"--bogus"}).error, HasSubstr("--bogus"));
  EXPECT_THAT(fdbpack({"conf", "bogus"}).error, HasSubstr("conf bogus"));
}

TEST(Cli, ReadsFilesOrSaysThatItCannot) {
  EXPECT_EQ(fdbpack({"render", "--spec", "/nonexistent.json", "--class", "log"}).exit_code, 66);
  EXPECT_EQ(fdbpack({"conf", "check", "/nonexistent.conf"}).exit_code, 66);
  EXPECT_EQ(fdbpack({"spec", "check", "/"}).exit_code, 66);
  EXPECT_EQ(render({"--class", "log", "--env-file", "/nonexistent.env"}).exit_code, 66);
  EXPECT_EQ(render({"--class", "log", "--templates", "/nonexistent"}).exit_code, 66);
}

TEST(CliSpec, ReportsEveryViolationWithItsPlace) {
  const auto good = fdbpack({"spec", "check", kSpec});
  EXPECT_EQ(good.exit_code, 0) << good.error;
  EXPECT_THAT(good.out, HasSubstr("good, cluster sample-cluster"));
  const auto bad =
      fdbpack({"spec", "check", "-"},
              R"({"name":"a","version":"7.1.61","processes":{"log":{"count":0}},"x":1})");
  EXPECT_EQ(bad.exit_code, 65);
  EXPECT_THAT(bad.error, HasSubstr("fdbpack: -: $.processes.log.count: "));
  EXPECT_THAT(bad.error, HasSubstr("fdbpack: -: $.x: "));
  EXPECT_EQ(fdbpack({"spec", "check", "-"}, "").exit_code, 65);
}

TEST(CliRender, PrintsTheConfWithoutANewlineAtItsEnd) {
  const auto result = render({"--class", "storage", "--density", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.out, StartsWith("[general]\nkill_on_configuration_change = false\n"));
  EXPECT_THAT(result.out, HasSubstr("\n[fdbserver.2]\n"));
  EXPECT_THAT(result.out, Not(EndsWith("\n")));
}

TEST(CliRender, FillsInTheValuesOfAHost) {
  const auto conf = render(
      {"--class", "storage", "--env-file", kExamples + "host.env", "--process-group", "storage-9"});
  EXPECT_EQ(conf.exit_code, 0) << conf.error;
  EXPECT_THAT(conf.out, Not(HasSubstr("$")));
  EXPECT_THAT(conf.out, HasSubstr("locality_process_id = storage-9-2"));
  const auto argv = render({"--class", "storage", "--env-file", kExamples + "host.env", "--format",
                            "argv", "--tls", "both"});
  EXPECT_EQ(std::count(argv.out.begin(), argv.out.end(), '\n'), 2);
  EXPECT_THAT(argv.out, HasSubstr("--public_address=10.1.18.253:4502:tls,10.1.18.253:4503"));
}

TEST(CliRender, OnlyAProcessGroupLeavesTheOtherVariablesIn) {
  const auto result = render({"--class", "storage", "--process-group", "storage-3"});
  EXPECT_THAT(
      result.out,
      HasSubstr("locality_instance_id = storage-3\nlocality_machineid = $FDB_MACHINE_ID\n"));
  EXPECT_THAT(render({"--class", "log", "--process-group", "storage-3"}).error,
              HasSubstr("is not of class log"));
}

TEST(CliRender, SaysWhichValueIsMissing) {
  const TempDir folder;
  const auto result =
      render({"--class", "storage", "--env-file", folder.write("e", "FDB_PUBLIC_IP=1.2.3.4\n")});
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.error, HasSubstr("BINARY_DIR"));
  EXPECT_EQ(render({"--class", "storage", "--env-file", folder.write("e", "oops\n")}).exit_code,
            65);
}

TEST(CliRender, UnifiedFormsAgree) {
  const auto json = render({"--class", "storage", "--format", "unified-json"});
  EXPECT_THAT(json.out,
              StartsWith(R"({"version":"7.1.61","arguments":[{"value":"--cluster_file=)"));
  const auto argv = render(
      {"--class", "storage", "--format", "unified-argv", "--env-file", kExamples + "host.env"});
  EXPECT_THAT(
      argv.out,
      HasSubstr(
          "/usr/bin/fdbserver --cluster_file=/var/fdb/data/fdb.cluster --seed_cluster_file="));
  EXPECT_THAT(argv.out, HasSubstr("--public_address=[10.1.18.253]:4503 "));
  EXPECT_THAT(render({"--class", "storage", "--format", "unified-argv"}).out,
              HasSubstr("[$FDB_PUBLIC_IP]:4501"));
}

TEST(CliRender, NumbersDirectoriesAtDensityOneWhereTheUnifiedImageDoes) {
  const auto datadir = [](const std::string& format, std::vector<std::string> more) {
    more.insert(more.end(), {"--class", "log", "--format", format});
    return render(std::move(more)).out;
  };
  EXPECT_THAT(datadir("unified-argv", {}), HasSubstr("--datadir=/var/fdb/data/1 "));
  EXPECT_THAT(datadir("unified-argv", {"--not-numbered"}), HasSubstr("--datadir=/var/fdb/data "));
  EXPECT_THAT(datadir("unified-json", {}), HasSubstr(R"("--datadir=/var/fdb/data")"));
  EXPECT_THAT(datadir("conf", {}), HasSubstr("datadir = /var/fdb/data\n"));
  EXPECT_THAT(datadir("conf", {"--numbered"}),
              HasSubstr("datadir = /var/fdb/data/1\nlocality_process_id = "));
}

TEST(CliRender, RefusesAPortBeyondTheLast) {
  const auto result = render({"--class", "storage", "--density", "40000"});
  EXPECT_EQ(result.exit_code, 65);
  EXPECT_THAT(result.error, HasSubstr("process 30519 of class storage"));
  const auto density = render({"--class", "stateless", "--density", "2"});
  EXPECT_EQ(density.exit_code, 65);
}

TEST(CliRender, UsesTheAdministratorsTemplates) {
  const TempDir folder;
  folder.write("fdbmonitor-conf-storage.inja",
               "[general]\nrestart_delay = 5\n{% for process in processes %}\n[fdbserver.{{ "
               "process.number }}]\n"
               "command = {{ process.command }}\ndatadir = {{ process.datadir }}\n{% endfor %}\n");
  const auto good = render({"--class", "storage", "--templates", folder.path().string()});
  EXPECT_EQ(good.exit_code, 0) << good.error;
  EXPECT_THAT(good.out, StartsWith("[general]\nrestart_delay = 5\n[fdbserver.1]\n"));
  EXPECT_THAT(render({"--class", "log", "--templates", folder.path().string()}).out,
              HasSubstr("restart_delay = 60"));
}

TEST(CliRender, RefusesBrokenTemplatesWithFileLineAndReason) {
  const TempDir folder;
  const auto with = [&](const std::string& text) {
    folder.write("fdbmonitor-conf.inja", text);
    return render({"--class", "storage", "--templates", folder.path().string()});
  };
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"[general]\n{{ nope }}", "fdbmonitor-conf.inja:2:4: variable 'nope' not found"},
           {"{{ | a }}", "fdbmonitor-conf.inja: "},
           {"{% include \"/etc/passwd\" %}", "there is no template called '/etc/passwd'"},
           {"[general]\n", "no process section"},
           {"[general]\nrestart_delay = 60\n[fdbserver]\ncommand = /x\ndatadir = "
            "/d\n[fdbserver.1]\n[fdbserver.2]\n",
            "both use the data directory /d"},
           {"[general]\nrestart_delay = 60\n[fdbserver]\ncommand = /x\npublic_address = "
            "1.2.3.4:4500\n[fdbserver.1]\n"
            "[fdbserver.2]\n",
            "both use port 4500"}}) {
    const auto result = with(text);
    EXPECT_EQ(result.exit_code, 78) << text;
    EXPECT_THAT(result.error, HasSubstr(why)) << text;
    EXPECT_EQ(result.out, "");
  }
}

TEST(CliConf, ArgvAsTextAndAsJson) {
  const std::string conf =
      "[general]\nrestart_delay=60\n[x]\ncommand=/bin/x\n[x.1]\na=$ID\n[y.1]\n";
  const auto text = fdbpack({"conf", "argv", "-"}, conf);
  EXPECT_EQ(text.exit_code, 65);
  EXPECT_EQ(text.out, "/bin/x --a=1\n");
  EXPECT_EQ(text.error, "fdbpack: -: Unable to resolve command for y.1\n");
  const auto json = fdbpack({"conf", "argv", "--json", "-"}, conf);
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_EQ(json.out, R"({"processes":[{"section":"x.1","argv":["/bin/x","--a=1"]}],)"
                      R"("errors":["Unable to resolve command for y.1"]})"
                      "\n");
}

TEST(CliConf, CheckPointsAtLineAndColumn) {
  EXPECT_EQ(
      fdbpack({"conf", "check", "-"}, "[general]\nrestart_delay=60\n[x]\ncommand=/x\n[x.1]\n").out,
      "-: good, 1 process, 0 warnings\n");
  const auto bad = fdbpack({"conf", "check", "-"}, "[general]\nrestart_delay=6x\n[x.1\n");
  EXPECT_EQ(bad.exit_code, 65);
  EXPECT_THAT(bad.error, HasSubstr("fdbpack: -:3:1: error: the section header is not closed"));
}

}  // namespace
}  // namespace fdbpack::cli
