// SPDX-License-Identifier: Apache-2.0
//
// `sidecar`: in place of FoundationDB's sidecar.py.
#include "adapters/http/server.hpp"
#include "adapters/posix/background.hpp"
#include "adapters/posix/files.hpp"
#include "adapters/posix/log_sink.hpp"
#include "adapters/posix/output_tree.hpp"
#include "adapters/posix/signals.hpp"
#include "adapters/posix/steady_clock.hpp"
#include "agent/modes.hpp"
#include "agent/sidecar/sidecar.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <arpa/inet.h>
#include <netdb.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <optional>
#include <set>

extern char** environ;

namespace fdbpack::agent {
namespace {

constexpr int kFailure = 1;
constexpr int kTerminated = 128 + SIGTERM;
constexpr int kUsageError = 2;  // as Python's argparse
constexpr std::size_t kFileSizeMax = 16 * 1024 * 1024;
constexpr std::chrono::milliseconds kStopGrace{2000};
constexpr std::chrono::milliseconds kWorkGrace{1000};  // for work that was cancelled
constexpr std::string_view kLogName = "sidecar";
using supervise::Severity;

// Everybody may come from one address here: the operator asks for all pods, and a proxy in the pod
// hides who asked.
http::Limits limits() {
  http::Limits limits;
  limits.connections_per_peer_max = limits.connections_max / 2;
  return limits;
}

sidecar::Environment own_environment() {
  sidecar::Environment result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == text.npos) continue;
    result.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

// The first IPv4 address of a name, or the address itself.
Result<std::string> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    return fail(ErrorCode::not_found, "resolving " + name + ": " + ::gai_strerror(error));
  }
  std::array<char, INET_ADDRSTRLEN> text{};
  const auto* address = reinterpret_cast<const sockaddr_in*>(found->ai_addr);
  ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
  ::freeaddrinfo(found);
  return std::string(text.data());
}

bool has_contents(const std::string& path) {
  struct ::stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

Result<std::string> host_address() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) {
    return fail(ErrorCode::unavailable, "the host has no name");
  }
  return resolve(name.data());
}

// Everything that lives as long as the sidecar, in the order in which it is built.
class Program {
 public:
  explicit Program(const sidecar::Options& options) : options_(options) {}

  int run();

 private:
  Result<sidecar::Settings> load_settings();
  void sweep();
  Status listen(http_server::Server& server);
  int serve(const SidecarCopier& copier);
  void stop(http_server::Server& server, int exit_code);
  int refuse(const Error& error);
  void note(std::string_view what);

  const sidecar::Options& options_;
  boost::asio::io_context io_{1};
  posix::SteadyClock clock_{io_};
  posix::LogSink log_{io_, clock_, {posix::LogFormat::sidecar, ""}};
  posix::PosixFiles files_;
  sidecar::Settings settings_;
  std::optional<posix::PosixOutputTree> tree_;
  bool is_stopping_ = false;
  int exit_code_ = 0;
};

int Program::refuse(const Error& error) {
  log_.write(Severity::error, kLogName, error.message);
  log_.flush();
  return kFailure;
}

void Program::note(std::string_view what) {
  // The kubelet's probe, every few seconds: it connects and goes away.
  const bool is_probe =
      what.starts_with("tls.refused") && what.ends_with("reason=\"stream truncated\"");
  if (!is_probe) log_.write(Severity::warning, kLogName, what);
}

Result<sidecar::Settings> Program::load_settings() {
  FDBPACK_TRY(const std::string version, files_.read(options_.version_file, kFileSizeMax));
  return sidecar::make_settings(options_, own_environment(), version, host_address);
}

// What a sidecar that was killed left behind would fill the volume in time.
void Program::sweep() {
  std::set<std::string> folders{"."};
  for (const auto* items :
       {&settings_.plan.files, &settings_.plan.binaries, &settings_.plan.libraries}) {
    for (const auto& item : *items) {
      const auto slash = item.target.rfind('/');
      if (slash != std::string::npos) folders.insert(item.target.substr(0, slash));
    }
  }
  for (const std::string& folder : folders)
    tree_->sweep(folder);
}

