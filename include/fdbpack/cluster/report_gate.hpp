// SPDX-License-Identifier: Apache-2.0
//
// The coordinator's side of reports from one host: which are taken, and what is known after them.
//
//                    full, or delta on the last             delta on anything else
//      (unknown) ──────────────full only────────► known ───────────────────────────► needs_full
//                                                   │
//       needs_full: made for another session        │
//       repeated: same stamp as the last            │  another instance: name_taken, until this
//       outdated: an earlier epoch or sequence      ▼  one has been silent for `silence_max`
//
// A network may lose, repeat and reorder reports, and agents restart: whatever happens, the facts
// here are those of one report that the agent really sent, and never go back in time.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/cluster/report.hpp"

#include <string>
#include <utility>

namespace fdbpack::cluster {

class ReportGate {
 public:
  explicit ReportGate(std::string session) : session_(std::move(session)) {}

  // `silence_max`: after this long another installation may take the name over.
  [[nodiscard]] ReportOutcome take(Report report, Instant now, Duration silence_max);

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const ReportStamp& stamp() const { return stamp_; }
  [[nodiscard]] bool is_known() const { return is_known_; }
  // Of the last report that was this agent's, whether it said anything new or not.
  [[nodiscard]] Instant heard_at() const { return heard_at_; }

 private:
  void accept(Report report);

  std::string session_;
  bool is_known_ = false;
  ReportStamp stamp_;
  Instant heard_at_{};
  Facts facts_;
};

}  // namespace fdbpack::cluster
