// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

namespace fdbpack::agent {
namespace {

constexpr auto kWriteDelay = std::chrono::milliseconds(30);
constexpr auto kWriteDelayMax = std::chrono::seconds(2);
constexpr int kWriteCostShare = 20;  // of the time at most one part in so many goes to writing
constexpr auto kSearchRetry = std::chrono::seconds(2);
constexpr auto kStateRetry = std::chrono::seconds(5);
constexpr auto kStopExtra = std::chrono::seconds(5);  // for SIGKILL to take effect
constexpr auto kSecondSignalGrace = std::chrono::seconds(1);
constexpr std::size_t kStateBytesMax = 16 * 1024 * 1024;

}  // namespace

Inheritance inheritance_of(std::vector<int> pidfds, const std::optional<wire::Handover>& handover) {
  Inheritance inheritance;
  inheritance.pidfds = std::move(pidfds);
  if (!handover) return inheritance;
  inheritance.state = handover->state;
  for (const auto& process : handover->processes) {
    inheritance.pidfds.push_back(process.pidfd);
    if (process.out >= 0 && process.err >= 0) {
      inheritance.streams[process.section] = {process.out, process.err};
    }
  }
  return inheritance;
}

Agent::Agent(World& world, AgentSettings settings, std::function<void(int)> on_end)
    : world_(world),
      settings_(std::move(settings)),
      state_dir_(settings_.state_dir),
      on_end_(std::move(on_end)),
      conf_(world, settings_.conf_path, state_dir_, settings_.pid, settings_.translate_conf,
            settings_.read_conf),
      supervisor_(world, settings_.supervisor, [this] { on_change(); }),
      host_(world, state_dir_, settings_.storage, [this] { on_change(); }),
      boot_id_(world.processes.boot_id()),
      search_alarm_(world.clock.make_alarm([this] { search_again(); })),
      write_alarm_(world.clock.make_alarm([this] { write_files(); })),
      stop_alarm_(world.clock.make_alarm([this] { on_stop_deadline(); })),
      beat_alarm_(world.clock.make_alarm([this] { beat(); })) {
  facts_.version = settings_.version;
  facts_.pid = settings_.pid;
  facts_.started_at = world.clock.wall();
}

Agent::~Agent() = default;

wire::AgentState Agent::read_state(const std::string& inherited) {
  const auto ignore = [this](const std::string& why) {
    world_.log.write(supervise::Severity::warning, kLogName,
                     "The recorded state is ignored: " + why);
    return wire::AgentState{};
  };
  std::string text = inherited;
  if (text.empty()) {
    auto read = world_.files.read(state_dir_.state(), kStateBytesMax);
    if (!read && read.error().code == ErrorCode::not_found) return {};
    if (!read) return ignore(read.error().message);
    text = *std::move(read);
  }
  auto state = wire::parse_agent_state(text);
  if (!state) return ignore(state.error().message);
  if (state->agent_id != settings_.supervisor.agent_id) return ignore("it is another agent's");
  if (state->boot_id != boot_id_) {
    static_cast<void>(ignore("it is from another boot of this machine"));
    // What an administrator stopped stays stopped, whatever became of its process.
    std::erase_if(state->processes, [](const auto& record) { return !record.is_held; });
    for (auto& record : state->processes) {
      supervise::ProcessRecord held;
      held.section = record.section;
      held.is_held = true;
      held.starts = 0;  // counted since the boot
      record = std::move(held);
    }
  }
  return *std::move(state);
}

Status Agent::start(Inheritance inheritance) {
  if (auto made = world_.files.make_directories(state_dir_.path(), kStateDirMode); !made) {
    world_.log.write(supervise::Severity::warning, kLogName,
                     "There is no state directory: " + made.error().message);
  }
  recorded_ = read_state(inheritance.state);
  host_.restore();
  conf_.restore();
  const auto findings = search(std::move(inheritance.pidfds));
  for (const auto& note : findings.notes) {
    world_.log.write(supervise::Severity::info, kLogName, note);
  }
  const std::size_t live = findings.found.size() + findings.unverified.size();
  // Where nothing runs nothing is lost: whoever starts the agent means the file as it is.
  const auto cause = live == 0 ? supervise::LoadCause::asked : supervise::LoadCause::found;
  const bool is_loaded = conf_.load(live, cause);
  const bool has_conf = is_loaded || conf_.in_force() != nullptr;
  if (!has_conf && live == 0 && !settings_.waits_for_conf) {
    return fail(ErrorCode::not_found,
                "No configuration file at " + settings_.conf_path + " that can be used");
  }
  take_over(findings, inheritance);
  if (is_loaded) note_conf_change();
  if (conf_.in_force() != nullptr) supervisor_.apply(*conf_.in_force());
  is_started_ = true;
  on_change();
  world_.notifier.ready(summary());
  beat();
  return {};
}

ports::Findings Agent::search(std::vector<int> handed) {
  ports::Search search{
      settings_.supervisor.agent_id, recorded_, std::move(handed), conf_.uids(settings_.uid), {}};
  for (const auto& [section, who] : supervisor_.processes()) {
    if (who->child) search.known.push_back(who->child->pid());
  }
  return world_.processes.find(std::move(search));
}

void Agent::take_over(const ports::Findings& findings, const Inheritance& inheritance) {
  supervisor_.set_shortage(findings.shortage);
  for (const auto& found : findings.unverified)
    supervisor_.hold_back(found, recorded_.find(found.section));
  for (const auto& found : findings.found) {
    const auto streams = inheritance.streams.find(found.section);
    supervisor_.adopt(found, recorded_.find(found.section),
                      streams == inheritance.streams.end()
                          ? std::nullopt
                          : std::optional<ports::OutputFds>(streams->second));
  }
  for (const auto& record : recorded_.processes) {
    if (record.is_held && !supervisor_.is_held_back(record.section)) {
      supervisor_.hold(record.section, record.starts);
    }
  }
  // Those that waited for their restart, or ended while there was no agent: how often they were
  // started is not forgotten.
  if (conf_.in_force() != nullptr) {
    for (const auto& process : conf_.in_force()->conf.processes) {
      const auto* record = recorded_.find(process.section);
      if (record != nullptr) supervisor_.recall(process.section, record->starts);
    }
  }
  if (supervisor_.has_doubts()) {
    search_alarm_->set(world_.clock.now() + kSearchRetry);
  } else {
    recorded_ = {};
  }
}

void Agent::search_again() {
  if (is_stopping_ || !supervisor_.has_doubts()) return;
  // Who is known by now needs no record, and what an administrator did since then counts.
  std::erase_if(recorded_.processes, [this](const wire::ProcessRecord& record) {
    return supervisor_.processes().contains(record.section);
  });
  supervisor_.release_all();
  take_over(search({}), {});
  if (conf_.in_force() != nullptr) supervisor_.apply(*conf_.in_force());
  on_change();
}

void Agent::on_signal(int signal) {
  if (signal == SIGCHLD) {
    supervisor_.note_stops();
    return supervisor_.reap_strangers();
  }
  const std::string name =
      "Received signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  if (signal == SIGHUP) {
    world_.log.write(supervise::Severity::warning, kLogName,
                     name + ", resetting timeouts and reloading configuration");
    if (is_stopping_) return;
    world_.notifier.reloading(world_.clock.now());
    supervisor_.reset();
    reload(supervise::LoadCause::asked);
    world_.notifier.ready(summary());
  } else {  // SIGTERM, SIGINT, SIGQUIT, and what an init is told to shut down with
    world_.log.write(supervise::Severity::warning, kLogName, name + ", shutting down");
    stop(signal);
  }
}

