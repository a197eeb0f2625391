// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/cluster/report_source.hpp"

#include "fdbpack/base/check.hpp"

#include <utility>

namespace fdbpack::cluster {

ReportSource::ReportSource(std::string instance, std::uint64_t epoch)
    : stamp_{std::move(instance), epoch, 0} {}

void ReportSource::set(const std::string& key, std::string value) {
  facts_.insert_or_assign(key, std::move(value));
}

void ReportSource::remove(const std::string& key) {
  facts_.erase(key);
}

void ReportSource::replace(Facts facts) {
  facts_ = std::move(facts);
}

bool ReportSource::has_news() const {
  if (on_its_way_) return facts_ != sent_;
  return !is_known_ || facts_ != known_;
}

Report ReportSource::next(std::uint64_t assignment) {
  if (!on_its_way_) {
    ++stamp_.sequence;
    on_its_way_ = is_known_ ? make_delta() : Report{stamp_, session_, true, facts_, {}, 0};
    sent_ = facts_;
  }
  on_its_way_->assignment = assignment;  // not part of the facts: the latest is always right
  return *on_its_way_;
}

void ReportSource::answered(const ReportAnswer& answer) {
  FDBPACK_CHECK(on_its_way_.has_value());
  on_its_way_.reset();
  session_ = answer.session;
  switch (answer.outcome) {
    case ReportOutcome::taken:
    case ReportOutcome::repeated:
      known_ = std::move(sent_);
      is_known_ = true;
      return;
    case ReportOutcome::outdated:
      if (answer.known_epoch >= stamp_.epoch) {
        stamp_ = {std::move(stamp_.instance), answer.known_epoch + 1, 0};
      }
      start_over();
      return;
    case ReportOutcome::needs_full:
    case ReportOutcome::name_taken:
      start_over();
      return;
  }
}

void ReportSource::start_over() {
  on_its_way_.reset();
  is_known_ = false;
  known_.clear();
  sent_.clear();
}

Report ReportSource::make_delta() const {
  Report report{stamp_, session_, false, {}, {}, 0};
  for (const auto& [key, value] : facts_) {
    const auto found = known_.find(key);
    if (found == known_.end() || found->second != value) report.facts.emplace(key, value);
  }
  for (const auto& [key, value] : known_) {
    if (!facts_.contains(key)) report.gone.insert(key);
  }
  return report;
}

}  // namespace fdbpack::cluster
