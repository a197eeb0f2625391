// SPDX-License-Identifier: Apache-2.0
#include "agent/host_watch.hpp"

#include "agent/live_process.hpp"
#include "fdbpack/conf/listener.hpp"

#include <algorithm>
#include <csignal>

namespace fdbpack::agent {
namespace {

constexpr std::size_t kRecordBytesMax = 16 * 1024 * 1024;
constexpr std::uint64_t kMiB = 1024 * 1024;

// Lines are read after the process has written them, the last ones after its death.
constexpr auto kLineLate = std::chrono::seconds(3);
// Whoever ends for its disk's sake says so shortly before.
constexpr auto kLineBefore = std::chrono::seconds(60);

// It ended by itself and with a failure; nobody sent it a signal to end it.
bool is_own_failure(const supervise::Death& death) {
  if (death.was_asked) return false;
  if (const auto* exited = std::get_if<supervise::Exited>(&death.exit)) return exited->code != 0;
  const auto* signalled = std::get_if<supervise::Signalled>(&death.exit);
  return signalled != nullptr && signalled->signal != SIGKILL && signalled->signal != SIGTERM &&
         signalled->signal != SIGINT && signalled->signal != SIGHUP && signalled->signal != SIGQUIT;
}

// What a process that ended by itself said of its disk in its last moments.
std::string io_error_of(const Supervised& who) {
  const auto& death = who.state.last_death;
  const auto& said = who.disk_failure;
  if (!death || !said || !is_own_failure(*death)) return {};
  const Instant from = death->at - std::min<Duration>(death->ran, kLineBefore);
  const bool is_of_it = said->at >= from && said->at <= death->at + kLineLate;
  return is_of_it ? said->line : std::string();
}

// The same as far as a page shows it.
bool is_same(const std::optional<ports::DiskReading>& a, const ports::DiskReading& b) {
  return a && a->is_missing == b.is_missing && a->is_read_only == b.is_read_only &&
         a->error == b.error && a->device == b.device && a->file_system == b.file_system &&
         a->total_bytes / kMiB == b.total_bytes / kMiB &&
         a->free_bytes / kMiB == b.free_bytes / kMiB && a->has_use == b.has_use &&
         a->used_bytes / kMiB == b.used_bytes / kMiB && a->is_use_partial == b.is_use_partial;
}

}  // namespace

HostWatch::HostWatch(World& world, const StateDir& state_dir, std::vector<StorageSetting> storage,
                     std::function<void()> on_change)
    : world_(world),
      state_dir_(state_dir),
      storage_(std::move(storage)),
      on_change_(std::move(on_change)),
      disk_alarm_(world.clock.make_alarm([this] { read_disks(); })),
      look_alarm_(world.clock.make_alarm([this] { on_change_(); })) {}

void HostWatch::restore() {
  const auto text = world_.files.read(state_dir_.host(), kRecordBytesMax);
  if (!text && text.error().code == ErrorCode::not_found) return;
  auto record =
      text ? wire::parse_host_record(*text) : Result<wire::HostRecord>(fail(text.error()));
  if (!record) {
    world_.log.write(supervise::Severity::warning, kLogName,
                     "The recorded conditions are ignored: " + record.error().message);
    return;
  }
  book_.restore(record->conditions);
  draining_ = std::move(record->draining);
}

void HostWatch::update_directories(const Supervisor& supervisor) {
  std::map<std::string, DataDirectory> now;
  for (const auto& setting : storage_) {
    DataDirectory& dir = now[setting.path];
    dir.path = setting.path;
    dir.type = setting.type;
    dir.key = setting.key;
  }
  dir_of_.clear();
  for (const auto& [section, who] : supervisor.processes()) {
    if (!who->command) continue;
    const auto& argv = who->launch_argv.empty() ? who->command->argv : who->launch_argv;
    const std::string path(conf::argument_value(argv, "datadir"));
    if (path.empty() || path.front() != '/') continue;
    DataDirectory& dir = now[path];
    dir.path = path;
    dir.processes.push_back(section);
    dir_of_[section] = path;
  }
  for (auto& [path, dir] : now) {
    const auto before = dirs_.find(path);
    if (before == dirs_.end()) {
      is_disk_due_ = true;
    } else {
      dir.reading = std::move(before->second.reading);
    }
  }
  dirs_ = std::move(now);
}

conditions::HostFacts HostWatch::facts(const ConfKeeper& conf, const Supervisor& supervisor) {
  conditions::HostFacts facts;
  well_at_.reset();
  if (conf.refused_since()) {
    facts.conf_refused = "the file is refused";
    if (!conf.problems().empty()) facts.conf_refused = conf::to_string(conf.problems().front());
  }
  for (const auto& [section, who] : supervisor.processes()) {
    const auto view = supervise::describe(who->state);
    conditions::ProcessFacts process;
    process.process = section;
    process.is_configured = view.is_configured;
    process.is_held = view.is_held;
    process.is_running = supervise::is_alive(who->state);
    process.has_other_command = view.pending == supervise::PendingChange::command;
    process.quick_deaths = view.quick_deaths;
    const auto well_at = supervise::runs_well_at(who->state);
    process.has_run_well = well_at && *well_at <= world_.clock.now();
    const bool is_on_trial =
        view.last_death.has_value() || book_.is_active(conditions::Type::crash_looping, section);
    if (is_on_trial && well_at && !process.has_run_well)
      well_at_ = std::min(well_at_.value_or(*well_at), *well_at);
    if (view.last_death) process.last_exit = supervise::to_string(view.last_death->exit);
    process.io_error = io_error_of(*who);
    facts.processes.push_back(std::move(process));
    const auto dir = dir_of_.find(section);
    if (dir == dir_of_.end()) {
      if (!who->command) facts.unread.insert(section);
      continue;
    }
    const auto& reading = dirs_.at(dir->second).reading;
    if (!reading || reading->is_unknown) {
      facts.unread.insert(section);
      continue;
    }
    // fdbserver makes its directory when it is first started.
    const bool is_new = world_.clock.now() - view.since < kDiskEvery;
    const bool is_to_come = reading->is_missing && is_new && !view.last_death &&
                            !book_.is_active(conditions::Type::missing_pvc, section);
    if (is_to_come) continue;
    facts.directories.push_back({section, reading->path, reading->is_missing, reading->is_read_only,
                                 reading->error, reading->total_bytes, reading->free_bytes});
  }
  return facts;
}

bool HostWatch::look(const ConfKeeper& conf, const Supervisor& supervisor) {
  update_directories(supervisor);
  if (is_disk_due_) read_disks();
  const auto now = facts(conf, supervisor);
  const auto seen = conditions::observe(now, book_);
  const bool is_changed = book_.take(seen, world_.clock.wall(), now.unread);
  is_dirty_ |= is_changed;
  set_alarm();
  return is_changed;
}

// The moment at which a look would find something else although nothing happened.
void HostWatch::set_alarm() {
  const Instant now = world_.clock.now();
  std::optional<Instant> next = well_at_;
  if (const auto at = book_.next_change()) {
    const auto wait = std::max(*at - world_.clock.wall(), std::chrono::milliseconds(100));
    next = next ? std::min<Instant>(*next, now + wait) : now + wait;
  }
  if (!next) return look_alarm_->clear();
  look_alarm_->set(*next);
}

void HostWatch::read_disks() {
  std::vector<ports::DiskRequest> requests;
  for (const auto& [path, dir] : dirs_)
    requests.push_back({path, is_use_wanted_});
  if (!requests.empty()) {
    const bool is_begun = world_.disks.read(
        std::move(requests),
        [this](const std::vector<ports::DiskReading>& readings) { on_disks(readings); });
    // While one is under way: when it comes, it is seen that something is missing.
    is_disk_due_ = !is_begun;
    if (is_begun) is_use_wanted_ = false;
  }
  disk_alarm_->set(world_.clock.now() + kDiskEvery);
}

void HostWatch::on_disks(const std::vector<ports::DiskReading>& readings) {
  bool is_changed = false;
  bool is_measured = false;  // there are figures that were not there before
  for (const auto& reading : readings) {
    const auto found = dirs_.find(reading.path);
    if (found == dirs_.end()) continue;
    ports::DiskReading now = reading;
    const auto& before = found->second.reading;
    if (!now.has_use && before && before->has_use && now.error.empty() && !now.is_missing) {
      now.has_use = true;
      now.used_bytes = before->used_bytes;
      now.is_use_partial = before->is_use_partial;
    }
    const bool is_new = !is_same(before, now);
    is_changed |= is_new;
    is_measured |= (is_new || !measured_at_) && now.error.empty() && !now.is_unknown;
    found->second.reading = std::move(now);
  }
  if (is_measured) measured_at_ = world_.clock.wall();
  const bool is_some_new = std::any_of(dirs_.begin(), dirs_.end(), [](const auto& entry) {
    return !entry.second.reading.has_value();
  });
  if (is_some_new) is_disk_due_ = true;
  if (is_changed || is_some_new) on_change_();
}

void HostWatch::set_draining(std::optional<wire::Draining> draining) {
  draining_ = std::move(draining);
  is_dirty_ = true;
  on_change_();
}

std::string HostWatch::save() {
  if (!is_dirty_) return {};
  const auto text = wire::print(wire::HostRecord{book_.conditions(), draining_});
  const auto written = world_.files.replace(state_dir_.host(), text, kPrivateMode);
  if (!written) return written.error().message;
  is_dirty_ = false;
  return {};
}

}  // namespace fdbpack::agent