void Agent::on_conf_change() {
  if (!is_stopping_) reload(supervise::LoadCause::found);
}

bool Agent::reload(supervise::LoadCause cause) {
  const bool is_loaded = conf_.load(supervisor_.live(), cause);
  if (is_loaded) {
    note_conf_change();
    supervisor_.apply(*conf_.in_force());
  }
  on_change();
  return is_loaded;
}

void Agent::note_conf_change() {
  ++conf_changes_;
  conf_changed_at_ = world_.clock.wall();
}

bool Agent::reload_now() {
  return !is_stopping_ && reload(supervise::LoadCause::found);
}

// Written, and not synced: that would make the loop wait for a disk that may be the dying one.
std::string Agent::save_now() {
  write_state();
  const std::string host_error = host_.save();  // tried again, and shown, with the next files
  if (!state_error_.empty()) return state_error_;
  if (!host_error.empty()) return host_error;
  return "";
}

void Agent::set_observer(std::function<void(bool)> observer) {
  observer_ = std::move(observer);
}

void Agent::on_line(ports::OutputId id, ports::Stream stream, std::string_view line) {
  is_in_line_ = true;
  supervisor_.on_line(id, stream, line);
  is_in_line_ = false;
}

void Agent::stop(int) {
  const bool is_first = !std::exchange(is_stopping_, true);
  world_.notifier.stopping();
  if (settings_.keeps_children) {
    write_state();
    return check_ended();
  }
  const Duration grace = is_first ? supervisor_.longest_grace() : Duration(kSecondSignalGrace);
  const Instant now = world_.clock.now();
  world_.notifier.extend_timeout(grace + kStopExtra);
  stop_alarm_->set(now + grace + kStopExtra);
  supervisor_.shut_down(now + grace);
  check_ended();
}

