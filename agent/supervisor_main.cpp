// SPDX-License-Identifier: Apache-2.0
//
// `monitor` and `run`: builds the parts of the supervisor and runs them.
#include "adapters/files/local_file_reader.hpp"
#include "adapters/posix/accounts.hpp"
#include "adapters/posix/cgroups.hpp"
#include "adapters/posix/conf_watch.hpp"
#include "adapters/posix/disk_gauge.hpp"
#include "adapters/posix/files.hpp"
#include "adapters/posix/holders.hpp"
#include "adapters/posix/inherited_fds.hpp"
#include "adapters/posix/launcher.hpp"
#include "adapters/posix/lock_file.hpp"
#include "adapters/posix/log_sink.hpp"
#include "adapters/posix/output_pump.hpp"
#include "adapters/posix/port_probe.hpp"
#include "adapters/posix/process_setup.hpp"
#include "adapters/posix/process_table.hpp"
#include "adapters/posix/signals.hpp"
#include "adapters/posix/steady_clock.hpp"
#include "adapters/systemd/notifier.hpp"
#include "adapters/template_worker/template_worker.hpp"
#include "agent/agent.hpp"
#include "agent/api_front.hpp"
#include "agent/modes.hpp"
#include "agent/options.hpp"
#include "agent/rendered_conf.hpp"

#include <boost/asio/io_context.hpp>
#include <climits>

#include <malloc.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace fdbpack::agent {
namespace {

constexpr int kUnavailable = 69;  // sysexits: somebody else holds the lock
constexpr int kFailure = 1;
constexpr std::size_t kConfigBytesMax = 16 * 1024 * 1024;
// How long somebody's templates may hold up the supervision of what runs. A good configuration
// takes some milliseconds for each group.
constexpr auto kTemplateTime = std::chrono::seconds(5);
// Pages of this size go back to the system when they are gone, instead of leaving holes.
constexpr int kMappedBytesMin = 64 * 1024;

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) {
    seed = static_cast<std::uint64_t>(::getpid());
  }
  return seed;
}

std::string current_directory() {
  std::array<char, PATH_MAX> buffer{};
  return ::getcwd(buffer.data(), buffer.size()) == nullptr ? "/" : buffer.data();
}

posix::LogFormat log_format(const Options& options) {
  if (options.log_format == "json") return posix::LogFormat::json;
  const bool is_text = options.log_format.empty() && options.mode == Mode::run;
  return is_text || options.log_format == "text" ? posix::LogFormat::text
                                                 : posix::LogFormat::fdbmonitor;
}

// Whoever calls us fdbmonitor may read what fdbmonitor would write, in the journal too.
posix::LogTarget log_target(const Options& options) {
  if (options.log_to == "stderr") return posix::LogTarget::stream;
  if (options.log_to == "journal") return posix::LogTarget::journal;
  if (options.log_to == "syslog" || options.is_daemon) return posix::LogTarget::syslog;
  const bool may_choose = options.log_format.empty() && !options.is_fdbmonitor;
  return may_choose && posix::is_journal(STDERR_FILENO) ? posix::LogTarget::journal
                                                        : posix::LogTarget::stream;
}

// Everything that lives as long as the program, in the order in which it is built.
class Program {
 public:
  Program(const Options& options, std::vector<std::string> arguments, posix::InheritedFds inherited)
      : options_(options),
        arguments_(std::move(arguments)),
        environment_(posix::own_environment()),
        inherited_(std::move(inherited)),
        limits_(posix::raise_limits()) {
    const auto& handover = inherited_.handover;
    if (handover && !limits_.empty()) limits_.front().soft = handover->files_max;
  }

  int run(posix::Daemon* daemon);

 private:
  Result<posix::LockFile> lock();
  Status lock_state();
  AgentSettings settings() const;
  Result<std::string> conf_of(std::string_view config) const;
  Inheritance inheritance();
  void read_config();
  [[nodiscard]] std::optional<wire::AgentConfig> config(const http::ServiceSettings& defaults);
  void on_end(int code);
  void on_signal(int signal);
  void replace_self();

  const Options& options_;
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;  // before anything was taken out of it
  posix::InheritedFds inherited_;
  std::vector<ports::ResourceLimit> limits_;
  std::string program_ = posix::program_path();
  std::string directory_ = current_directory();  // before we left it

  boost::asio::io_context io_{1};
  posix::SteadyClock clock_{io_};
  posix::LogSink log_{
      io_, clock_, {log_format(options_), options_.log_group, log_target(options_)}};
  std::optional<posix::LockFile> lock_;
  std::optional<posix::LockFile> state_lock_;  // none: the directory cannot be written to
  std::optional<Agent> agent_;
  http::ServiceSettings http_;
  std::vector<StorageSetting> storage_;
  std::string config_trouble_;  // HTTP and storage are not as the file has them
  std::optional<ApiFront> front_;
  posix::ForkedDiskGauge* disks_ = nullptr;  // while we run
  int exit_code_ = 0;
};

