// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/router.hpp"

#include "fdbpack/http/headers.hpp"
#include "fdbpack/http/target.hpp"

#include <gtest/gtest.h>

namespace fdbpack::http {
namespace {

using Outcome = RouteMatch::Outcome;

Router example() {
  Router router;
  router.add({Method::get, "/v1/processes/{id}", Access::read, 1});
  router.add({Method::get, "/v1/processes/all", Access::read, 2});
  router.add({Method::post, "/v1/processes/{id}/restart", Access::operate, 3});
  router.add({Method::get, "/check_hash/{path...}", Access::read, 4});
  router.add({Method::get, "/livez", Access::probe, 5});
  router.add({Method::get, "/", Access::read, 6});
  router.add({Method::post, "/livez", Access::operate, 7});
  return router;
}

TEST(Router, FindsTheCallOfAPath) {
  const Router router = example();
  const struct {
    Method method;
    const char* target;
    int call;
  } cases[] = {
      {Method::get, "/v1/processes/storage-1", 1},
      {Method::get, "/v1/processes/all", 2},
      {Method::head, "/v1/processes/all", 2},
      {Method::post, "/v1/processes/all/restart", 3},
      {Method::get, "/check_hash/a/b/c", 4},
      {Method::get, "/check_hash/", 4},
      {Method::get, "/livez?verbose", 5},
      {Method::get, "http://db-7:4490/livez", 5},
      {Method::post, "/livez", 7},
      {Method::get, "/", 6},
      {Method::get, "http://db-7", 6},
      {Method::get, "http://db-7?x=1", 6},
  };
  for (const auto& one : cases) {
    const RouteMatch match = router.match(one.method, one.target);
    ASSERT_EQ(match.outcome, Outcome::found) << one.target;
    EXPECT_EQ(match.route->call, one.call) << one.target;
  }
}

TEST(Router, GivesTheParametersOfAPath) {
  const Router router = example();
  EXPECT_EQ(router.match(Method::get, "/v1/processes/a%2Fb%20c").parameter("id"), "a/b c");
  EXPECT_EQ(router.match(Method::get, "/check_hash/x/..%2f/y?z").parameter("path"), "x/..%2f/y");
  EXPECT_EQ(router.match(Method::get, "/livez?a=1&b").query, "a=1&b");
}

TEST(Router, RefusesWhatItDoesNotKnow) {
  const Router router = example();
  const struct {
    Method method;
    const char* target;
    Outcome outcome;
    const char* allow;
  } cases[] = {
      {Method::get, "/v1", Outcome::not_found, ""},
      {Method::get, "/v1/processes", Outcome::not_found, ""},
      {Method::get, "/v1/processes/", Outcome::not_found, ""},
      {Method::get, "/v1/processes/a/b", Outcome::not_found, ""},
      {Method::get, "/v1/processes/%zz", Outcome::not_found, ""},
      {Method::get, "/v1/processes/a%00b", Outcome::not_found, ""},
      {Method::get, "/livez/", Outcome::not_found, ""},
      {Method::get, "//livez", Outcome::not_found, ""},
      {Method::get, "/../livez", Outcome::not_found, ""},
      {Method::get, "*", Outcome::not_found, ""},
      {Method::get, "livez", Outcome::bad_target, ""},
      {Method::get, "", Outcome::bad_target, ""},
      {Method::delete_, "/livez", Outcome::wrong_method, "GET, HEAD, POST"},
      {Method::get, "/v1/processes/a/restart", Outcome::wrong_method, "POST"},
      {Method::unknown, "/livez", Outcome::unknown_method, ""},
  };
  for (const auto& one : cases) {
    const RouteMatch match = router.match(one.method, one.target);
    EXPECT_EQ(match.outcome, one.outcome) << one.target;
    EXPECT_EQ(match.allow, one.allow) << one.target;
    EXPECT_EQ(match.route, nullptr) << one.target;
  }
}

TEST(Router, KeepsItsRoutesForTheDocumentation) {
  EXPECT_EQ(example().routes().size(), 7U);
}

TEST(Query, IsSplitAndDecoded) {
  const auto query = parse_query("a=1&&b=x%20y+z&c&=d");
  ASSERT_TRUE(query);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"a", "1"}, {"b", "x y z"}, {"c", ""}, {"", "d"}};
  EXPECT_EQ(*query, expected);
  EXPECT_FALSE(parse_query("a=%2"));
  EXPECT_FALSE(parse_query("%=1"));
}

TEST(Headers, AreFoundWhateverTheirCase) {
  Headers headers;
  headers.add("Host", "a");
  headers.add("If-None-Match", "\"1\"");
  headers.add("if-none-match", "\"2\"");
  EXPECT_EQ(headers.find("HOST"), "a");
  EXPECT_EQ(headers.find("Hos"), std::nullopt);
  EXPECT_EQ(headers.count("IF-NONE-MATCH"), 2U);
  EXPECT_EQ(headers.joined("If-None-Match"), "\"1\", \"2\"");
  headers.clear();
  EXPECT_TRUE(headers.empty());
  EXPECT_EQ(headers.find("Host"), std::nullopt);
}

TEST(Methods, KeepTheirNames) {
  for (const auto* name : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    EXPECT_EQ(to_string(method_of(name)), name);
  }
  EXPECT_EQ(method_of("get"), Method::unknown);
  EXPECT_EQ(method_of("BREW"), Method::unknown);
}

}  // namespace
}  // namespace fdbpack::http