void Agent::on_stop_deadline() {
  if (has_ended_) return;
  world_.log.write(supervise::Severity::error, kLogName,
                   std::to_string(supervisor_.live()) + " processes did not end, giving up");
  write_state();
  has_ended_ = true;
  on_end_(1);
}

void Agent::check_ended() {
  if (!is_stopping_ || has_ended_) return;
  if (!settings_.keeps_children && supervisor_.live() > 0) return;
  has_ended_ = true;
  supervisor_.sweep();
  write_files();
  on_end_(0);
}

void Agent::on_change() {
  if (!is_started_ || has_ended_) return;
  if (settings_.on_change) settings_.on_change();
  if (!is_write_due_) {
    is_write_due_ = true;
    const Duration delay =
        std::clamp<Duration>(write_cost_ * kWriteCostShare, kWriteDelay, kWriteDelayMax);
    write_alarm_->set(world_.clock.now() + delay);
  }
  if (observer_) observer_(!is_in_line_);
  check_ended();
}

wire::AgentState Agent::state() {
  auto state = supervisor_.snapshot();
  state.boot_id = boot_id_;
  return state;
}

void Agent::describe_descriptors(wire::Handover& handover) const {
  for (const auto& [section, who] : supervisor_.processes()) {
    if (!who->child) continue;
    wire::HandedProcess process{section, who->child->pidfd(), -1, -1};
    if (who->output) {
      const auto streams = world_.output.fds(*who->output);
      process.out = streams.out;
      process.err = streams.err;
    }
    handover.processes.push_back(std::move(process));
  }
}

void Agent::write_state() {
  const auto written = world_.files.replace(state_dir_.state(), wire::print(state()), kPrivateMode);
  const std::string error = written ? "" : written.error().message;
  if (error != state_error_) {
    world_.log.write(
        supervise::Severity::warning, kLogName,
        error.empty() ? "The state can be written again" : "The state cannot be written: " + error);
  }
  state_error_ = error;
}

const AgentFacts& Agent::facts() {
  facts_.is_stopping = is_stopping_;
  facts_.degraded.clear();
  for (const auto& [what, sentences] : degraded_) {
    facts_.degraded.insert(facts_.degraded.end(), sentences.begin(), sentences.end());
  }
  if (const auto sentence = world_.cgroups.degraded(); !sentence.empty()) {
    facts_.degraded.push_back(sentence);
  }
  if (world_.output.is_degraded()) {
    facts_.degraded.push_back("output of processes is looked for once a second only");
  }
  for (auto& sentence : supervisor_.held_back())
    facts_.degraded.push_back(std::move(sentence));
  if (!state_error_.empty()) facts_.degraded.push_back("the state is not kept: " + state_error_);
  return facts_;
}

void Agent::write_files() {
  is_write_due_ = false;
  const Instant begin = world_.clock.now();
  supervisor_.sweep();
  supervisor_.store_pidfds();
  write_state();
  const bool has_new_conditions = host_.look(conf_, supervisor_);
  const std::string host_error = host_.save();
  const auto page = status_page(facts(), conf_, supervisor_, host_, world_);
  if (observer_ && has_new_conditions) observer_(true);
  const auto written = world_.files.replace(state_dir_.status(), page, kPublicMode);
  world_.notifier.status(summary());
  write_cost_ = world_.clock.now() - begin;
  if ((!written || !state_error_.empty() || !host_error.empty()) && !has_ended_) {
    // The directory may have been removed; making it again does no harm.
    static_cast<void>(world_.files.make_directories(state_dir_.path(), kStateDirMode));
    write_alarm_->set(world_.clock.now() + kStateRetry);
  }
}

void Agent::set_degraded(const std::string& what, std::vector<std::string> sentences) {
  degraded_[what] = std::move(sentences);
  on_change();
}

void Agent::set_listeners(std::vector<ListenerFact> listeners) {
  facts_.listeners = std::move(listeners);
  on_change();
}

void Agent::beat() {
  const auto interval = world_.notifier.watchdog_interval();
  if (!interval) return;
  world_.notifier.watchdog();
  beat_alarm_->set(world_.clock.now() + *interval);
}

std::string Agent::summary() const {
  std::string text = std::to_string(supervisor_.live()) + " of " +
                     std::to_string(supervisor_.processes().size()) + " processes running";
  if (conf_.refused_since()) text += "; the configuration file is refused";
  return text;
}

}  // namespace fdbpack::agent
