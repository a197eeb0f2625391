// SPDX-License-Identifier: Apache-2.0
#include "agent/launcher/launcher.hpp"

#include "agent/live_process.hpp"
#include "fdbpack/wire/pod_json.hpp"
#include "fdbpack/wire/unified_json.hpp"

#include <csignal>

namespace fdbpack::agent {
namespace {

constexpr auto kBinaryInterval = std::chrono::seconds(2);
constexpr std::size_t kVersionsMax = 1000;
constexpr const char* kPodFile = "/pod.json";
constexpr std::size_t kCommandLineBytesMax = 4 * 1024 * 1024;
constexpr std::size_t kPodBytesMax = 1024 * 1024;

std::string unix_seconds(WallTime at) {
  return std::to_string(std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count());
}

}  // namespace

Launcher::Launcher(World& world, ports::FileCopier& binaries, ports::ApiServer* api,
                   LauncherSettings settings, std::function<void(int)> on_end)
    : world_(world),
      binaries_(binaries),
      settings_(std::move(settings)),
      on_end_(std::move(on_end)),
      binary_alarm_(world.clock.make_alarm([this] { look_for_binary(); })),
      end_alarm_(world.clock.make_alarm([this] { on_end_(exit_code_); })),
      agent_(world, agent_settings(), [this](int code) { on_agent_end(code); }) {
  if (settings_.pod && api != nullptr) {
    pod_.emplace(
        world.clock, world.log, *api, *settings_.pod,
        [this](const launcher::Annotations& before) { on_pod(before); },
        [this] {
          save_pod();
          agent_.on_conf_change();
        });
  }
}

AgentSettings Launcher::agent_settings() {
  AgentSettings settings = settings_.agent;
  settings.read_conf = [this](std::string text) { return read(std::move(text)); };
  settings.waits_for_conf = true;
  settings.on_change = [this] { on_change(); };
  return settings;
}

Status Launcher::start(Inheritance inheritance) {
  restore_pod();
  FDBPACK_TRY_VOID(agent_.start(std::move(inheritance)));
  if (agent_.conf().in_force() == nullptr) {
    world_.log.write(supervise::Severity::warning, kLogName,
                     "Waiting for a configuration in " + settings_.agent.conf_path);
  }
  if (pod_) pod_->start();
  return {};
}

conf::Environment Launcher::environment() const {
  conf::Environment all = settings_.additional_environment;
  if (pod_) all = launcher::with_node_labels(std::move(all), pod_->labels());
  all.insert(settings_.own_environment.begin(), settings_.own_environment.end());
  return all;
}

Result<Launcher::Reading> Launcher::interpret(const std::string& text,
                                              conf::MonitorConf& processes) {
  Reading reading;
  reading.text = text;
  FDBPACK_TRY(conf::UnifiedConf conf, wire::read_unified_conf(text));
  const bool is_isolated = pod_ && launcher::is_isolated(pod_->annotations());
  FDBPACK_TRY(reading.configuration,
              launcher::interpret(std::move(conf), settings_.rules, is_isolated));
  const std::string& binary = reading.configuration.binary_path;
  // What is to stop needs no binary: isolation must not wait for one that has gone.
  const LoadedConf* in_force = agent_.conf().in_force();
  const bool is_to_stop = is_isolated && in_force != nullptr && in_force->text == text;
  if (auto checked = binaries_.check_executable(binary); !checked && !is_to_stop) {
    missing_binary_ = binary;
    return fail(checked.error());
  }
  const conf::Environment variables = environment();
  FDBPACK_TRY(processes, launcher::processes_of(reading.configuration, settings_.rules, variables));
  FDBPACK_TRY(const conf::Environment used,
              launcher::used_environment(reading.configuration, variables));
  reading.environment = wire::write_string_map(used);
  return reading;
}

ConfCandidate Launcher::read(std::string text) {
  ConfCandidate candidate;
  missing_binary_.clear();
  auto reading = interpret(text, candidate.loaded.conf);
  candidate.loaded.text = std::move(text);
  if (!reading) {
    candidate.loaded.conf = {};
    candidate.diagnostics.push_back({conf::Severity::error, {}, reading.error().message});
    return candidate;
  }
  if (versions_.size() > kVersionsMax) versions_.clear();
  for (const auto& process : candidate.loaded.conf.processes) {
    const auto revision = supervise::revision_of(process, "", "");
    versions_.insert_or_assign(revision.command, reading->configuration.version);
  }
  read_ = *std::move(reading);
  return candidate;
}

void Launcher::on_change() {
  activate();
  count_starts();
  if (!missing_binary_.empty() && !std::exchange(is_looking_for_binary_, true)) {
    binary_alarm_->set(world_.clock.now() + kBinaryInterval);
  }
}

void Launcher::activate() {
  const LoadedConf* in_force = agent_.conf().in_force();
  if (in_force == nullptr || !read_ || read_->text != in_force->text || read_ == active_) return;
  const bool is_new = !active_ || active_->configuration != read_->configuration;
  active_ = read_;
  active_since_ = world_.clock.wall();
  if (is_new) {
    metrics_.configuration_applied(active_->configuration.version, active_since_);
    world_.log.write(supervise::Severity::info, kLogName,
                     "Configuration in force: version " + active_->configuration.version + ", " +
                         active_->configuration.binary_path +
                         (active_->configuration.runs_servers() ? "" : ", no processes"));
  }
  if (!pod_) return;
  pod_->annotate(launcher::kCurrentConfiguration, active_->text);
  pod_->annotate(launcher::kLauncherEnvironment, active_->environment);
}

// An entry that was forgotten and came again counts from the beginning.
void Launcher::count_starts() {
  const auto& processes = agent_.supervisor().processes();
  std::erase_if(starts_seen_, [&](const auto& seen) {
    return !processes.contains(launcher::section_of(seen.first));
  });
  std::set<std::string> running;
  for (const auto& [section, who] : processes) {
    const auto number = launcher::number_of(section);
    const auto* process = live_process(who->state);
    if (!number || process == nullptr) continue;
    if (auto version = version_of(*process, *who); !version.empty()) {
      running.insert(std::move(version));
    }
    std::uint64_t& seen = starts_seen_[*number];
    if (who->state.starts < seen) seen = 0;
    if (who->state.starts == seen) continue;
    metrics_.process_started(*number, who->started_wall, who->state.starts - seen);
    seen = who->state.starts;
  }
  metrics_.set_running(running);
}

// Of a process that an earlier launcher started by another configuration its binary tells.
std::string Launcher::version_of(const supervise::Process& process, const Supervised& who) {
  const auto known = versions_.find(process.revision.command);
  if (known != versions_.end()) return known->second;
  if (!who.child) return "";
  const std::string path = "/proc/" + std::to_string(who.child->pid()) + "/cmdline";
  const auto argv = world_.files.read(path, kCommandLineBytesMax);
  if (!argv) return "";
  const std::string version =
      launcher::version_of_binary(argv->substr(0, argv->find('\0')), settings_.rules);
  if (!version.empty()) versions_.emplace(process.revision.command, version);
  return version;
}

void Launcher::look_for_binary() {
  is_looking_for_binary_ = !missing_binary_.empty();
  if (!is_looking_for_binary_) return;
  if (binaries_.check_executable(missing_binary_)) {
    is_looking_for_binary_ = false;  // another one may be missing next
    return agent_.on_conf_change();
  }
  binary_alarm_->set(world_.clock.now() + kBinaryInterval);
}

void Launcher::restore_pod() {
  if (!pod_) return;
  const auto text = world_.files.read(settings_.agent.state_dir + kPodFile, kPodBytesMax);
  if (!text) return;
  if (const auto known = wire::read_metadata(*text)) pod_->remember(*known);
}

// Without it the next launcher only has to wait for the API server.
void Launcher::save_pod() {
  launcher::Metadata known;
  known.labels = pod_->labels();
  if (launcher::is_isolated(pod_->annotations())) {
    known.annotations.emplace(launcher::kIsolate, "true");
  }
  std::string text = wire::write_metadata(known);
  if (text == saved_pod_) return;
  const std::string path = settings_.agent.state_dir + kPodFile;
  if (world_.files.replace(path, text, kPrivateMode)) saved_pod_ = std::move(text);
}

void Launcher::on_pod(const launcher::Annotations& before) {
  save_pod();
  const auto request = launcher::reload_request(before, pod_->annotations());
  if (!request) return;
  const auto read_at = std::chrono::floor<std::chrono::seconds>(active_since_);
  if (request->is_now || request->outdated_at_s > read_at.time_since_epoch().count()) {
    agent_.on_conf_change();
  }
}

void Launcher::on_cluster_file_change() {
  world_.log.write(supervise::Severity::info, kLogName, "The cluster file has changed");
  if (pod_) pod_->annotate(launcher::kClusterFileChange, unix_seconds(world_.clock.wall()));
}

void Launcher::on_signal(int signal) {
  if (signal == SIGTERM || signal == SIGINT) {
    const auto delay = pod_ ? launcher::shutdown_delay(pod_->annotations()) : std::nullopt;
    // The second one is for those who do not want to wait.
    const bool is_first = !stays_until_.has_value();
    stays_until_ =
        world_.clock.now() + (is_first ? delay.value_or(Duration::zero()) : Duration::zero());
    if (pod_) pod_->stop();
    binary_alarm_->clear();
    if (has_agent_ended_) return end_alarm_->set(world_.clock.now());
  }
  agent_.on_signal(signal);
}

void Launcher::on_agent_end(int code) {
  exit_code_ = code;
  has_agent_ended_ = true;
  const Instant now = world_.clock.now();
  if (stays_until_ && *stays_until_ > now) {
    world_.log.write(supervise::Severity::info, kLogName,
                     "All processes have ended; the pod asks to stay a while");
    world_.log.flush();
  }
  end_alarm_->set(stays_until_.value_or(now));
}

}  // namespace fdbpack::agent
