// SPDX-License-Identifier: Apache-2.0
//
// The operator's confs, unified configurations and command lines, byte for byte.
#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/group_render.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/conf/unified.hpp"
#include "fdbpack/wire/unified_json.hpp"
#include "tests/support/goldens.hpp"

namespace fdbpack::conf {
namespace {

using nlohmann::json;

template <class T>
T value_or(const json& object, const char* key, T fallback) {
  return object.contains(key) && !object.at(key).is_null() ? object.at(key).get<T>() : fallback;
}

std::vector<model::CustomParameter> parameters(const json& list) {
  std::vector<model::CustomParameter> result;
  for (const auto& text : list)
    result.push_back(model::parse_custom_parameter(text.get<std::string>()).value());
  return result;
}

std::string zone_variable(const json& inputs) {
  const std::string from = inputs.contains("faultDomain")
                               ? value_or<std::string>(inputs["faultDomain"], "valueFrom", "")
                               : "";
  return from.starts_with('$') ? from.substr(1) : "FDB_ZONE_ID";
}

// The inputs of goldens/operator/index.json.
GroupConf group_of(const json& inputs) {
  GroupConf group;
  group.process_class = model::parse_process_class(inputs.at("class").get<std::string>()).value();
  group.density = inputs.at("serversPerPod");
  group.listeners = {inputs.at("requiredAddresses").at("tls"),
                     inputs.at("requiredAddresses").at("nonTLS")};
  group.log_group = value_or<std::string>(inputs, "logGroup", inputs.at("clusterName"));
  group.zone_variable = zone_variable(inputs);
  group.verify_peers = value_or<std::string>(inputs, "peerVerificationRules", "");
  group.data_center = value_or<std::string>(inputs, "dataCenter", "");
  group.data_hall = value_or<std::string>(inputs, "dataHall", "");
  group.has_listen_address =
      inputs.at("needsExplicitListenAddress") && inputs.at("hasListenIPsForAllPods");
  group.has_dns_name = inputs.at("useDNSInClusterFile");
  group.has_connection_string = value_or<std::string>(inputs, "connectionString", "given") != "";
  group.is_always_numbered =
      value_or<std::string>(inputs, "specImage", inputs.at("image")) == "unified";
  if (inputs.contains("podIPFamily") && !inputs["podIPFamily"].is_null())
    group.ip_family = inputs["podIPFamily"];
  const json processes = value_or<json>(inputs, "processes", json::object());
  const std::string own = inputs.at("class");
  for (const std::string& key : {own, std::string("general")}) {
    if (processes.contains(key)) {
      group.custom_parameters = parameters(processes.at(key).at("customParameters"));
      break;
    }
  }
  return group;
}

Environment environment_of(const json& inputs) {
  Environment environment;
  for (const auto& [name, value] : inputs.at("env").items())
    environment.emplace(name, value.get<std::string>());
  return environment;
}

// Cases of one folder, with the inputs that the index gives for them.
struct OperatorCase {
  std::string file;
  json inputs;
  std::string expected;
};

std::vector<OperatorCase> operator_cases(const std::string& folder) {
  std::vector<OperatorCase> cases;
  const json index =
      json::parse(support::read_text(support::goldens_folder() / "operator" / "index.json"));
  for (const auto& entry : index.at("cases")) {
    const std::string file = entry.at("file");
    const json& inputs = entry.contains("inputs") ? entry.at("inputs") : json();
    if (!file.starts_with(folder + "/") || !inputs.is_object() || !inputs.contains("class"))
      continue;
    cases.push_back(
        {file, inputs, support::read_text(support::goldens_folder() / "operator" / file)});
  }
  return cases;
}

std::size_t file_count(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(OperatorGoldens, MonitorConf) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/monitor_conf");
  const auto cases = operator_cases("monitor_conf");
  EXPECT_EQ(cases.size(), file_count(folder));
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.file);
    EXPECT_EQ(render_builtin(group_of(golden.inputs)).value(), golden.expected);
  }
}

