// SPDX-License-Identifier: Apache-2.0
//
// Holds the last good conf and says what is wrong with the file that is there now.
//
//   file --read--> text --parse, resolve, look up user--> candidate --guard--> in force, or refused
//
// A refused file changes nothing. Its errors can be seen, with line and reason, until a good one
// comes. The conf in force is also kept in the state directory, so that the next agent has it.
//
// What a reader makes of a text may depend on more than the text (a pod is isolated, a node has new
// labels). So that this takes effect while the file is refused, the text in force is read again.
#pragma once

#include "agent/state_dir.hpp"
#include "agent/world.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/supervise/conf_change.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::agent {

struct LoadedConf {
  std::string text;
  conf::MonitorConf conf;  // with $PID left as it is: what a process is does not depend on it
  // The command lines with $PID replaced, in the order of conf.processes; empty: nothing differs.
  std::vector<std::vector<std::string>> launch_argv;
  std::optional<ports::Identity> identity;  // none: neither user nor group are given
};

// Makes a conf of what is in the file, where that is something else.
using ConfTranslator = std::function<Result<std::string>(std::string_view text)>;

struct ConfCandidate {
  LoadedConf loaded;
  std::vector<conf::Diagnostic> diagnostics;
};
// Reads a file of another format. What it calls an error is refused; nothing else is, because the
// guard knows confs only, and such a format has to tell by itself where it ends.
using ConfReader = std::function<ConfCandidate(std::string text)>;

class ConfKeeper {
 public:
  ConfKeeper(World& world, std::string path, const StateDir& state_dir, int agent_pid,
             ConfTranslator translate = {}, ConfReader reader = {});

  // What an earlier agent had in force. Call before the first load.
  void restore();
  // Reads the file. True: there is a new conf in force, of the file or of the last good text.
  // `live` is how many processes live.
  [[nodiscard]] bool load(std::size_t live, supervise::LoadCause cause);

  [[nodiscard]] const LoadedConf* in_force() const { return in_force_ ? &*in_force_ : nullptr; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Of the file as it is now.
  [[nodiscard]] const std::vector<conf::Diagnostic>& problems() const { return problems_; }
  [[nodiscard]] std::optional<WallTime> refused_since() const { return refused_since_; }
  // Owners that a process of ours may have: by the conf in force, and by the file as it is.
  [[nodiscard]] std::vector<std::uint32_t> uids(std::uint32_t own);

 private:
  [[nodiscard]] ConfCandidate make_candidate(std::string text);
  [[nodiscard]] std::vector<conf::Diagnostic> refusal_reasons(const ConfCandidate& candidate,
                                                              std::size_t live,
                                                              supervise::LoadCause cause) const;
  void warn_of_network_commands(ConfCandidate& candidate);
  void refuse(std::vector<conf::Diagnostic> reasons);
  // The text in force as a reader takes it now; none: it is taken as before, or not at all.
  [[nodiscard]] std::optional<LoadedConf> read_again();
  [[nodiscard]] bool put_in_force(std::optional<LoadedConf> again);
  void save();

  [[nodiscard]] Result<std::string> read();
  void note_owner(const ConfCandidate& candidate);

  World& world_;
  std::string path_;
  StateDir state_dir_;
  std::string agent_pid_;
  ConfTranslator translate_;  // none: the file is a conf
  ConfReader reader_;
  std::optional<LoadedConf> in_force_;
  std::vector<conf::Diagnostic> problems_;
  std::optional<Result<std::string>> early_;  // read before the first load, which takes it
  bool is_owner_known_ = false;               // of the file as it was read last
  std::optional<std::uint32_t> file_uid_;
  std::optional<WallTime> refused_since_;
  std::string refused_text_;  // was reported already
};

}  // namespace fdbpack::agent
