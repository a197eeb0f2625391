// SPDX-License-Identifier: Apache-2.0
//
// `launcher`, in place of fdb-kubernetes-monitor: builds the parts and runs them.
#include "adapters/http/api_client.hpp"
#include "adapters/http/server.hpp"
#include "adapters/posix/accounts.hpp"
#include "adapters/posix/cgroups.hpp"
#include "adapters/posix/conf_watch.hpp"
#include "adapters/posix/disk_gauge.hpp"
#include "adapters/posix/file_copier.hpp"
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
#include "adapters/posix/rotating_file.hpp"
#include "adapters/posix/signals.hpp"
#include "adapters/posix/steady_clock.hpp"
#include "adapters/systemd/notifier.hpp"
#include "agent/api_front.hpp"
#include "agent/launcher/copier.hpp"
#include "agent/launcher/launcher.hpp"
#include "agent/launcher/options.hpp"
#include "agent/launcher/routes.hpp"
#include "agent/modes.hpp"
#include "fdbpack/base/text.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>

namespace fdbpack::agent {
namespace {

using supervise::Severity;

constexpr int kFailure = 1;
constexpr int kUnavailable = 69;  // sysexits: another launcher has the state directory
constexpr std::size_t kFileBytesMax = 1024 * 1024;
constexpr auto kListenRetry = std::chrono::seconds(10);

conf::Environment environment_map(const std::vector<std::string>& variables) {
  conf::Environment result;
  for (const std::string& variable : variables) {
    const auto equals = variable.find('=');
    if (equals == std::string::npos) continue;
    result.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return result;
}

std::string value_of(const conf::Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

bool is_object_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return text::is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.';
  });
}

// With the mode, which main() has taken away.
std::vector<std::string> command_line(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (!words.empty() && words.front() == "launcher") words.insert(words.begin(), "fdbpack-agent");
  return words;
}

class Program {
 public:
  Program(const LauncherOptions& options, conf::Environment environment,
          std::vector<std::string> arguments, posix::InheritedFds inherited)
      : options_(options),
        environment_(std::move(environment)),
        arguments_(std::move(arguments)),
        inherited_(std::move(inherited)) {
    const auto& handover = inherited_.handover;
    if (handover && !limits_.empty()) limits_.front().soft = handover->files_max;
  }

  int run();

 private:
  [[nodiscard]] Status read_version();
  [[nodiscard]] Status read_additional_environment();
  [[nodiscard]] Status copy();
  int wait_as_sidecar();
  int supervise();
  [[nodiscard]] std::string agent_id() const;
  [[nodiscard]] Status lock_state();
  [[nodiscard]] Status lock_without_state(const Error& why);
  [[nodiscard]] LauncherSettings settings() const;
  void find_api_server();
  void listen();
  [[nodiscard]] Result<http_server::Server::Security> prepare_tls();
  [[nodiscard]] Status try_to_listen();
  void start_front();
  void on_end(int code);
  void on_signal(int signal);
  void replace_self();
  void copy_to_file(std::string_view line);
  void say(Severity severity, const std::string& text) { log_.write(severity, kLogName, text); }

  LauncherOptions options_;
  conf::Environment environment_;
  conf::Environment additional_;
  std::vector<std::string> arguments_;
  std::vector<std::string> variables_ = posix::own_environment();  // for a program that replaces us
  posix::InheritedFds inherited_;
  std::string program_ = posix::program_path();
  posix::PosixFiles files_;
  posix::PosixFileCopier copier_;
  boost::asio::io_context io_{1};
  posix::SteadyClock clock_{io_};
  std::optional<posix::RotatingFile> log_file_;
  posix::LogSink log_{io_, clock_, log_options(), STDOUT_FILENO};
  std::vector<ports::ResourceLimit> limits_ = posix::raise_limits();
  std::optional<posix::LockFile> lock_;
  posix::UniqueFd name_lock_;  // where there is no state directory to lock
  std::optional<PodPlace> pod_;
  std::optional<http_client::ApiClient> api_;
  std::optional<Launcher> launcher_;
  std::optional<ApiFront> front_;
  posix::ForkedDiskGauge* disks_ = nullptr;  // while we run
  std::optional<LauncherRoutes> routes_;
  std::optional<http_server::Server> server_;
  std::unique_ptr<ports::Alarm> listen_alarm_ = clock_.make_alarm([this] { listen(); });
  std::set<std::string> bound_;  // addresses on which it listens
  std::string listen_error_;
  std::string log_file_error_;
  int exit_code_ = 0;

