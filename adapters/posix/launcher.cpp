// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/launcher.hpp"

#include "adapters/posix/pidfd.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <utility>

namespace fdbpack::posix {

namespace asio = boost::asio;

namespace {
constexpr auto kReapRetry = std::chrono::milliseconds(2);
constexpr unsigned kReapRetriesMax = 50;
constexpr std::size_t kStrangersMax = 100000;  // in one go; there are never so many
}  // namespace

// Waits for one pidfd. Outlives its Child only inside a handler that is just running.
class ProcessWatch : public std::enable_shared_from_this<ProcessWatch> {
 public:
  ProcessWatch(PosixLauncher& launcher, int pid, UniqueFd pidfd, ports::OnExit on_exit)
      : launcher_(launcher),
        pid_(pid),
        descriptor_(launcher.io_, pidfd.release()),
        on_exit_(std::move(on_exit)) {}

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] int pidfd() { return descriptor_.native_handle(); }

  void wait() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [self = weak_from_this()](const boost::system::error_code& error) {
                             const auto watch = self.lock();
                             if (!error && watch) watch->look();
                           });
  }

  // Reports the end if there is one. Also called when SIGCHLD shows that there must be.
  void look() {
    if (!on_exit_) return;
    const ReapOutcome outcome = reap_pidfd(pidfd(), pid_);
    if (outcome.what == Reaped::alive) return wait();
    if (outcome.what == Reaped::not_reaped && retries_++ < kReapRetriesMax) return look_later();
    launcher_.children_.erase(pid_);
    has_ended_ = true;
    const auto report = std::exchange(on_exit_, nullptr);
    const auto keep = shared_from_this();  // the report may drop the Child
    report(outcome.exit, signal_group(0) == 0);
  }

  // Zombies are signalled without complaint, and whose parent does not reap stays one: so once the
  // process has ended it is looked up who of the group really lives.
  int signal_group(int signal) {
    const int error_number = pidfd_signal_group(pidfd(), pid_, signal);
    if (error_number == 0 && has_ended_ && !group_has_living_member(pid_)) return ESRCH;
    return error_number;
  }

  // The Child is gone: nobody is interested any more.
  void abandon() {
    launcher_.children_.erase(pid_);
    on_exit_ = nullptr;
    boost::system::error_code ignored;
    descriptor_.close(ignored);
  }

 private:
  void look_later() {
    if (!retry_) {
      retry_ = launcher_.clock_.make_alarm([this] { look(); });
    }
    retry_->set(launcher_.clock_.now() + kReapRetry);
  }

  PosixLauncher& launcher_;
  int pid_;
  asio::posix::stream_descriptor descriptor_;
  ports::OnExit on_exit_;
  std::unique_ptr<ports::Alarm> retry_;
  unsigned retries_ = 0;
  bool has_ended_ = false;
};

namespace {

class PosixChild final : public ports::Child {
 public:
  explicit PosixChild(std::shared_ptr<ProcessWatch> watch) : watch_(std::move(watch)) {}
  ~PosixChild() override { watch_->abandon(); }
  PosixChild(const PosixChild&) = delete;
  PosixChild& operator=(const PosixChild&) = delete;

  [[nodiscard]] int pid() const override { return watch_->pid(); }
  [[nodiscard]] int pidfd() const override { return watch_->pidfd(); }
  int signal_process(int signal) override { return pidfd_signal(watch_->pidfd(), signal); }
  int signal_group(int signal) override { return watch_->signal_group(signal); }

 private:
  std::shared_ptr<ProcessWatch> watch_;
};

}  // namespace

PosixLauncher::PosixLauncher(asio::io_context& io, ports::Clock& clock, int lock_fd)
    : io_(io), clock_(clock), spawner_(lock_fd) {}

PosixLauncher::~PosixLauncher() = default;

std::unique_ptr<ports::Child> PosixLauncher::watch(int pid, UniqueFd pidfd, ports::OnExit on_exit) {
  auto watch = std::make_shared<ProcessWatch>(*this, pid, std::move(pidfd), std::move(on_exit));
  children_[pid] = watch;
  watch->wait();
  return std::make_unique<PosixChild>(std::move(watch));
}

ports::Launcher::Outcome PosixLauncher::launch(const ports::LaunchPlan& plan,
                                               ports::OnExit on_exit) {
  auto outcome = spawner_.spawn(plan);
  if (auto* error = std::get_if<ports::LaunchError>(&outcome)) return *error;
  auto& spawned = std::get<Spawned>(outcome);
  return watch(spawned.pid, std::move(spawned.pidfd), std::move(on_exit));
}

std::unique_ptr<ports::Child> PosixLauncher::adopt(int pid, int pidfd, ports::OnExit on_exit) {
  return watch(pid, UniqueFd(pidfd), std::move(on_exit));
}

std::size_t PosixLauncher::reap_strangers() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kStrangersMax; ++i) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    const auto found = children_.find(info.si_pid);
    if (found == children_.end()) {
      ::waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG);
      ++count;
    } else if (const auto watch = found->second.lock()) {
      watch->look();  // reaps it, so that the next round finds another
    } else {
      children_.erase(found);
    }
  }
  return count;
}

}  // namespace fdbpack::posix
