// SPDX-License-Identifier: Apache-2.0
//
// Questions as etcd 3.4 understands them, and answers as it gave them.
#include "fdbpack/wire/etcd_json.hpp"

#include <gtest/gtest.h>

namespace fdbpack::wire {
namespace {

TEST(EtcdJson, PrintsATransaction) {
  EtcdTxn txn;
  txn.compares = {{"l", EtcdCompare::What::create_revision, 7},
                  {"a", EtcdCompare::What::mod_revision, 0}};
  txn.writes = {{"a", "v", 5}, {"b", std::nullopt, 0}};
  txn.read_otherwise = "l";
  EXPECT_EQ(print_etcd_txn(txn),
            R"({"compare":[{"key":"bA==","result":"EQUAL","target":"CREATE","createRevision":"7"},)"
            R"({"key":"YQ==","result":"EQUAL","target":"MOD","modRevision":"0"}],)"
            R"("success":[{"requestPut":{"key":"YQ==","value":"dg==","lease":"5"}},)"
            R"({"requestDeleteRange":{"key":"Yg=="}}],)"
            R"("failure":[{"requestRange":{"key":"bA=="}}]})");
}

TEST(EtcdJson, PutsManyWritesIntoTransactionsInside) {
  EtcdTxn txn;
  for (int i = 0; i < 130; ++i)
    txn.writes.push_back({std::to_string(i), "v", 0});
  const std::string text = print_etcd_txn(txn);
  std::size_t inside = 0;
  for (auto at = text.find("requestTxn"); at != text.npos; at = text.find("requestTxn", at + 1))
    ++inside;
  EXPECT_EQ(inside, 3U);
}

TEST(EtcdJson, ReadsWhyATransactionFailed) {
  const auto answer = read_etcd_txn(
      R"({"header":{"cluster_id":"17796131871732359793","revision":"6"},"responses":)"
      R"([{"response_range":{"header":{"revision":"6"},"kvs":[{"key":"azE=","create_revision":"6",)"
      R"("mod_revision":"6","version":"1","value":"dg==","lease":"77"}],"count":"1"}}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->has_succeeded);
  EXPECT_EQ(answer->revision, 6U);
  EXPECT_EQ(answer->read, (EtcdEntry{"k1", "v", 6, 6, 77}));
}

TEST(EtcdJson, ReadsEventsOfAWatch) {
  const auto answer = read_etcd_watch(
      R"({"result":{"header":{"revision":"6"},"events":[{"kv":{"key":"azE=","create_revision":"6",)"
      R"("mod_revision":"6","version":"1","value":"dg=="}},)"
      R"({"type":"DELETE","kv":{"key":"azAtMA==",)"
      R"("mod_revision":"6"}}]}})");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->events.size(), 2U);
  EXPECT_FALSE(answer->events[0].is_removal);
  EXPECT_TRUE(answer->events[1].is_removal);
  EXPECT_EQ(answer->events[1].entry.key, "k0-0");
  const auto canceled = read_etcd_watch(
      R"({"result":{"header":{"raft_term":"2"},"canceled":true,"compact_revision":"3"}})");
  ASSERT_TRUE(canceled);
  EXPECT_TRUE(canceled->is_canceled);
  EXPECT_EQ(canceled->compact_revision, 3U);
}

TEST(EtcdJson, ReadsLeasesWrappedOrNot) {
  EXPECT_EQ(read_etcd_lease(R"({"header":{},"ID":"6609773448206237452","TTL":"2"})")->id,
            6609773448206237452);
  EXPECT_EQ(read_etcd_lease(R"({"result":{"header":{},"ID":"5","TTL":"9"}})")->ttl_s, 9);
  EXPECT_EQ(read_etcd_lease(R"({"result":{"header":{},"ID":"12345"}})")->ttl_s, 0);
}

TEST(EtcdJson, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "x", "[]", "{", R"({"header":7})", R"({"header":{"revision":"x"}})",
                           R"({"kvs":{}})", R"({"kvs":[{"key":"!","mod_revision":"1"}]})",
                           R"({"kvs":[{"key":"azE="}]})", R"({"more":"yes"})"}) {
    const auto answer = read_etcd_range(text);
    ASSERT_FALSE(answer) << text;
    EXPECT_EQ(answer.error().code, ErrorCode::corrupt);
  }
}

TEST(EtcdJson, ReadsFailuresOfEitherForm) {
  const auto plain =
      read_etcd_failure(R"({"error":"x","message":"etcdserver: request is too large","code":3})");
  EXPECT_EQ(plain.code, 3);
  EXPECT_EQ(plain.message, "etcdserver: request is too large");
  const auto stream =
      read_etcd_failure(R"({"error":{"grpc_code":14,"http_code":503,"message":"no"}})");
  EXPECT_EQ(stream.code, 14);
  EXPECT_EQ(stream.message, "no");
  EXPECT_EQ(read_etcd_failure("<html>Bad gateway</html>").code, 2);
}

TEST(EtcdJson, FindsTheEndOfAPrefix) {
  EXPECT_EQ(etcd_prefix_end("a/"), "a0");
  EXPECT_EQ(etcd_prefix_end("a\xFF\xFF"), "b");
  EXPECT_EQ(etcd_prefix_end("\xFF"), std::string(1, '\0'));
  EXPECT_EQ(etcd_prefix_end(""), std::string(1, '\0'));
}

}  // namespace
}  // namespace fdbpack::wire
