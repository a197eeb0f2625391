// SPDX-License-Identifier: Apache-2.0
//
// The agent's pages. Each is made when somebody asks for it and something has changed since it was
// last made; until the next change everybody gets the same bytes.
//
//   change ──> old ──asked──> made ──asked──> the same …
//
// Lines of output make pages old, too, but not before they are a second old: a process that writes
// without end does not make us render without end.
#pragma once

#include "agent/agent.hpp"
#include "agent/api/routes.hpp"
#include "fdbpack/http/answer.hpp"

#include <map>
#include <string>

namespace fdbpack::agent {

class Pages {
 public:
  explicit Pages(Agent& agent) : agent_(agent) {}

  void note_change(bool is_urgent);
  [[nodiscard]] http::PagePtr get(Call call);
  // nullptr: there is no such process.
  [[nodiscard]] http::PagePtr process(const std::string& section);
  [[nodiscard]] std::uint64_t renderings() const { return renderings_; }

 private:
  [[nodiscard]] std::string render(Call call);
  void drop_old();

  Agent& agent_;
  std::map<Call, http::PagePtr> pages_;
  std::map<std::string, http::PagePtr, text::IgnoreCaseLess> processes_;
  bool is_old_ = false;
  bool has_new_lines_ = false;
  Instant made_at_;  // the oldest of them
  std::uint64_t renderings_ = 0;
};

}  // namespace fdbpack::agent
