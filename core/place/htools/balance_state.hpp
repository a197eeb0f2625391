// SPDX-License-Identifier: Apache-2.0
//
// The sums behind hbal's score while instances are moved about. Only what a move of a single-node
// instance can change is kept up to date; the rest of the score is a constant.
#pragma once

#include "fdbpack/place/htools/score.hpp"
#include "fdbpack/place/metrics.hpp"

#include <array>
#include <limits>
#include <vector>

namespace fdbpack::place::htools {

// What one instance takes of its node.
struct Effect {
  std::int64_t memory = 0;  // 0 when it is down
  std::int64_t memory_forth = 0;
  std::int64_t vcpus = 0;
  std::int64_t vcpus_forth = 0;
  int load = 0;
  int primaries = 0;

  Effect operator-() const;
  Effect operator+(const Effect& other) const;
};

class BalanceState {
 public:
  static constexpr double kImpossible = std::numeric_limits<double>::infinity();

  BalanceState(const Cluster& cluster, const std::vector<std::int32_t>& nodes,
               const ScoreOptions& options);

  [[nodiscard]] double total() const { return total_; }
  [[nodiscard]] const std::vector<std::int32_t>& online() const { return online_; }
  [[nodiscard]] bool is_movable(std::int32_t instance) const { return is_movable_[at(instance)]; }
  [[nodiscard]] std::int32_t node_of(std::int32_t instance) const { return node_of_[at(instance)]; }
  [[nodiscard]] const std::vector<std::int32_t>& movable_on(std::int32_t node) const {
    return instances_[at(node)];
  }
  [[nodiscard]] bool is_offline(std::int32_t node) const { return nodes_[at(node)].is_offline; }

  // The score after the move, or kImpossible when the target may not take the instance.
  [[nodiscard]] double score_of_move(std::int32_t instance, std::int32_t to) const;
  // The same for two instances that change places.
  [[nodiscard]] double score_of_swap(std::int32_t a, std::int32_t b) const;
  void move(std::int32_t instance, std::int32_t to);
  // How much the node's load raises the score: where to take from (high) and where to give to
  // (low). Valid for the state at the last call of prepare_heat().
  void prepare_heat();
  [[nodiscard]] double heat(std::int32_t node) const;

 private:
  static constexpr std::size_t kDeviations = 6;
  static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }
  using Values = std::array<double, kDeviations>;

  // What moves change on a node.
  struct Load {
    std::int64_t unallocated = 0;
    std::int64_t memory_forth = 0;
    std::int64_t vcpus = 0;
    std::int64_t vcpus_forth = 0;
    int load = 0;
    int disk_load = 0;
    int primaries = 0;
    bool fails_n1 = false;
  };
  struct NodeNow {
    double per_memory = 1;  // 1 / total memory
    double per_cpu = 1;     // 1 / (cores times speed)
    double vcpus_max = 0;   // by the policy's ratio
    std::int64_t reserved = 0;
    int secondaries = 0;
    bool is_offline = false;
    bool is_in_group = false;
    Load now;
    Values values{};
    std::vector<std::pair<int, int>> tags;  // exclusion tag -> primaries that have it
  };

  [[nodiscard]] static Values values_of(const NodeNow& node, const Load& load);
  [[nodiscard]] static Load with(const NodeNow& node, const Effect& effect);
  [[nodiscard]] static bool may_take(const NodeNow& before, const Load& after, const Effect& gets,
                                     bool is_forced);
  [[nodiscard]] bool may_migrate(std::int32_t from, std::int32_t to) const;
  [[nodiscard]] bool has_tag_conflict(std::int32_t instance, std::int32_t to) const;
  [[nodiscard]] double tag_change(std::int32_t instance, std::int32_t from, std::int32_t to) const;
  [[nodiscard]] double score_of(const NodeNow& a, const Load& a_after, const NodeNow& b,
                                const Load& b_after) const;
  [[nodiscard]] static double n1_count(const NodeNow& node, const Load& load);
  void sum_up();
  void change_tags(std::int32_t instance, std::int32_t node, int sign);

  const Cluster& cluster_;
  TagRules tag_rules_;
  bool has_tags_ = false;
  bool has_migration_ = false;
  std::vector<NodeNow> nodes_;
  std::vector<std::int32_t> online_;
  std::vector<std::vector<std::int32_t>> instances_;  // movable, by node, in order of index
  std::vector<std::int32_t> node_of_;
  std::vector<bool> is_movable_;
  std::vector<Effect> effects_;
  std::vector<std::vector<int>> tag_ids_;  // by instance
  std::map<std::pair<std::string, std::string>, int>
      pairs_;  // (location, exclusion tag) -> primaries
  std::array<Deviation, kDeviations> deviations_{};
  Values heat_factors_{};
  double heat_offset_ = 0;
  double fixed_ = 0;   // what no move of ours changes
  double counts_ = 0;  // n1, offline, tags and locations, weighted
  double total_ = 0;
  int moves_since_sum_ = 0;
};

}  // namespace fdbpack::place::htools