Result<posix::LockFile> Program::lock() {
  const auto& handover = inherited_.handover;
  const int fd = handover ? handover->lock_fd : inherited_.lock_fd;
  if (fd >= 0) return posix::LockFile::inherited(options_.lock_path, fd);
  return posix::LockFile::acquire(options_.lock_path);
}

// Two agents with one state directory would take each other's processes for their own. Unlike the
// lock file this lock is not handed over: it ends with the program and is taken by the next.
Status Program::lock_state() {
  posix::PosixFiles files;
  if (!files.make_directories(options_.state_dir, kStateDirMode)) return {};
  auto locked = posix::LockFile::acquire(options_.state_dir + "/lock");
  if (!locked && locked.error().code == ErrorCode::already_exists) return fail(locked.error());
  if (!locked) return {};
  state_lock_ = *std::move(locked);
  return state_lock_->write_pid(::getpid());
}

Result<std::string> Program::conf_of(std::string_view config) const {
  if (options_.templates.empty()) return render_conf(config);
  adapters::LocalFileReader files;
  adapters::TemplateWorker worker;
  worker.end_within(kTemplateTime);
  const TemplateFolder folder{options_.templates, files, worker};
  return render_conf(config, &folder);
}

AgentSettings Program::settings() const {
  AgentSettings settings;
  settings.version = FDBPACK_VERSION;
  settings.conf_path = options_.conf_path;
  settings.state_dir = options_.state_dir;
  if (options_.mode == Mode::run) {
    settings.translate_conf = [this](std::string_view text) { return conf_of(text); };
  }
  settings.keeps_children = options_.keeps_children;
  settings.pid = ::getpid();
  settings.uid = ::geteuid();
  settings.supervisor.agent_id = StateDir(options_.state_dir).agent_id();
  settings.supervisor.environment = posix::own_environment();
  settings.supervisor.stop_grace = options_.stop_grace;
  settings.supervisor.dies_with_agent = options_.dies_with_agent;
  settings.supervisor.limits = limits_;
  settings.supervisor.random_seed = random_seed();
  settings.storage = storage_;
  return settings;
}

// The configuration that is there, or the one that an agent last started by: a typo must not open
// a port that was closed, or close one that others look at. None if there never was a good one.
std::optional<wire::AgentConfig> Program::config(const http::ServiceSettings& defaults) {
  const std::string kept = StateDir(options_.state_dir).started_config();
  posix::PosixFiles files;
  const auto text = files.read(options_.conf_path, kConfigBytesMax);
  const auto before = files.read(kept, kConfigBytesMax);
  if (auto config = wire::parse_agent_config(text ? *text : "", defaults)) {
    const bool is_kept = (before && *before == *text) || files.replace(kept, *text, kPrivateMode);
    if (!is_kept) {
      log_.write(supervise::Severity::warning, kLogName,
                 kept + " cannot be written: the next agent needs a good configuration");
    }
    return *std::move(config);
  }
  auto config = wire::parse_agent_config(before ? *before : "", defaults);
  config_trouble_ = "the configuration is refused: until the next start HTTP and storage are " +
                    std::string(config ? "as at the last start" : "the defaults");
  log_.write(supervise::Severity::error, kLogName, config_trouble_);
  if (!config) return {};
  return *std::move(config);
}

// What of the configuration counts from the start on; the rest is the agent's matter. A
// configuration that is wrong is refused there, with its reasons.
void Program::read_config() {
  http::ServiceSettings defaults;
  defaults.listen = {{"127.0.0.1", 4490, http::ListenPlace::Security::automatic}};
  defaults.socket_path = StateDir(options_.state_dir).socket();
  defaults.operator_uids = {0, ::geteuid()};
  http_ = defaults;
  if (options_.mode == Mode::run) {
    if (const auto found = config(defaults)) {
      http_ = found->http;
      for (const auto& unit : found->storage)
        storage_.push_back({unit.type, unit.key, unit.path});
    }
  }
  auto settings = with_options(http_, options_.http, directory_);
  if (settings) {
    http_ = *std::move(settings);
    return;
  }
  log_.write(supervise::Severity::error, kLogName,
             "HTTP is served on the unix socket only: " + settings.error().message);
  http_ = {};
  http_.socket_path = defaults.socket_path;
  http_.operator_uids = defaults.operator_uids;
}

void Program::on_end(int code) {
  exit_code_ = code;
  if (!front_) return io_.stop();
  front_->stop([this] { io_.stop(); });
}

Inheritance Program::inheritance() {
  auto pidfds = systemd::take_stored_fds();
  pidfds.insert(pidfds.end(), inherited_.pidfds.begin(), inherited_.pidfds.end());
  return inheritance_of(std::move(pidfds), inherited_.handover);
}

