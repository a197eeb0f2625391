// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/text.hpp"
#include "fdbpack/wire/json_reader.hpp"

#include <algorithm>
#include <numeric>

namespace fdbpack::wire {
namespace {

constexpr std::size_t kWordBytesMax = 64;  // longer words are not worth the work

// Insertions, deletions and replacements of one character that lead from `a` to `b`, case aside.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (text::lower(a[i]) == text::lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> closest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  if (word.size() > kWordBytesMax) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = 1 + word.size() / 3;  // the most that still looks like a slip
  for (const auto candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // Of two that are equally near, the longer: people leave characters out more often than they
    // add some.
    const bool is_nearer = distance < best_distance || !best;
    if (distance > best_distance || (!is_nearer && candidate.size() <= best->size())) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace fdbpack::wire
