// SPDX-License-Identifier: Apache-2.0
//
// What is written about the calls holds: docs/http-api.md, its curl examples and the OpenAPI file.
#include "agent/api/routes.hpp"
#include "tests/agent/api/api_fixture.hpp"
#include "tests/support/places.hpp"

#include <set>
#include <sstream>

namespace fdbpack::test {
namespace {

json openapi() {
  return json::parse(read_file(test::source_file("docs/openapi/agent.json")));
}

std::string access_name(http::Access access) {
  return access == http::Access::probe  ? "probe"
         : access == http::Access::read ? "read"
                                        : "operate";
}

// Whether a value is what a schema says, as far as our schemas go.
std::string violation(const json& root, const json& schema, const json& value,
                      const std::string& path) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>().substr(21);
    return violation(root, root["components"]["schemas"][name], value, path);
  }
  if (value.is_null() && schema.value("nullable", false)) return "";
  const std::string type = schema.value("type", "object");
  const bool fits = type == "object"    ? value.is_object()
                    : type == "array"   ? value.is_array()
                    : type == "string"  ? value.is_string()
                    : type == "integer" ? value.is_number_integer()
                                        : value.is_boolean();
  if (!fits) return path + " is no " + type;
  if (schema.contains("enum")) {
    const auto& all = schema["enum"];
    if (std::find(all.begin(), all.end(), value) == all.end()) return path + " is none of its enum";
  }
  for (const auto& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) return path + " lacks " + name.dump();
  }
  std::string found;
  if (value.is_array() && schema.contains("items")) {
    for (const auto& item : value)
      found += violation(root, schema["items"], item, path + "[]");
  }
  if (!value.is_object()) return found;
  for (const auto& [name, member] : value.items()) {
    if (schema.contains("properties") && schema["properties"].contains(name)) {
      found += violation(root, schema["properties"][name], member, path + "." + name);
    } else if (schema.contains("additionalProperties")) {
      found += violation(root, schema["additionalProperties"], member, path + "." + name);
    }
  }
  return found;
}

TEST(ApiDocs, HaveEveryRouteAndNoOther) {
  const json paths = openapi()["paths"];
  const std::string page = read_file(test::source_file("docs/http-api.md"));
  std::set<std::string> routes, described;
  for (const auto& route : agent::make_routes().routes()) {
    const std::string method(http::to_string(route.method));
    const std::string lower = method == "GET" ? "get" : "post";
    routes.insert(lower + " " + route.pattern);
    EXPECT_THAT(page, HasSubstr("`" + method + " " + route.pattern + "`"));
    const json described_access = paths.value(route.pattern, json::object())
                                      .value(lower, json::object())
                                      .value("x-access", "");
    EXPECT_EQ(described_access, access_name(route.access)) << route.pattern;
  }
  for (const auto& [path, methods] : paths.items()) {
    for (const auto& [method, operation] : methods.items())
      described.insert(method + " " + path);
  }
  EXPECT_EQ(described, routes);
}

TEST_F(ApiTest, PagesFitTheirSchemas) {
  write_conf(
      {{"1", "public_address = 127.0.0.1:4500\nlocality_instance_id = storage-1\ndatadir = " +
                 dir().file("data") + "\n"},
       {"2", "mode = exit\ncode = 1\n"}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  ASSERT_TRUE(wait_for_json("/v1/status", [](const json& page) {
    return page["processes"]["child.2"].contains("last_exit") && !page["storage"]["units"].empty();
  }));
  const json root = openapi();
  int checked = 0;
  for (const auto& [path, methods] : root["paths"].items()) {
    if (!methods.contains("get")) continue;
    const json& content = methods["get"]["responses"]["200"]["content"];
    if (!content.contains("application/json")) continue;
    std::string target = path;
    if (const auto at = target.find("{id}"); at != std::string::npos)
      target.replace(at, 4, "child.1");
    const json page = get_json(target);
    EXPECT_EQ(violation(root, content["application/json"]["schema"], page, target), "");
    ++checked;
  }
  EXPECT_EQ(checked, 8);
}

// Every command of the page, with the real curl.
TEST_F(ApiTest, CurlExamplesWork) {
  if (run_to_end({"/bin/sh", "-c", "curl --version > /dev/null 2>&1"}) != 0) {
    GTEST_SKIP() << "there is no curl on this machine";
  }
  replace_file(conf_path(),
               "[general]\nrestart_delay = 1\n[fdbserver]\ncommand = " + child_program() +
                   "\nid = $ID\nstamp = " + dir().file("stamps") + "\n[fdbserver.4500]\n");
  start_api();
  ASSERT_TRUE(wait_running("fdbserver.4500"));
  std::istringstream page(read_file(test::source_file("docs/http-api.md")));
  const std::string set = "SOCKET=" + socket_path() +
                          "; URL=http://127.0.0.1:" + std::to_string(port()) + "; exec >> " +
                          dir().file("out") + " 2>&1; ";
  int count = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("$ curl ")) continue;
    ++count;
    EXPECT_EQ(run_to_end({"/bin/sh", "-c", set + line.substr(2)}), 0)
        << line << "\n"
        << read_file(dir().file("out"));
  }
  EXPECT_GE(count, 19);
  EXPECT_EQ(starts("4500"), 3U) << "one restart, and one stop and start";
}

}  // namespace
}  // namespace fdbpack::test