  posix::LogOptions log_options() {
    posix::LogOptions options;
    options.format = posix::LogFormat::zap;
    if (options_.log_path.empty()) return options;
    log_file_.emplace(options_.log_path);
    options.copy = [this](std::string_view line) { copy_to_file(line); };
    return options;
  }
};

void Program::copy_to_file(std::string_view line) {
  log_file_->write(line);
  if (log_file_->error() == log_file_error_) return;
  log_file_error_ = log_file_->error();
  if (log_file_error_.empty()) return;
  boost::asio::post(io_, [this, text = log_file_error_] {
    say(Severity::error, "The log is not written to its file: " + text);
  });
}

Status Program::read_version() {
  auto text = files_.read(options_.version_file, kFileBytesMax);
  if (!text) return fail(with_context(text.error(), "the version of this container"));
  options_.rules.container_version = std::string(text::trim(*text));
  options_.copies.container_version = options_.rules.container_version;
  return {};
}

Status Program::read_additional_environment() {
  if (options_.additional_env_file.empty()) return {};
  FDBPACK_TRY(const std::string text, files_.read(options_.additional_env_file, kFileBytesMax));
  auto read = launcher::parse_additional_environment(text);
  for (const std::string& line : read.refused) {
    say(Severity::error, "Environment file contains line that we cannot parse: " + line);
  }
  additional_ = std::move(read.variables);
  return {};
}

Status Program::copy() {
  FDBPACK_TRY(const launcher::CopyPlan plan, launcher::plan_copies(options_.copies));
  return copy_all(plan, options_.output_dir, copier_, log_);
}

int Program::run() {
  using Mode = LauncherOptions::Mode;
  Status status = read_version();
  if (status && options_.mode == Mode::launcher) status = read_additional_environment();
  const bool is_same = options_.main_container_version == options_.rules.container_version;
  if (status && (options_.mode == Mode::init || (options_.mode == Mode::sidecar && !is_same))) {
    status = copy();
  }
  if (!status) {
    say(Severity::error, status.error().message);
    log_.flush();
    return kFailure;
  }
  if (options_.mode == Mode::init) return 0;
  const int code = options_.mode == Mode::sidecar ? wait_as_sidecar() : supervise();
  log_.flush();
  return code;
}

int Program::wait_as_sidecar() {
  say(Severity::info, "Waiting for process to be terminated");
  log_.flush();
  posix::SignalWatch signals(io_, {SIGINT, SIGTERM}, [this](int) { io_.stop(); });
  posix::hear_signals();
  io_.run();
  return 0;
}

// Where pods share the host's processes, another pod's must not be taken for ours.
std::string Program::agent_id() const {
  const std::string who = options_.state_dir + '\n' + value_of(environment_, "FDB_POD_NAMESPACE") +
                          '/' + value_of(environment_, "FDB_POD_NAME");
  return StateDir(who).agent_id();
}

// Two launchers with one state directory would take each other's processes for their own.
Status Program::lock_state() {
  const auto made = files_.make_directories(options_.state_dir, kStateDirMode);
  if (!made) return lock_without_state(made.error());
  auto locked = posix::LockFile::acquire(options_.state_dir + "/lock");
  if (!locked && locked.error().code == ErrorCode::already_exists) return fail(locked.error());
  if (!locked) return lock_without_state(locked.error());
  lock_ = *std::move(locked);
  if (auto written = lock_->write_pid(::getpid()); !written) {
    say(Severity::error, written.error().message);
  }
  return {};
}

// Only those who see the same processes are to be kept apart.
Status Program::lock_without_state(const Error& why) {
  std::error_code error;
  const auto pids = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  auto locked = posix::lock_name("fdbpack-launcher/" + agent_id() + "/" + pids.string());
  if (!locked && locked.error().code == ErrorCode::already_exists) {
    return fail(with_context(locked.error(), "another launcher runs"));
  }
  if (locked) name_lock_ = *std::move(locked);
  say(Severity::warning,
      "The state directory cannot be used, nothing is remembered for the next launcher" +
          (locked ? "" : ", and another one is not kept away (" + locked.error().message + ")") +
          ": " + why.message);
  return {};
}

void Program::find_api_server() {
  const std::string host = value_of(environment_, "KUBERNETES_SERVICE_HOST");
  const auto port = text::parse_decimal(value_of(environment_, "KUBERNETES_SERVICE_PORT"));
  PodPlace pod{value_of(environment_, "FDB_POD_NAMESPACE"), value_of(environment_, "FDB_POD_NAME"),
               options_.watches_node ? value_of(environment_, "FDB_NODE_NAME") : ""};
  std::string why;
  if (host.empty()) {
    why = "KUBERNETES_SERVICE_HOST is not set";
  } else if (!port || *port == 0 || *port > 65535) {
    why = "KUBERNETES_SERVICE_PORT is not a port";
  } else if (!is_object_name(pod.pod_namespace) || !is_object_name(pod.pod)) {
    why = "FDB_POD_NAMESPACE and FDB_POD_NAME do not name a pod";
  }
  if (!why.empty()) {
    return say(Severity::warning, "Running without the Kubernetes API: " + why);
  }
  if (options_.watches_node && !is_object_name(pod.node)) {
    say(Severity::warning, "Labels of the node are not read: FDB_NODE_NAME does not name one");
    pod.node.clear();
  }
  api_.emplace(io_, http_client::ApiPlace{host, static_cast<std::uint16_t>(*port),
                                          options_.service_account_dir + "/ca.crt",
                                          options_.service_account_dir + "/token"});
  pod_ = std::move(pod);
}

LauncherSettings Program::settings() const {
  LauncherSettings settings;
  settings.rules = options_.rules;
  settings.own_environment = environment_;
  settings.additional_environment = additional_;
  settings.pod = pod_;
  AgentSettings& agent = settings.agent;
  agent.version = FDBPACK_VERSION;
  agent.conf_path = options_.conf_path;
  agent.state_dir = options_.state_dir;
  agent.keeps_children = options_.keeps_children;
  agent.pid = ::getpid();
  agent.uid = ::geteuid();
  agent.supervisor.agent_id = agent_id();
  agent.supervisor.environment = posix::own_environment();  // without what was meant for us alone
  agent.supervisor.stop_grace = options_.stop_grace;
  agent.supervisor.limits = limits_;
  agent.supervisor.random_seed =
      static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
  std::error_code error;
  const auto directory = std::filesystem::current_path(error);
  if (!error) agent.supervisor.working_directory = directory.string();
  return settings;
}

Result<http_server::Server::Security> Program::prepare_tls() {
  using Security = http_server::Server::Security;
  if (options_.certificate_path.empty() && options_.certificate_key_path.empty()) {
    return Security::plain;
  }
  if (!bound_.empty()) return Security::tls;
  http_server::TlsFiles files;
  files.certificate_file = options_.certificate_path;
  files.key_file = options_.certificate_key_path;
  FDBPACK_TRY_VOID(server_->use_tls(std::move(files)));
  return Security::tls;
}

Status Program::try_to_listen() {
  FDBPACK_TRY(const ListenPlace place, parse_listen_place(options_.listen_address));
  FDBPACK_TRY(const auto security, prepare_tls());
  std::string trouble;
  std::string unsupported;  // no trouble as long as there is another address
  for (const std::string& address : place.addresses) {
    if (bound_.contains(address)) continue;
    auto port = server_->listen(http_server::TcpPlace{address, place.port}, security);
    if (port) {
      bound_.insert(address);
      say(Severity::info, "Serving metrics on " + address + " port " + std::to_string(*port));
    } else {
      std::string& where = port.error().code == ErrorCode::unsupported ? unsupported : trouble;
      where += (where.empty() ? "" : "; ") + port.error().message;
    }
  }
  if (trouble.empty() && bound_.empty()) trouble = unsupported;
  if (trouble.empty()) return {};
  return fail(ErrorCode::unavailable, trouble);
}

// The database does not depend on who looks at it: a port that is taken is tried again.
void Program::listen() {
  const auto listening = try_to_listen();
  if (listening) return;
  if (listening.error().message != listen_error_) {
    listen_error_ = listening.error().message;
    say(Severity::error, std::string("Metrics are not served") +
                             (bound_.empty() ? "" : " at every address") +
                             ", it is tried again: " + listen_error_);
  }
  listen_alarm_->set(clock_.now() + kListenRetry);
}

int Program::supervise() {
  say(Severity::info, "Started fdbpack (v" FDBPACK_VERSION ") in place of fdb-kubernetes-monitor");
  if (auto status = lock_state(); !status) {
    say(Severity::error, status.error().message);
    return kUnavailable;
  }
  if (options_.enables_pprof) {
    say(Severity::warning, "--enable-pprof has no effect: profiles of Go do not exist here");
  }
  find_api_server();

  if (!inherited_.problem.empty()) {
    say(Severity::warning,
        "What the program before handed over cannot be read, its processes are looked for: " +
            inherited_.problem);
  }
  auto pidfds = systemd::take_stored_fds();
  pidfds.insert(pidfds.end(), inherited_.pidfds.begin(), inherited_.pidfds.end());
  Inheritance inheritance = inheritance_of(std::move(pidfds), inherited_.handover);
  inherited_ = {};
  systemd::SystemdNotifier notifier;
  posix::PosixLauncher spawner(io_, clock_, lock_ ? lock_->fd() : name_lock_.get());
  posix::MemoryOutputPump output(
      io_, clock_, [this](ports::OutputId id, ports::Stream stream, std::string_view line) {
        if (launcher_) launcher_->on_line(id, stream, line);
      });
  posix::PosixAccounts accounts;
  posix::ProcTable processes;
  posix::ConnectProbe probe(io_, clock_);
  posix::DelegatedCgroups cgroups("off");
  posix::ProcHolders holders;
  posix::ForkedDiskGauge disks(io_, clock_, spawner);
  disks_ = &disks;
  World world{clock_,    spawner, output,  log_,     files_,  accounts,
              processes, probe,   cgroups, notifier, holders, disks};
  launcher_.emplace(world, copier_, api_ ? &*api_ : nullptr, settings(),
                    [this](int code) { on_end(code); });
  posix::ConfWatch conf_watch(io_, clock_, options_.conf_path,
                              [this] { launcher_->on_conf_change(); });
  posix::ConfWatch cluster_file_watch(io_, clock_, options_.cluster_file,
                                      [this] { launcher_->on_cluster_file_change(); });
  posix::SignalWatch signals(io_, {SIGHUP, SIGINT, SIGTERM, SIGUSR2, SIGCHLD},
                             [this](int signal) { on_signal(signal); });
  posix::hear_signals();
  if (auto started = launcher_->start(std::move(inheritance)); !started) {
    say(Severity::error, started.error().message);
    return kFailure;
  }
  if (conf_watch.is_degraded()) {
    launcher_->set_degraded("conf watch",
                            {"changes of the configuration are looked for every ten seconds only"});
  }
  routes_.emplace([this] { return launcher_->metrics(); },
                  [this] { return launcher_->is_ready(); });
  server_.emplace(io_, *routes_, http::Limits{},
                  [this](std::string_view note) { say(Severity::info, std::string(note)); });
  listen();
  start_front();
  ::malloc_trim(0);
  io_.run();
  log_.flush();
  // Calls to an API server or a name server that hangs must not delay the end.
  ::_exit(exit_code_);
}

void Program::on_signal(int signal) {
  if (signal == SIGUSR2) {
    replace_self();
  } else {
    launcher_->on_signal(signal);
  }
}

// The agent's own API, for those in the pod: the port of the metrics is open to others.
void Program::start_front() {
  http::ServiceSettings settings;
  if (lock_) settings.socket_path = StateDir(options_.state_dir).socket();
  settings.operator_uids = {0, ::geteuid()};
  std::error_code error;
  auto http = with_options(settings, options_.http, std::filesystem::current_path(error).string());
  if (!http) return say(Severity::error, "The API is not served: " + http.error().message);
  front_.emplace(io_, launcher_->agent(), *http);
  front_->start();
}

void Program::on_end(int code) {
  exit_code_ = code;
  if (!front_) return io_.stop();
  front_->stop([this] { io_.stop(); });
}

// The lock is not handed over: it ends with this program and is taken by the next.
void Program::replace_self() {
  if (launcher_->agent().is_ending()) return;
  say(Severity::warning, "Received signal 12 (User defined signal 2), replacing the program");
  wire::Handover handover;
  if (!limits_.empty()) handover.files_max = limits_.front().soft;
  handover.state = wire::print(launcher_->agent().state());
  launcher_->agent().describe_descriptors(handover);
  disks_->end_worker();
  log_.flush();
  const Error error = posix::replace_program(handover, program_, arguments_, variables_);
  say(Severity::error, "The program could not be replaced: " + error.message);
}

}  // namespace

int main_of_launcher(int argc, char** argv) {
  conf::Environment environment = environment_map(posix::own_environment());
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto parsed = parse_launcher_options(arguments, environment);
  if (const auto* code = std::get_if<int>(&parsed)) return *code;
  const auto& options = std::get<LauncherOptions>(parsed);
  auto inherited = posix::take_inherited_fds(options.state_dir + "/lock");
  environment.erase(posix::kHandoverVariable);  // it was for us alone
  posix::become_supervisor();
  Program program(options, std::move(environment), command_line(argc, argv), std::move(inherited));
  return program.run();
}

}  // namespace fdbpack::agent