int Program::run(posix::Daemon* daemon) {
  log_.write(supervise::Severity::info, kLogName,
             "Started FoundationDB Process Monitor fdbpack (v" FDBPACK_VERSION ")");
  if (!inherited_.problem.empty()) {
    log_.write(
        supervise::Severity::warning, kLogName,
        "What the program before handed over cannot be read, its processes are looked for: " +
            inherited_.problem);
  }
  auto locked = lock();
  if (!locked) {
    log_.write(supervise::Severity::error, kLogName, locked.error().message);
    if (options_.is_daemon && daemon != nullptr) daemon->report(kUnavailable);
    return kUnavailable;
  }
  lock_ = *std::move(locked);
  if (::chdir("/") != 0) return kFailure;
  if (auto written = lock_->write_pid(::getpid()); !written) {
    log_.write(supervise::Severity::warning, kLogName, written.error().message);
  }

  if (auto status = lock_state(); !status) {
    log_.write(supervise::Severity::error, kLogName, status.error().message);
    if (!state_lock_ && !inherited_.is_replacement) {
      if (daemon != nullptr) daemon->report(kUnavailable);
      lock_->remove();
      return kUnavailable;
    }
  }

  auto inherited = inheritance();
  systemd::SystemdNotifier notifier;
  posix::PosixLauncher launcher(io_, clock_, lock_->fd());
  posix::MemoryOutputPump output(
      io_, clock_, [this](ports::OutputId id, ports::Stream stream, std::string_view line) {
        if (agent_) agent_->on_line(id, stream, line);
      });
  posix::PosixFiles files;
  files.keep_reserve();
  posix::PosixAccounts accounts;
  posix::ProcTable processes;
  posix::ConnectProbe probe(io_, clock_);
  posix::DelegatedCgroups cgroups(options_.cgroup);
  posix::ProcHolders holders;
  posix::ForkedDiskGauge disks(io_, clock_, launcher);
  disks_ = &disks;
  World world{clock_,    launcher, output,  log_,     files,   accounts,
              processes, probe,    cgroups, notifier, holders, disks};
  read_config();
  agent_.emplace(world, settings(), [this](int code) { on_end(code); });
  posix::ConfWatch watch(io_, clock_, options_.conf_path, [this] { agent_->on_conf_change(); });
  log_.write(supervise::Severity::info, kLogName, "Watching conf file " + options_.conf_path);
  posix::SignalWatch signals(io_, posix::heard_signals(),
                             [this](int signal) { on_signal(signal); });
  posix::hear_signals();
  if (auto started = agent_->start(std::move(inherited)); !started) {
    log_.write(supervise::Severity::error, kLogName, started.error().message);
    if (daemon != nullptr) daemon->report(kFailure);
    lock_->remove();
    return kFailure;
  }
  if (watch.is_degraded()) {
    agent_->set_degraded("conf watch",
                         {"changes of the conf are looked for every ten seconds only"});
  }
  if (!config_trouble_.empty()) agent_->set_degraded("configuration", {config_trouble_});
  if (daemon != nullptr) daemon->report(0);
  inherited_ = {};
  front_.emplace(io_, *agent_, http_);
  front_->start();
  ::malloc_trim(0);
  io_.run();
  lock_->remove();
  log_.flush();
  front_.reset();
  agent_.reset();
  return exit_code_;
}

void Program::on_signal(int signal) {
  if (signal == SIGUSR2) {
    replace_self();
  } else {
    agent_->on_signal(signal);
  }
}

void Program::replace_self() {
  if (agent_->is_ending()) return;
  log_.write(supervise::Severity::warning, kLogName,
             "Received signal 12 (User defined signal 2), replacing the program");
  wire::Handover handover;
  handover.lock_fd = lock_->fd();
  if (!limits_.empty()) handover.files_max = limits_.front().soft;
  handover.state = wire::print(agent_->state());
  agent_->describe_descriptors(handover);
  disks_->end_worker();
  log_.flush();
  // The arguments may hold relative paths.
  if (::chdir(directory_.c_str()) != 0) {
    log_.write(supervise::Severity::warning, kLogName, directory_ + " cannot be entered any more");
  }
  const Error error = posix::replace_program(handover, program_, arguments_, environment_);
  if (::chdir("/") != 0) std::abort();  // it worked before
  log_.write(supervise::Severity::error, kLogName,
             "The program could not be replaced: " + error.message);
}

}  // namespace

int main_of_supervisor(int argc, char** argv) {
  ::mallopt(M_MMAP_THRESHOLD, kMappedBytesMin);
  const auto parsed = parse_options(argc, argv);
  if (const auto* exit_code = std::get_if<ExitCode>(&parsed)) return exit_code->code;
  const auto& options = std::get<Options>(parsed);
  std::optional<posix::Daemon> daemon;
  auto inherited = posix::take_inherited_fds(options.lock_path);
  if (options.is_daemon && !inherited.is_replacement) daemon = posix::Daemon::start();
  Program program(options, std::vector<std::string>(argv, argv + argc), std::move(inherited));
  posix::become_supervisor();
  return program.run(daemon ? &*daemon : nullptr);
}

}  // namespace fdbpack::agent
