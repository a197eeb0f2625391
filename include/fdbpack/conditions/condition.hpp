// SPDX-License-Identifier: Apache-2.0
//
// What is wrong on a host, since when.
//
//   HostFacts ──observe()──> observations ──ConditionBook::take()──> conditions
//
//                    seen                    seen for `onset`
//        (nothing) ────────> candidate ─────────────────────────> active <──┐
//            ^                   │ not seen                          │      │ seen again
//            ├───────────────────┘                          not seen v      │
//            └────────────────────────── not seen for `kMemory` ── past ────┘ for `onset`
//
// A condition keeps the moment at which it was first seen for as long as it is remembered, so that
// one which comes and goes does not look new each time. Past ones stay visible until they are
// forgotten. Time is the calendar's, because conditions outlive agents and boots.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::conditions {

enum class Type {
  incorrect_command_line,  // what runs differs from what is configured
  incorrect_config_map,    // the conf that is there is refused; the last good one is in force
  missing_processes,       // configured, and does not run
  crash_looping,           // ends again and again by itself
  process_io_error,        // its disk failed it
  storage_full,            // too little room for FoundationDB to go on writing
  missing_pvc,             // there is no data directory
};

// "missingProcesses"
[[nodiscard]] std::string_view to_string(Type type);
[[nodiscard]] std::optional<Type> parse_type(std::string_view text);

// ---- what is seen -----------------------------------------------------------------------------

struct ProcessFacts {
  std::string process;  // the section
  bool is_configured = true;
  bool is_held = false;  // an administrator stopped it
  bool is_running = false;
  bool has_other_command = false;
  bool has_run_well = false;  // it runs, for long enough not to end soon after its start
  unsigned quick_deaths = 0;
  std::string last_exit;  // "exited with code 1"; empty: it never ended
  std::string io_error;   // what it said of its disk when it ended by itself
};

struct DirectoryFacts {
  std::string process;
  std::string path;
  bool is_missing = false;
  bool is_read_only = false;
  std::string error;  // why it cannot be looked at; empty: it can
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

struct HostFacts {
  std::vector<ProcessFacts> processes;
  std::vector<DirectoryFacts> directories;  // only those that were looked at
  std::string conf_refused;                 // why; empty: it is in force
  std::set<std::string> unread;             // processes whose directory was not looked at yet
};

struct Observation {
  Type type = Type::missing_processes;
  std::string process;  // empty: the host
  std::string reason;

  bool operator==(const Observation&) const = default;
};

// Whether fdbserver says in this line that its disk failed it.
[[nodiscard]] bool tells_of_disk_failure(std::string_view line);

class ConditionBook;
// The book so far is for what ends otherwise than it begins: storage_full a little above its limit,
// crash_looping with a process that runs well.
[[nodiscard]] std::vector<Observation> observe(const HostFacts& facts, const ConditionBook& book);

// ---- what is known ----------------------------------------------------------------------------

struct Condition {
  Type type = Type::missing_processes;
  std::string process;
  WallTime first_seen;
  WallTime last_seen;
  std::string reason;
  bool is_active = true;
  std::uint64_t times = 1;  // it became active

  bool operator==(const Condition&) const = default;
};

class ConditionBook {
 public:
  static constexpr auto kMemory = std::chrono::minutes(10);
  // `last_seen` of what goes on is noted this often, so that pages and files rest meanwhile.
  static constexpr auto kConfirmEvery = std::chrono::seconds(60);

  // Takes what is seen now. True: conditions() is not what it was. `unread`: processes whose data
  // directory was not looked at yet; what is known of their disks stays as it is.
  bool take(const std::vector<Observation>& seen, WallTime now,
            const std::set<std::string>& unread = {});
  // When take() would answer something else although nothing else is seen.
  [[nodiscard]] std::optional<WallTime> next_change() const;

  [[nodiscard]] std::vector<Condition> conditions() const;  // by type, then process
  [[nodiscard]] bool is_active(Type type, std::string_view process) const;
  // From an earlier agent. What was active is, until it is judged.
  void restore(const std::vector<Condition>& conditions);

 private:
  using Key = std::pair<Type, std::string>;
  struct Entry {
    Condition condition;
    std::optional<WallTime> candidate_since;  // not active, and seen since then
  };
  bool see(const Observation& one, WallTime now);

  std::map<Key, Entry> entries_;
};

}  // namespace fdbpack::conditions
