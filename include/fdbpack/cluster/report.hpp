// SPDX-License-Identifier: Apache-2.0
//
// What an agent tells its coordinator: facts by key, all of them or only those that changed.
//
//   host                  name, labels, addresses, CPU, memory, version
//   units/<unit>          a storage unit: total and free
//   groups/<id>           a process group as the agent has it: what it needs to be known again
//   processes/<id>        state, address, restarts, conditions
//
// The stamp orders reports. An *instance* is one installation: the name of a random number that is
// kept with the agent's state. An *epoch* is one life of the agent, a *sequence* one report.
//
//   instance 7f3a   epoch 4   sequence 1 full, 2 delta on 1, 3 delta on 2, ...
//                   epoch 5   sequence 1 full, ...               after a restart of the agent
//   instance 91c0   epoch 1   sequence 1 full                    after the host was installed anew
//
// A report is made for one life of the coordinator, its *session*, which every answer names. So a
// coordinator that has just started and knows nothing does not take an echo of the past for news.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace fdbpack::cluster {

using Facts = std::map<std::string, std::string>;  // each value is a JSON text

struct ReportStamp {
  std::string instance;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;

  bool operator==(const ReportStamp&) const = default;
};

struct Report {
  ReportStamp stamp;
  std::string session;   // empty: not known yet
  bool is_full = false;  // otherwise on top of the report with the sequence before
  Facts facts;
  std::set<std::string> gone;    // keys that are no more; never in a full one
  std::uint64_t assignment = 0;  // the revision that the agent has carried out or works on

  bool operator==(const Report&) const = default;
};

// What the coordinator says to a report.
enum class ReportOutcome {
  taken,       // it is known now
  repeated,    // it was known already: nothing changes, the answer is the same
  needs_full,  // something before it is missing, or it was made for another session
  outdated,    // a later life of this agent was heard already: nothing changes
  name_taken,  // another installation of this name is alive
};

}  // namespace fdbpack::cluster
