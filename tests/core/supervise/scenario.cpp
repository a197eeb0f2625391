// SPDX-License-Identifier: Apache-2.0
#include "tests/core/supervise/scenario.hpp"

#include "fdbpack/base/overloaded.hpp"
#include "fdbpack/base/text.hpp"

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace fdbpack::supervise {
namespace {

using Words = std::vector<std::string>;

[[noreturn]] void bad(const std::string& what) {
  throw std::runtime_error("scenario: " + what);
}

std::int64_t number(const std::string& word) {
  return std::strtoll(word.c_str(), nullptr, 10);
}
int small(const std::string& word) {
  return static_cast<int>(number(word));
}

// "250ms", "5s", "2h"
Duration duration(const std::string& word) {
  if (word.ends_with("ms")) return std::chrono::milliseconds(number(word));
  if (word.ends_with("s")) return std::chrono::seconds(number(word));
  if (word.ends_with("h")) return std::chrono::hours(number(word));
  bad("no duration: " + word);
}

class Scenario {
 public:
  Scenario() {
    policy_.section = "fdbserver.4500";
    policy_.command = "/usr/sbin/fdbserver";
    policy_.restart.backoff = 2;
  }

  std::string command(const std::string& line) {
    Words words;
    for (const std::string_view word : text::split_words(line))
      words.emplace_back(word);
    if (words[0].starts_with("+")) {
      now_ += duration(words[0].substr(1));
      words.erase(words.begin());
    }
    words.resize(8);
    if (words[0] == "policy") return set_policy(words);
    Step next = step(state_, event(words), policy_, now_, random_);
    state_ = next.state;
    std::string out;
    for (const Action& action : next.actions)
      out += show(action) + "\n";
    return out + "=> " + show(describe(state_)) + "\n";
  }

 private:
  std::string set_policy(const Words& words) {
    for (const std::string& word : words) {
      const std::string value = word.substr(word.find('=') + 1);
      if (word.starts_with("restart-delay=")) {
        policy_.restart.delay_max = std::chrono::seconds(number(value));
        policy_.restart.reset_interval = policy_.restart.delay_max;
      } else if (word.starts_with("initial=")) {
        policy_.restart.delay_initial = std::chrono::seconds(number(value));
      } else if (word.starts_with("backoff=")) {
        policy_.restart.backoff = std::strtod(value.c_str(), nullptr);
      } else if (word.starts_with("grace=")) {
        policy_.stop_grace = duration(value);
      } else if (word == "quiet") {
        policy_.is_quiet = true;
      } else if (!word.empty() && word != "policy") {
        bad("unknown setting " + word);
      }
    }
    return "";
  }

  static Revision revision(const std::string& word) {
    const std::size_t dot = word.find('.');
    const auto settings = dot == std::string::npos ? 0 : number(word.substr(dot + 1));
    return {static_cast<std::uint64_t>(number(word)), static_cast<std::uint64_t>(settings)};
  }

  static Exit exit(const std::string& kind, const std::string& value, const Words& words) {
    if (kind == "code") return Exited{small(value)};
    if (kind == "signal") return Signalled{small(value), words[4] == "core"};
    if (kind == "exec") return ExecFailed{small(value)};
    if (kind == "spawn") return SpawnFailed{small(value)};
    if (kind == "oom") return OomKilled{};
    if (kind == "unknown") return UnknownEnd{};
    bad("unknown end " + kind);
  }

  Event event(const Words& words) const {
    const std::string& verb = words[0];
    if (verb == "configured") return Configured{revision(words[1]), words[2] == "kill"};
    if (verb == "deconfigured") return Deconfigured{words[1] == "kill"};
    if (verb == "start") return Start{};
    if (verb == "stop") return Stop{};
    if (verb == "restart") return Restart{};
    if (verb == "launched") return Launched{small(words[1])};
    if (verb == "launch_failed") return LaunchFailed{exit(words[1], words[2], words)};
    if (verb == "exited") {
      const bool group_lives = words[3] == "group" || words[4] == "group";
      return ProcessExited{small(words[1]), exit(words[2], words[3], words), group_lives};
    }
    if (verb == "group_gone") return GroupGone{small(words[1])};
    if (verb == "timer") return Timer{};
    if (verb == "adopted") {
      return Adopted{small(words[1]), now_ - duration(words[3]), revision(words[2]), std::nullopt,
                     3};
    }
    if (verb == "memory") return MemoryExceeded{small(words[1]), 9000, 8000};
    if (verb == "joined") return Joined{small(words[1])};
    if (verb == "reset") return Reset{};
    if (verb == "shutdown") return Shutdown{now_ + duration(words[1])};
    bad("unknown command " + verb);
  }

  static std::string show(Instant at) {
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch());
    if (count.count() % 1000 == 0) return "@" + std::to_string(count.count() / 1000) + "s";
    return "@" + std::to_string(count.count()) + "ms";
  }

  static std::string show(const Action& action) {
    return std::visit(
        Overloaded{[](const Launch& a) { return "launch " + std::to_string(a.revision.command); },
                   [](const SendSignal& a) {
                     return std::string("signal ") + signal_name(a.signal) + " to " +
                            (a.target == SignalTarget::group ? "group " : "process ") +
                            std::to_string(a.pid);
                   },
                   [](const SetTimer& a) {
                     return a.at ? "timer " + show(*a.at) : std::string("no timer");
                   },
                   [](const Note& a) {
                     return "note " + std::to_string(static_cast<int>(a.severity)) + " " + a.text;
                   },
                   [](const Forgotten&) { return std::string("forgotten"); }},
        action);
  }

  static std::string show(const View& view) {
    std::string text(view.name);
    if (view.pid) text += " pid=" + std::to_string(*view.pid);
    text += " since " + show(view.since);
    if (view.next_start_at) text += ", next start " + show(*view.next_start_at);
    if (view.kill_at) text += ", kill " + show(*view.kill_at);
    if (view.stop_reason) text += ", for " + std::string(to_string(*view.stop_reason));
    if (view.pending != PendingChange::none) {
      text += ", pending " + std::string(to_string(view.pending));
    }
    if (view.joined_at) text += ", joined " + show(*view.joined_at);
    if (view.is_adopted) text += ", adopted";
    if (view.is_held) text += ", held";
    if (view.is_stuck) text += ", stuck";
    if (!view.is_configured) text += ", not configured";
    if (view.restarts > 0) text += ", restarts " + std::to_string(view.restarts);
    if (view.last_death) text += ", last " + to_string(view.last_death->exit);
    return text;
  }

  Policy policy_;
  Instant now_{};
  Random random_{1};
  State state_ = initial_state(Instant{});
};

}  // namespace

std::string run_scenario(std::string_view text) {
  Scenario scenario;
  std::string out;
  std::string answer;
  bool is_answer = false;
  for (const std::string_view view : text::split(text, '\n')) {
    const std::string line(view);
    if (line == "----") {
      out += "----\n" + answer;
      answer.clear();
      is_answer = true;
    } else if (line.empty()) {
      is_answer = false;
      if (!out.ends_with("\n\n")) out += "\n";
    } else if (!is_answer) {
      out += line + "\n";
      if (!line.starts_with("#")) answer += scenario.command(line);
    }
  }
  while (out.ends_with("\n\n"))
    out.pop_back();
  return out;
}

}  // namespace fdbpack::supervise
