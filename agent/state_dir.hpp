// SPDX-License-Identifier: Apache-2.0
//
// What the agent keeps on disk.
//
//   <state directory>/          0750
//     lock              0640    held by the one agent that uses the directory
//     state.json        0600    processes left running, for the agent after it (wire/agent_state)
//     last-good.conf    0600    the conf in force; guards against a broken one over a restart
//     started.json      0600    the configuration of `run` that the agent started by
//     host.json         0600    conditions and draining, which outlive agents and boots
//     status.json       0644    what an administrator or another program may read
//     agent.sock        0660    HTTP (docs/http-api.md)
//
// All of it is replaced whole. None of it is needed: without it processes are found by their marks,
// and the conf is taken as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fdbpack::agent {

inline constexpr unsigned kStateDirMode = 0750;
inline constexpr unsigned kPrivateMode = 0600;
inline constexpr unsigned kPublicMode = 0644;

class StateDir {
 public:
  explicit StateDir(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string state() const { return path_ + "/state.json"; }
  [[nodiscard]] std::string last_good_conf() const { return path_ + "/last-good.conf"; }
  [[nodiscard]] std::string started_config() const { return path_ + "/started.json"; }
  [[nodiscard]] std::string host() const { return path_ + "/host.json"; }
  [[nodiscard]] std::string socket() const { return path_ + "/agent.sock"; }
  [[nodiscard]] std::string status() const { return path_ + "/status.json"; }

  // Tells this agent's processes from those of another agent on the host: the same for each agent
  // that uses this directory, one after the other.
  [[nodiscard]] std::string agent_id() const {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char c : path_) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    std::string text = "fdbpack-";
    for (int shift = 60; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[(hash >> shift) & 15u];
    return text;
  }

 private:
  std::string path_;  // absolute
};

}  // namespace fdbpack::agent
