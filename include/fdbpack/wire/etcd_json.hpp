// SPDX-License-Identifier: Apache-2.0
//
// Questions to etcd's JSON gateway (v3.4 and later) and its answers. Keys and values are bytes here
// and base64 there; whole numbers of 64 bits are strings there.
//
//   /v3/kv/range  /v3/kv/txn  /v3/lease/grant  /v3/lease/keepalive  /v3/lease/revoke
//   /v3/watch     /v3/auth/authenticate
//
// etcd takes 128 operations at most, counted along each path into a transaction: the longest list
// of the outer one and of the one inside it. 64 transactions of 64 writes are within that, and are
// still all or nothing, since only the outer one has conditions.
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::wire {

struct EtcdEntry {
  std::string key;
  std::string value;
  std::uint64_t create_revision = 0;
  std::uint64_t mod_revision = 0;
  std::int64_t lease = 0;

  bool operator==(const EtcdEntry&) const = default;
};

struct EtcdCompare {
  enum class What { create_revision, mod_revision };
  std::string key;
  What what = What::mod_revision;
  std::uint64_t revision = 0;  // of a key that is not there: 0
};

struct EtcdWrite {
  std::string key;
  std::optional<std::string> value;  // none: the key is removed
  std::int64_t lease = 0;
};

inline constexpr std::size_t kEtcdComparesMax = 64;
inline constexpr std::size_t kEtcdWritesMax = 64 * 64;

struct EtcdTxn {
  std::vector<EtcdCompare> compares;  // at most kEtcdComparesMax
  std::vector<EtcdWrite> writes;      // at most kEtcdWritesMax
  std::string read_otherwise;         // a key that is read when a comparison fails
};
struct EtcdTxnAnswer {
  std::uint64_t revision = 0;
  bool has_succeeded = false;
  std::optional<EtcdEntry> read;  // what `read_otherwise` is
};
[[nodiscard]] std::string print_etcd_txn(const EtcdTxn& txn);
[[nodiscard]] Result<EtcdTxnAnswer> read_etcd_txn(std::string_view text);

struct EtcdRange {
  std::string begin;
  std::string end;             // empty: only the key `begin`
  std::uint64_t revision = 0;  // as of then; 0: now
  std::int64_t limit = 0;      // 0: all
};
struct EtcdRangeAnswer {
  std::uint64_t revision = 0;  // now
  std::vector<EtcdEntry> entries;
  bool has_more = false;
};
[[nodiscard]] std::string print_etcd_range(const EtcdRange& range);
[[nodiscard]] Result<EtcdRangeAnswer> read_etcd_range(std::string_view text);
// Behind the last key that begins with `prefix`; "\0", etcd's word for the end, when there is none.
[[nodiscard]] std::string etcd_prefix_end(std::string prefix);

struct EtcdLease {
  std::int64_t id = 0;
  std::int64_t ttl_s = 0;  // 0: it has run out
};
[[nodiscard]] std::string print_etcd_grant(std::int64_t ttl_s);
[[nodiscard]] std::string print_etcd_lease(std::int64_t id);  // keepalive and revoke
[[nodiscard]] Result<EtcdLease> read_etcd_lease(std::string_view text);

struct EtcdEvent {
  EtcdEntry entry;
  bool is_removal = false;
};
struct EtcdWatchAnswer {
  std::uint64_t revision = 0;
  bool is_created = false;
  bool is_canceled = false;
  std::uint64_t compact_revision = 0;  // canceled because all before this was forgotten
  std::string reason;                  // canceled
  std::vector<EtcdEvent> events;
};
[[nodiscard]] std::string print_etcd_watch(const std::string& begin, const std::string& end,
                                           std::uint64_t first_revision);
[[nodiscard]] Result<EtcdWatchAnswer> read_etcd_watch(std::string_view line);

[[nodiscard]] std::string print_etcd_login(std::string_view user, std::string_view password);
[[nodiscard]] Result<std::string> read_etcd_token(std::string_view text);

// What etcd says with any status but 200: a code of gRPC, 2 (unknown) when it is not told.
struct EtcdFailure {
  int code = 2;
  std::string message;
};
[[nodiscard]] EtcdFailure read_etcd_failure(std::string_view text);

}  // namespace fdbpack::wire
