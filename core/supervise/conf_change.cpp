// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/conf_change.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"

#include <map>

namespace fdbpack::supervise {
namespace {

// FNV-1a over parts that are told apart by their lengths. These numbers are written to the state
// file of one agent and compared by the next, so they must never change.
class Hash {
 public:
  void add(std::string_view part) {
    add_length(part.size());
    for (const char c : part)
      add_byte(static_cast<unsigned char>(c));
  }
  void add_length(std::size_t length) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      add_byte(static_cast<unsigned char>(std::uint64_t{length} >> shift));
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3u; }

  std::uint64_t value_ = 0xCBF29CE484222325u;
};

// Only what a process is started with. Processes without any of it keep the number they had before
// there were settings.
void add_settings(Hash& hash, const model::ProcessSettings& settings) {
  model::ProcessSettings started_with = settings;
  started_with.stop_grace.reset();  // counts at once
  if (started_with == model::ProcessSettings{}) return;
  const auto add_number = [&hash](const char* name, std::optional<std::int64_t> number) {
    if (!number) return;
    hash.add(name);
    hash.add(std::to_string(*number));
  };
  hash.add(settings.working_directory);
  add_number("umask", settings.umask);
  add_number("nice", settings.nice);
  add_number("oom-score-adj", settings.oom_score_adj);
  for (const unsigned cpu : settings.cpus)
    add_number("cpu", cpu);
  for (const model::Limit& limit : settings.limits) {
    hash.add(limit.name);
    hash.add(std::to_string(limit.soft));
    hash.add(std::to_string(limit.hard));
  }
}

bool is_same(const conf::ProcessCommand& a, const conf::ProcessCommand& b) {
  conf::ProcessCommand moved = b;
  moved.at = a.at;  // where it stands in the file does not matter
  moved.section = a.section;
  return a == moved;
}

ChangeKind compare(const Supervised& now, const conf::ProcessCommand& wanted,
                   const conf::MonitorConf& conf) {
  const Revision revision = revision_of(wanted, conf.user, conf.group);
  if (revision.command != now.revision.command) {
    return wanted.kill_on_configuration_change ? ChangeKind::changed_kill
                                               : ChangeKind::changed_pending;
  }
  if (revision != now.revision || !now.command || !is_same(*now.command, wanted)) {
    return ChangeKind::settings;
  }
  return ChangeKind::unchanged;
}

struct Sides {
  const Supervised* now = nullptr;
  const conf::ProcessCommand* wanted = nullptr;
  bool is_refused = false;
};

ChangeKind decide(const Sides& sides, const conf::MonitorConf& conf) {
  if (sides.wanted != nullptr) {
    return sides.now == nullptr ? ChangeKind::start : compare(*sides.now, *sides.wanted, conf);
  }
  if (sides.is_refused) return ChangeKind::refused;
  FDBPACK_CHECK(sides.now != nullptr);
  const bool kill = sides.now->kill_on_change || conf.kills_removed;
  return kill ? ChangeKind::deconfigured_kill : ChangeKind::deconfigured_leave;
}

}  // namespace

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::start:
      return "start";
    case ChangeKind::unchanged:
      return "unchanged";
    case ChangeKind::settings:
      return "settings";
    case ChangeKind::changed_kill:
      return "changed_kill";
    case ChangeKind::changed_pending:
      return "changed_pending";
    case ChangeKind::deconfigured_kill:
      return "deconfigured_kill";
    case ChangeKind::deconfigured_leave:
      return "deconfigured_leave";
    case ChangeKind::refused:
      return "refused";
  }
  FDBPACK_UNREACHABLE();
}

Revision revision_of(const conf::ProcessCommand& command, std::string_view user,
                     std::string_view group) {
  Hash what;
  what.add(user);
  what.add(group);
  what.add_length(command.argv.size());
  for (const std::string& argument : command.argv)
    what.add(argument);

  Hash settings;
  settings.add_length(command.deleted_environment.size());
  for (const std::string& name : command.deleted_environment)
    settings.add(name);
  settings.add_length(command.environment.size());
  for (const auto& [name, value] : command.environment) {
    settings.add(name);
    settings.add(value);
  }
  add_settings(settings, command.settings);
  return {what.value(), settings.value()};
}

Policy policy_of(const conf::ProcessCommand& command, Duration stop_grace) {
  Policy policy;
  policy.section = command.section;
  if (!command.argv.empty()) policy.command = command.argv.front();
  policy.restart = command.restart;
  policy.stop_grace = command.settings.stop_grace.value_or(
      std::chrono::duration_cast<std::chrono::milliseconds>(stop_grace));
  policy.is_quiet = command.is_quiet;
  return policy;
}

std::vector<Change> plan_changes(std::span<const Supervised> supervised,
                                 const conf::MonitorConf& conf) {
  std::map<std::string_view, Sides, text::IgnoreCaseLess> sections;
  for (const Supervised& now : supervised)
    sections[now.section].now = &now;
  for (const conf::ProcessCommand& wanted : conf.processes) {
    sections[wanted.section].wanted = &wanted;
  }
  for (const auto& refusal : conf.refusals)
    sections[refusal.section].is_refused = true;

  std::vector<Change> changes;
  changes.reserve(sections.size());
  for (const auto& [name, sides] : sections) {
    changes.push_back({std::string(name), decide(sides, conf), sides.wanted});
  }
  return changes;
}

}  // namespace fdbpack::supervise
