// SPDX-License-Identifier: Apache-2.0
//
// The agent's side of reports: what is sent next, given what the coordinator is known to have.
//
//   facts change ──► pending ──next()──► on its way ──answered(taken | repeated)──► known there
//                                            │
//                                            ├── lost: the same stamp with the same content again
//                                            └── needs_full, another coordinator: everything
//
// While a report is on its way further changes wait for the one after it, so there is never more
// than one difference to remember.
#pragma once

#include "fdbpack/cluster/report.hpp"

#include <optional>
#include <string>

namespace fdbpack::cluster {

struct ReportAnswer {
  ReportOutcome outcome = ReportOutcome::taken;
  std::string session;  // of the coordinator that answers
  // The life that it knows: an agent whose state came out of a backup goes on above it.
  std::uint64_t known_epoch = 0;
};

class ReportSource {
 public:
  // `epoch` is larger than in every life of this installation before.
  ReportSource(std::string instance, std::uint64_t epoch);

  void set(const std::string& key, std::string value);
  void remove(const std::string& key);
  // All at once; keys that are not in `facts` are removed.
  void replace(Facts facts);

  // There is something that the coordinator has not been told.
  [[nodiscard]] bool has_news() const;
  // The report to send now: the one on its way again, or a new one, perhaps without news.
  [[nodiscard]] Report next(std::uint64_t assignment);
  // To the report that next() gave last.
  void answered(const ReportAnswer& answer);
  // Of this life; to be kept with the agent's state.
  [[nodiscard]] std::uint64_t epoch() const { return stamp_.epoch; }
  // A connection to another coordinator, which may know nothing of us.
  void start_over();

 private:
  [[nodiscard]] Report make_delta() const;

  Facts facts_;
  Facts known_;  // what the coordinator has, while `is_known_`
  bool is_known_ = false;
  ReportStamp stamp_;
  std::string session_;
  std::optional<Report> on_its_way_;
  Facts sent_;  // facts_ as of on_its_way_
};

}  // namespace fdbpack::cluster
