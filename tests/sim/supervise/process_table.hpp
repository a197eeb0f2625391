// SPDX-License-Identifier: Apache-2.0
//
// A simulated kernel's view of processes: who lives, what signals do to them, when they die. It
// knows nothing of agents, and pids are few, so that they are used again soon.
//
//   alive --- signal, own exit ---> dead (its pid is held until it is reaped) ---> reaped
//     members of its group may outlive it until SIGKILL reaches them
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/random.hpp"
#include "fdbpack/supervise/machine.hpp"

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

namespace fdbpack::supervise::sim {

inline constexpr Instant kNever = Instant::max();

struct SimProcess {
  std::uint64_t serial = 0;  // what a pidfd is to the real agent: never used twice
  int pid = 0;
  int id = 0;         // which section it was started for: the environment marker
  Revision revision;  // likewise
  Instant since;
  bool is_alive = true;
  bool is_reaped = false;
  bool is_watched = false;  // an agent holds it and has not yet seen its end
  bool ignores_term = false;
  bool is_stopped = false;
  bool has_term_pending = false;
  bool leaves_group = false;  // its group outlives it
  bool group_lives = false;
  Instant unkillable_until{};  // state D
  Instant dies_at = kNever;
  Instant group_dies_at = kNever;
  Exit exit;
};

class ProcessTable {
 public:
  explicit ProcessTable(Random& random) : random_(random) { processes_.reserve(32); }

  SimProcess& spawn(int id, const Revision& revision, Instant now);
  void reap(SimProcess& process);

  // False: nobody is there to get it (ESRCH).
  bool signal(SimProcess& process, int signal, Instant now);
  void exit_at(SimProcess& process, Instant at, const Exit& exit);

  [[nodiscard]] Instant next_death() const;
  // Lets everybody die whose time has come.
  void advance(Instant now);

  [[nodiscard]] SimProcess* find(std::uint64_t serial);
  [[nodiscard]] std::vector<SimProcess>& all() { return processes_; }
  // Processes, and groups without one, that live for `id`.
  [[nodiscard]] int count_living(int id) const;

  // Processes that are none of ours come and go and take free pids.
  void shuffle_strangers();

 private:
  static constexpr int kPids = 32;

  int take_pid();

  Random& random_;
  std::vector<SimProcess> processes_;
  std::bitset<kPids> used_;
  std::bitset<kPids> strangers_;
  std::uint64_t last_serial_ = 0;
};

}  // namespace fdbpack::supervise::sim
