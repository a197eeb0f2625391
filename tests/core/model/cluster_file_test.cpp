// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/cluster_file.hpp"

#include <gtest/gtest.h>

namespace fdbpack::model {
namespace {

TEST(ClusterFile, CommentsAndBlanksDoNotCount) {
  const auto connection = parse_cluster_file(
      "# made by hand\n\n  sample_cluster : aB3 @ 10.0.0.7:4501, # first\n\t10.0.0.8:4501\r\n");
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(print_cluster_file(*connection), "sample_cluster:aB3@10.0.0.7:4501,10.0.0.8:4501\n");
}

TEST(ClusterFile, RefusesACoordinatorTwiceInAnySpelling) {
  const auto connection = parse_cluster_file("a:b@[::1]:4500,[0::1]:4500");
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().message,
            "invalid connection string: a:b@[::1]:4500,[0::1]:4500, the coordinator [::1]:4500 is "
            "there twice");
}

TEST(ClusterFile, RefusesWhatFoundationDbDoes) {
  for (const auto* text :
       {"", "# nothing", "a", "a:b", "a:b@", "a@b:1", "a-b:c@10.0.0.7:4500", "a:b_c@10.0.0.7:4500",
        ":b@10.0.0.7:4500", "a:@10.0.0.7:4500", "a:b@10.0.0.7", "a:b@10.0.0.7:4500,"}) {
    EXPECT_FALSE(parse_cluster_file(text)) << text;
  }
}

TEST(ClusterFile, DescriptionIsMadeFromAName) {
  EXPECT_EQ(sanitize_description("sample-cluster.2"), "sample_cluster_2");
}

}  // namespace
}  // namespace fdbpack::model
