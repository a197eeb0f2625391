// SPDX-License-Identifier: Apache-2.0
//
// A process that fails because somebody else has its port or its data directory says so, but not
// who. We look, a moment after the failure: what can be restarted at once is, and is not looked at.
#include "agent/listen_address.hpp"
#include "agent/supervisor.hpp"
#include "fdbpack/conf/listener.hpp"

#include <algorithm>

namespace fdbpack::agent {
namespace {

// Behind the restarts of what died at the same time, and well before the end of a delay.
constexpr auto kHolderPause = std::chrono::milliseconds(50);

}  // namespace

// A process that was killed was not kept from starting.
void Supervisor::ask_for_holder(const std::string& section, const supervise::Exit& exit) {
  const auto* exited = std::get_if<supervise::Exited>(&exit);
  if (exited == nullptr || exited->code == 0) return;
  if (std::find(blocked_.begin(), blocked_.end(), section) != blocked_.end()) return;
  blocked_.push_back(section);
  if (blocked_.size() == 1) holder_alarm_->set(world_.clock.now() + kHolderPause);
}

// One at a time, so that nobody else has to wait for long.
void Supervisor::look_for_holder() {
  if (blocked_.empty()) return;
  const std::string section = std::move(blocked_.front());
  blocked_.pop_front();
  if (!blocked_.empty()) holder_alarm_->set(world_.clock.now() + kHolderPause);
  const auto found = processes_.find(section);
  if (found == processes_.end() || !found->second->command) return;
  Supervised& who = *found->second;
  if (supervise::is_alive(who.state)) return;
  if (!who.state.last_death || who.state.last_death->was_asked) return;
  who.blocked_by = find_holder(who.running_argv.empty() ? who.command->argv : who.running_argv);
  if (!who.blocked_by) return;
  const auto& [thing, holder] = *who.blocked_by;
  std::string text = thing + " is held by ";
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  text += holder.pid == 0 ? "a process that cannot be seen"
                          : "process " + std::to_string(holder.pid) + " (" + holder.name + ")";
  world_.log.write(supervise::Severity::error, who.section, text);
  on_change_();
}

std::optional<Blocked> Supervisor::find_holder(const std::vector<std::string>& argv) const {
  for (const ListenAddress& address : bound_addresses(argv)) {
    auto holder = world_.holders.of_port(address.ip, address.port);
    if (holder) return Blocked{"port " + std::to_string(address.port), *std::move(holder)};
  }
  const std::string directory(conf::argument_value(argv, "datadir"));
  if (directory.empty()) return {};
  auto holder = world_.holders.of_directory(directory);
  if (!holder) return {};
  return Blocked{"data directory " + directory, *std::move(holder)};
}

}  // namespace fdbpack::agent
