// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/cluster/report_gate.hpp"

#include <utility>

namespace fdbpack::cluster {

ReportOutcome ReportGate::take(Report report, Instant now, Duration silence_max) {
  if (report.session != session_) return ReportOutcome::needs_full;
  if (is_known_ && report.stamp.instance != stamp_.instance) {
    if (now - heard_at_ <= silence_max) return ReportOutcome::name_taken;
    if (!report.is_full) return ReportOutcome::needs_full;
    heard_at_ = now;
    accept(std::move(report));
    return ReportOutcome::taken;
  }
  if (is_known_ && report.stamp.epoch < stamp_.epoch) return ReportOutcome::outdated;
  const bool is_same_life = is_known_ && report.stamp.epoch == stamp_.epoch;
  if (is_same_life && report.stamp.sequence < stamp_.sequence) return ReportOutcome::outdated;
  if (is_same_life && report.stamp.sequence == stamp_.sequence) {
    heard_at_ = now;
    return ReportOutcome::repeated;
  }
  const bool is_next = is_same_life && report.stamp.sequence == stamp_.sequence + 1;
  if (!report.is_full && !is_next) return ReportOutcome::needs_full;
  heard_at_ = now;
  accept(std::move(report));
  return ReportOutcome::taken;
}

void ReportGate::accept(Report report) {
  is_known_ = true;
  stamp_ = std::move(report.stamp);
  if (report.is_full) {
    facts_ = std::move(report.facts);
    return;
  }
  for (auto& [key, value] : report.facts)
    facts_.insert_or_assign(key, std::move(value));
  for (const std::string& key : report.gone)
    facts_.erase(key);
}

}  // namespace fdbpack::cluster
