// SPDX-License-Identifier: Apache-2.0
//
// A process that fails because somebody else has its port or its data directory says so, but not
// who. We look from the first failure on, whether it is started again meanwhile or not: first the
// restart, then a moment for others that died with it, then the search, piece by piece.
#include "agent/listen_address.hpp"
#include "agent/live_process.hpp"
#include "agent/supervisor.hpp"
#include "fdbpack/conf/listener.hpp"

#include <algorithm>

namespace fdbpack::agent {
namespace {

constexpr auto kLongRun = std::chrono::seconds(10);  // what held it up before is history
constexpr auto kHolderPause = std::chrono::milliseconds(20);
constexpr auto kPiecePause = std::chrono::milliseconds(1);  // in which others have their turn

ports::Wanted wanted_by(const std::vector<std::string>& argv) {
  ports::Wanted wanted;
  for (const ListenAddress& address : bound_addresses(argv))
    wanted.ports.push_back({address.ip, address.port});
  wanted.directory = conf::argument_value(argv, "datadir");
  return wanted;
}

}  // namespace

// A process that was killed was not kept from starting.
void Supervisor::ask_for_holder(const std::string& section, const supervise::Exit& exit) {
  const auto* exited = std::get_if<supervise::Exited>(&exit);
  if (exited == nullptr || exited->code == 0) return;
  const auto found = processes_.find(section);
  if (found == processes_.end()) return;
  const auto& death = found->second->state.last_death;
  if (death && death->ran >= kLongRun) found->second->said_holder.clear();
  if (std::find(blocked_.begin(), blocked_.end(), section) != blocked_.end()) return;
  blocked_.push_back(section);
  if (blocked_.size() == 1) holder_alarm_->set(world_.clock.now() + kHolderPause);
}

// A piece of the search for the first in the queue.
void Supervisor::look_for_holder() {
  if (blocked_.empty()) return;
  const std::string section = blocked_.front();
  const auto found = processes_.find(section);
  const Supervised* who = found == processes_.end() ? nullptr : found->second.get();
  const bool is_of_interest =
      who != nullptr && who->command && who->state.last_death && !who->state.last_death->was_asked;
  if (is_of_interest && !holder_search_) {
    const auto& argv = who->running_argv.empty() ? who->command->argv : who->running_argv;
    holder_search_ = world_.holders.search(wanted_by(argv));
  }
  if (is_of_interest && !holder_search_->advance()) {
    return holder_alarm_->set(world_.clock.now() + kPiecePause);
  }
  const auto search = std::move(holder_search_);
  blocked_.pop_front();
  if (!blocked_.empty()) holder_alarm_->set(world_.clock.now() + kHolderPause);
  if (is_of_interest && search->result()) note_holder(section, *search->result());
}

void Supervisor::note_holder(const std::string& section, const Blocked& blocked) {
  Supervised& who = *processes_.at(section);
  const auto& [thing, holder] = blocked;
  const auto* process = live_process(who.state);
  if (process != nullptr && process->pid == holder.pid) return;  // it has it by now
  // One that lives again may have got what it needs, and is not said to be blocked.
  if (!supervise::is_alive(who.state)) who.blocked_by = blocked;
  std::string text = thing + " is held by ";
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  text += holder.pid == 0 ? "a process that cannot be seen"
                          : "process " + std::to_string(holder.pid) + " (" + holder.name + ")";
  if (std::exchange(who.said_holder, text) != text) {
    world_.log.write(supervise::Severity::error, who.section, text);
  }
  on_change_();
}

}  // namespace fdbpack::agent
