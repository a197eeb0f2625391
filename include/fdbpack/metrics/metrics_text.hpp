// SPDX-License-Identifier: Apache-2.0
//
// Prometheus' text format, one family after the other:
//
//   MetricsText text;
//   text.family("fdbpack_agent_process_up", Kind::gauge, "Whether the process runs.");
//   text.sample({{"process", "fdbserver.4500"}}, 1);
//   text.take()
//
//   # HELP fdbpack_agent_process_up Whether the process runs.
//   # TYPE fdbpack_agent_process_up gauge
//   fdbpack_agent_process_up{process="fdbserver.4500"} 1
//
// Names are checked, values of labels escaped. A family without a sample leaves no trace. check()
// is what a strict reader and `promtool check metrics` would say of a text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::metrics {

enum class Kind { counter, gauge };

using Label = std::pair<std::string_view, std::string_view>;

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

class MetricsText {
 public:
  // Begins a family; each name once. A name or label that is none is a programmer's error.
  void family(std::string_view name, Kind kind, std::string_view help);
  void sample(std::initializer_list<Label> labels, std::uint64_t value);
  void sample(std::initializer_list<Label> labels, double value);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void begin_sample(std::initializer_list<Label> labels);

  std::string text_;
  std::string name_, head_;  // of the family; the head is written with its first sample
};

// What is wrong with a text: each finding as "line 7: …". `is_lenient` lets names pass that another
// program made fashionable before promtool complained of them.
[[nodiscard]] std::vector<std::string> check(std::string_view text, bool is_lenient = false);

}  // namespace fdbpack::metrics