TEST(OperatorGoldens, StartCommand) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/start_command");
  const auto cases = operator_cases("start_command");
  EXPECT_EQ(cases.size() + 1, file_count(folder));  // one file has its inputs in itself
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.file);
    const GroupConf group = group_of(golden.inputs);
    const Environment environment = environment_of(golden.inputs);
    const int number = golden.inputs.at("processNumber");
    if (golden.inputs.at("image") == "unified") {
      const auto unified = unified_conf(group, "7.1.57").value();
      const auto words =
          generate_all(unified, number, environment, environment.at("BINARY_DIR") + "/fdbserver");
      EXPECT_EQ(text::join(words.value(), " "), golden.expected);
      continue;
    }
    const std::string conf = fill_variables(render_builtin(group).value(), environment).value();
    const auto processes = resolve(parse(conf).document).processes;
    EXPECT_EQ(text::join(processes.at(static_cast<std::size_t>(number) - 1).argv, " "),
              golden.expected);
  }
}

TEST(OperatorGoldens, StartCommandWithListenAddress) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/start_command");
  GroupConf group;
  group.log_group = "operator-test-1";
  group.has_listen_address = true;
  const Environment environment{{"FDB_PUBLIC_IP", "{address}"}, {"FDB_POD_IP", "{address}"},
                                {"FDB_INSTANCE_ID", "{id}"},    {"FDB_MACHINE_ID", "{zone}"},
                                {"FDB_ZONE_ID", "{zone}"},      {"BINARY_DIR", "/usr/bin"}};
  const std::string conf = fill_variables(render_builtin(group).value(), environment).value();
  EXPECT_EQ(text::join(resolve(parse(conf).document).processes.at(0).argv, " "),
            support::read_text(support::goldens_folder() /
                               "operator/start_command/mock-admin-client-listen-address.txt"));
}

TEST(OperatorGoldens, UnifiedJson) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/unified_json");
  std::size_t seen = 0;
  for (const auto& golden : operator_cases("unified_json")) {
    SCOPED_TRACE(golden.file);
    ++seen;
    const std::string text =
        wire::write_unified_conf(unified_conf(group_of(golden.inputs), "7.1.57").value());
    json expected = json::parse(golden.expected);
    if (golden.inputs.at("image") == "split") {
      // The split image's arguments as a unified configuration: no brackets around the address.
      GroupConf group = group_of(golden.inputs);
      std::vector<std::string> ours;
      const std::vector<Argument> list = arguments(group).value();
      for (const auto& argument : list)
        ours.push_back("--" + argument.key + "=" + value_text(argument, 1));
      std::vector<std::string> theirs;
      const UnifiedConf given = wire::read_unified_conf(golden.expected).value();
      for (const auto& item : given.arguments) {
        Environment environment;
        for (const char* name : {"FDB_PUBLIC_IP", "FDB_POD_IP", "FDB_INSTANCE_ID", "FDB_MACHINE_ID",
                                 "FDB_ZONE_ID", "FDB_DNS_NAME"}) {
          environment.emplace(name, std::string("$") + name);
        }
        theirs.push_back(generate(item, 1, environment).value());
      }
      EXPECT_EQ(ours, theirs);
      continue;
    }
    EXPECT_EQ(json::parse(text), expected);
    EXPECT_EQ(text, nlohmann::ordered_json::parse(golden.expected).dump());
    EXPECT_EQ(wire::write_unified_conf(wire::read_unified_conf(text).value()), text);
  }
  EXPECT_EQ(seen, 23u);
}

TEST(OperatorGoldens, UnifiedJsonPicksTheAddressOfAFamily) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/unified_json");
  for (const int family : {4, 6}) {
    const std::string stem = "custom-public-ip-v" + std::to_string(family);
    const auto conf =
        wire::read_unified_conf(support::read_text(folder / (stem + ".json"))).value();
    const Environment environment{{"FDB_PUBLIC_IP", "2001:db8:dead:beef::1,192.168.0.2"}};
    EXPECT_EQ(generate(conf.arguments.at(10), 1, environment).value(),
              support::read_text(folder / (stem + ".arg10.txt")));
  }
}