int Program::run() {
  auto settings = load_settings();
  if (!settings) {
    // sidecar.py says this one on its standard output.
    if (settings.error().code == ErrorCode::unsupported)
      std::cout << settings.error().message << "\n";
    return refuse(settings.error());
  }
  settings_ = *std::move(settings);
  tree_.emplace(settings_.output_dir);
  sweep();
  const SidecarInput input{
      [this](const std::string& path) { return files_.read(path, kFileSizeMax); }, has_contents};
  const SidecarCopier copier(settings_, *tree_, input);
  if (const auto copied = copier.copy_all(); !copied) return refuse(copied.error());
  return settings_.is_init_mode ? 0 : serve(copier);
}

Status Program::listen(http_server::Server& server) {
  using http_server::Server;
  const sidecar::BindAddress& address = settings_.bind_address;
  const auto security = settings_.tls ? Server::Security::tls : Server::Security::plain;
  http_server::TcpPlace place{address.host, address.port};
  if (!address.is_v6) {
    FDBPACK_TRY(place.address, resolve(address.host));
  }
  FDBPACK_TRY(place.port, server.listen(place, security));
  // "[::]" is for IPv4, too, as it is for Python: probes come to the pod's first address.
  if (address.is_v6 && address.host == "::") {
    const auto also = server.listen({"0.0.0.0", place.port}, security);
    if (!also && also.error().code == ErrorCode::already_exists) return fail(also.error());
    if (!also) log_.write(Severity::warning, kLogName, also.error().message);
  }
  const std::string host = address.is_v6 ? "[" + address.host + "]" : address.host;
  log_.write(Severity::info, kLogName, "Listening on " + host + ":" + std::to_string(place.port));
  return {};
}

int Program::serve(const SidecarCopier& copier) {
  http_server::Server* listening = nullptr;
  const auto on_failure = [this](const std::string& what) {
    log_.write(Severity::error, kLogName, "Unexpected failure: " + what);
  };
  posix::WorkerThread reads(io_, on_failure);
  posix::WorkerThread copies(io_, on_failure);
  const auto refresh = [&]() -> Status {
    FDBPACK_TRY_VOID(listening->refresh_tls());
    // Files that do not fit are no news the second time, but no success either.
    if (listening->tls_problem()) return fail(*listening->tls_problem());
    return {};
  };
  const auto restart = [&] {
    // After the answer, which this call is a part of.
    boost::asio::post(io_, [&] { stop(*listening, kFailure); });
  };
  Sidecar handler(settings_, copier, {*tree_, reads, copies, log_, refresh, restart});
  http_server::Server server(io_, handler, limits(), [this](std::string_view what) { note(what); });
  listening = &server;
  if (settings_.tls) {
    http_server::TlsFiles files;
    files.certificate_file = settings_.tls->certificate_file;
    files.key_file = settings_.tls->key_file;
    files.authority_file = settings_.tls->ca_file;
    if (const auto status = server.use_tls(files); !status) return refuse(status.error());
    for (const std::string& warning : settings_.tls->warnings)
      log_.write(Severity::warning, kLogName, "tls-verify-peers: " + warning);
  }
  posix::SignalWatch signals(io_, {SIGTERM, SIGINT}, [&](int) { stop(server, 0); });
  if (const auto status = listen(server); !status) {
    stop(server, kFailure);
    io_.run();
    return refuse(status.error());
  }
  io_.run();
  const bool have_ended = reads.stop(kWorkGrace) && copies.stop(kWorkGrace);
  if (!have_ended) {
    log_.write(Severity::error, kLogName, "A disk does not answer; ending without it");
  }
  log_.flush();
  // What a thread that hangs still uses stays until the kernel takes it all.
  if (!have_ended) ::_exit(exit_code_);
  return exit_code_;
}

void Program::stop(http_server::Server& server, int exit_code) {
  if (std::exchange(is_stopping_, true)) return;
  exit_code_ = exit_code;
  server.stop(kStopGrace, [this] {
    tree_->cancel();  // a copy that is cut off here leaves the old file
    io_.stop();
  });
}

}  // namespace

int main_of_sidecar(int argc, char** argv) {
  const auto options = sidecar::parse_options(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) {
    std::cerr << "sidecar: error: " << options.error().message << "\n";
    return kUsageError;
  }
  if (options->wants_help) {
    std::cout << sidecar::help_text();
    return 0;
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_IGN);  // as the first process of a container we get the orphans
  // Until the loop hears of it; the first process of a container is not ended by it otherwise.
  ::signal(SIGTERM, [](int) { ::_exit(kTerminated); });
  Program program(*options);
  return program.run();
}

}  // namespace fdbpack::agent
