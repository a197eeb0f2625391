// SPDX-License-Identifier: Apache-2.0
//
// An administrator's orders to processes, from the call to its outcome.
//
//   order ──> step() ──> … the process ends, a new one runs and stays … ──> answer
//                └─ it cannot be done, the process dies at once, or the caller's time is over
//
// An order is carried out once, whether or not somebody still waits for the answer. A stop is on
// disk before it is answered, so that the next agent holds to it.
#pragma once

#include "agent/agent.hpp"
#include "fdbpack/http/answer.hpp"

#include <functional>
#include <list>
#include <memory>
#include <string>

namespace fdbpack::agent {

inline constexpr std::string_view kNotRecorded =
    "it was done and will not outlast this agent, because it could not be recorded: ";

enum class Order { restart, stop, start };
[[nodiscard]] std::string_view to_string(Order order);

class Operations {
 public:
  // A process that lives this long after its start has started.
  static constexpr auto kSettle = std::chrono::milliseconds(250);

  using OnOutcome = std::function<void(http::Response)>;

  explicit Operations(Agent& agent);
  ~Operations();

  // `wait`: how long the caller waits for the outcome. Calls back once, perhaps at once.
  void begin(const std::string& section, Order order, Duration wait, OnOutcome on_outcome);
  // Something has changed.
  void note_change();
  // The agent ends: whoever waits is told so.
  void end_all();

 private:
  struct Waiting {
    std::string section;
    Order order;
    std::uint64_t starts_before = 0;
    Instant begun_at;
    Instant until;
    OnOutcome on_outcome;
  };
  void look();
  // The answer, when there is one; otherwise perhaps the moment to look again.
  [[nodiscard]] std::optional<http::Response> outcome(const Waiting& waiting, Instant now,
                                                      std::optional<Instant>& again);
  [[nodiscard]] http::Response done(const Waiting& waiting, int status, std::string_view outcome);

  Agent& agent_;
  std::unique_ptr<ports::Alarm> alarm_;
  std::list<Waiting> waiting_;
};

}  // namespace fdbpack::agent
