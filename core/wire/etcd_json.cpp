// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/etcd_json.hpp"

#include "etcd_reading.hpp"
#include "fdbpack/base/base64.hpp"
#include "fdbpack/base/check.hpp"
#include "fdbpack/wire/json_writer.hpp"

#include <algorithm>

namespace fdbpack::wire {
namespace {

constexpr std::size_t kListMax = 64;
static_assert(kEtcdWritesMax == kListMax * kListMax && kEtcdComparesMax <= kListMax);

void print_write(JsonWriter& json, const EtcdWrite& write) {
  json.begin_object();
  if (write.value) {
    json.key("requestPut").begin_object().member("key", to_base64(write.key));
    json.member("value", to_base64(*write.value));
    if (write.lease != 0) json.member("lease", std::to_string(write.lease));
  } else {
    json.key("requestDeleteRange").begin_object().member("key", to_base64(write.key));
  }
  json.end_object().end_object();
}

void print_writes(JsonWriter& json, const std::vector<EtcdWrite>& writes) {
  json.begin_array();
  if (writes.size() <= kListMax) {
    for (const auto& write : writes)
      print_write(json, write);
    json.end_array();
    return;
  }
  for (std::size_t begin = 0; begin < writes.size(); begin += kListMax) {
    json.begin_object().key("requestTxn").begin_object().key("success").begin_array();
    const std::size_t end = std::min(begin + kListMax, writes.size());
    for (std::size_t i = begin; i < end; ++i)
      print_write(json, writes[i]);
    json.end_array().end_object().end_object();
  }
  json.end_array();
}

}  // namespace

std::string print_etcd_txn(const EtcdTxn& txn) {
  FDBPACK_CHECK(txn.compares.size() <= kEtcdComparesMax && txn.writes.size() <= kEtcdWritesMax);
  JsonWriter json;
  json.begin_object().key("compare").begin_array();
  for (const auto& compare : txn.compares) {
    const bool is_create = compare.what == EtcdCompare::What::create_revision;
    json.begin_object().member("key", to_base64(compare.key)).member("result", "EQUAL");
    json.member("target", is_create ? "CREATE" : "MOD");
    json.member(is_create ? "createRevision" : "modRevision", std::to_string(compare.revision));
    json.end_object();
  }
  json.end_array().key("success");
  print_writes(json, txn.writes);
  if (!txn.read_otherwise.empty()) {
    json.key("failure").begin_array().begin_object().key("requestRange").begin_object();
    json.member("key", to_base64(txn.read_otherwise));
    json.end_object().end_object().end_array();
  }
  json.end_object();
  return std::move(json).text();
}

Result<EtcdTxnAnswer> read_etcd_txn(std::string_view text) {
  EtcdReading reading(text);
  EtcdTxnAnswer answer;
  answer.revision = reading.header_revision(reading.root());
  answer.has_succeeded = reading.boolean(reading.root(), "succeeded");
  if (!answer.has_succeeded) {
    const auto* responses = reading.member(reading.root(), "responses");
    for (const auto& response : reading.items(responses)) {
      const auto* range = reading.member(&response, "response_range");
      for (const auto& entry : reading.items(reading.member(range, "kvs"))) {
        answer.read = reading.entry(&entry);
      }
    }
  }
  return reading.done("transaction", std::move(answer));
}

std::string print_etcd_range(const EtcdRange& range) {
  JsonWriter json;
  json.begin_object().member("key", to_base64(range.begin));
  if (!range.end.empty()) json.member("rangeEnd", to_base64(range.end));
  if (range.revision != 0) json.member("revision", std::to_string(range.revision));
  if (range.limit != 0) json.member("limit", std::to_string(range.limit));
  json.end_object();
  return std::move(json).text();
}

Result<EtcdRangeAnswer> read_etcd_range(std::string_view text) {
  EtcdReading reading(text);
  EtcdRangeAnswer answer;
  answer.revision = reading.header_revision(reading.root());
  answer.has_more = reading.boolean(reading.root(), "more");
  const auto& entries = reading.items(reading.member(reading.root(), "kvs"));
  answer.entries.reserve(entries.size());
  for (const auto& entry : entries)
    answer.entries.push_back(reading.entry(&entry));
  return reading.done("range", std::move(answer));
}

std::string etcd_prefix_end(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF')
    prefix.pop_back();
  if (prefix.empty()) return std::string(1, '\0');
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

std::string print_etcd_grant(std::int64_t ttl_s) {
  JsonWriter json;
  json.begin_object().member("TTL", std::to_string(ttl_s)).end_object();
  return std::move(json).text();
}

std::string print_etcd_lease(std::int64_t id) {
  JsonWriter json;
  json.begin_object().member("ID", std::to_string(id)).end_object();
  return std::move(json).text();
}

Result<EtcdLease> read_etcd_lease(std::string_view text) {
  EtcdReading reading(text);
  const JsonValue* lease = reading.root();
  // A keepalive is a stream of one answer, and those are wrapped.
  if (const auto* wrapped = reading.member(lease, "result")) lease = wrapped;
  EtcdLease answer;
  answer.id = reading.whole(lease, "ID");
  answer.ttl_s = reading.whole(lease, "TTL");
  return reading.done("lease", answer);
}

std::string print_etcd_watch(const std::string& begin, const std::string& end,
                             std::uint64_t first_revision) {
  JsonWriter json;
  json.begin_object().key("createRequest").begin_object();
  json.member("key", to_base64(begin));
  if (!end.empty()) json.member("rangeEnd", to_base64(end));
  json.member("startRevision", std::to_string(first_revision)).member("progressNotify", true);
  json.end_object().end_object();
  return std::move(json).text();
}

Result<EtcdWatchAnswer> read_etcd_watch(std::string_view line) {
  EtcdReading reading(line);
  const JsonValue* result = reading.member(reading.root(), "result");
  if (result == nullptr) {
    const auto failure = read_etcd_failure(line);
    return fail(ErrorCode::unavailable, "the watch ended: " + failure.message);
  }
  EtcdWatchAnswer answer;
  answer.revision = reading.header_revision(result);
  answer.is_created = reading.boolean(result, "created");
  answer.is_canceled = reading.boolean(result, "canceled");
  answer.compact_revision = static_cast<std::uint64_t>(reading.whole(result, "compact_revision"));
  answer.reason = reading.string(result, "cancel_reason");
  for (const auto& event : reading.items(reading.member(result, "events"))) {
    EtcdEvent one;
    one.is_removal = reading.string(&event, "type") == "DELETE";
    one.entry = reading.entry(reading.member(&event, "kv"));
    answer.events.push_back(std::move(one));
  }
  return reading.done("watch", std::move(answer));
}

std::string print_etcd_login(std::string_view user, std::string_view password) {
  JsonWriter json;
  json.begin_object().member("name", user).member("password", password).end_object();
  return std::move(json).text();
}

Result<std::string> read_etcd_token(std::string_view text) {
  EtcdReading reading(text);
  std::string token = reading.string(reading.root(), "token");
  if (token.empty()) return fail(ErrorCode::corrupt, "etcd answered a login without a token");
  return reading.done("login", std::move(token));
}

EtcdFailure read_etcd_failure(std::string_view text) {
  EtcdReading reading(text);
  EtcdFailure failure;
  const JsonValue* root = reading.root();
  // Of a stream it is {"error": {"grpc_code": …, "message": …}}.
  const JsonValue* stream_error = reading.member(root, "error");
  const bool is_stream =
      stream_error != nullptr && std::holds_alternative<JsonValue::Object>(stream_error->data);
  failure.message = reading.string(is_stream ? stream_error : root, "message");
  const auto code =
      is_stream ? reading.whole(stream_error, "grpc_code") : reading.whole(root, "code");
  if (code != 0) failure.code = static_cast<int>(code);
  if (failure.message.empty()) {
    failure.message = "etcd said no more than: " + std::string(text.substr(0, 200));
  }
  return failure;
}

}  // namespace fdbpack::wire