// goldens/monitor/operator_conf_templates: only what differs from the defaults is given.
TEST(OperatorGoldens, ConfTemplates) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/operator_conf_templates");
  const auto cases = support::golden_cases(folder);
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.name);
    const json file = golden.json;
    const json& params = file.at("params");
    GroupConf group;
    group.process_class = model::parse_process_class(params.value("class", "storage")).value();
    group.density = params.value("density", 1);
    const bool is_tls = params.value("tls", params.value("enableTLS", false));
    group.listeners = {is_tls, params.value("nonTLS", !is_tls)};
    group.log_group = params.value("logGroup", "operator-test-1");
    group.zone_variable = zone_variable(params);
    group.verify_peers = params.value("peerVerificationRules", params.value("verifyPeers", ""));
    group.data_center = params.value("dataCenter", "");
    group.has_listen_address = params.value("hasListenIPsForAllPods", false);
    group.has_dns_name = params.value("useDNS", true);
    group.has_connection_string = params.value("connectionString", "given") != "";
    for (const char* key : {"storage", "customParameters", "general"}) {
      if (group.custom_parameters.empty() && params.contains(key))
        group.custom_parameters = parameters(params.at(key));
    }
    EXPECT_EQ(render_builtin(group).value(), file.at("expected_conf")) << params;
  }
}

TEST(OperatorGoldens, CommandLines) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/operator_command_lines");
  const auto cases = support::golden_cases(folder);
  const Environment environment{{"FDB_PUBLIC_IP", "1.1.0.1"},
                                {"FDB_POD_IP", "1.1.0.1"},
                                {"FDB_INSTANCE_ID", "storage-1"},
                                {"FDB_MACHINE_ID", "operator-test-1-storage-1"},
                                {"FDB_ZONE_ID", "operator-test-1-storage-1"},
                                {"FDB_DNS_NAME", "<FDB_DNS_NAME>"},
                                {"BINARY_DIR", "/usr/bin"}};
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.name);
    const json file = golden.json;
    GroupConf group;
    group.density = file.at("params").at("density");
    group.log_group = "operator-test-1";
    group.has_dns_name = true;
    const std::string conf = fill_variables(render_builtin(group).value(), environment).value();
    const std::size_t index = file.at("params").at("process").get<std::size_t>() - 1;
    EXPECT_EQ(text::join(resolve(parse(conf).document).processes.at(index).argv, " "),
              file.at("expected"));
  }
}

TEST(KubernetesMonitorGoldens, Arguments) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_config");
  const auto cases = support::golden_cases(folder);
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.name);
    const json file = golden.json;
    Environment environment;
    const json variables = value_or<json>(file, "env", json::object());
    for (const auto& [name, value] : variables.items())
      environment.emplace(name, value.get<std::string>());
    if (file.at("kind") == "generate_argument") {
      const json wrapped{{"version", "7.1.0"}, {"arguments", json::array({file.at("argument")})}};
      const auto conf = wire::read_unified_conf(wrapped.dump()).value();
      const auto text = generate(conf.arguments.at(0), file.at("process_number"), environment);
      if (file.at("expected").contains("error")) {
        ASSERT_FALSE(text.has_value());
        EXPECT_EQ(text.error().message, file.at("expected").at("error"));
      } else {
        EXPECT_EQ(text.value(), file.at("expected").at("value"));
      }
    } else if (file.at("kind") == "generate_arguments") {
      const auto conf = wire::read_unified_conf(file.at("config").dump()).value();
      const auto words = generate_all(conf, file.at("process_number"), environment,
                                      value_or<std::string>(file, "binary_path", ""));
      EXPECT_EQ(json(words.value()), file.at("expected"));
    } else {
      ASSERT_EQ(file.at("kind"), "marshal");
      EXPECT_EQ(wire::write_unified_conf(wire::read_unified_conf(file.at("config").dump()).value()),
                file.at("expected"));
    }
  }
}

}  // namespace
}  // namespace fdbpack::conf
