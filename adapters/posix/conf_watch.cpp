// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/conf_watch.hpp"

#include "adapters/posix/inotify_events.hpp"
#include "adapters/posix/watch_set.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>

namespace fdbpack::posix {

namespace asio = boost::asio;

namespace {

constexpr auto kQuiet = std::chrono::milliseconds(50);
constexpr auto kQuietMax = std::chrono::seconds(1);
constexpr auto kWriterRetry = std::chrono::milliseconds(100);
constexpr auto kWriterIdleMax = std::chrono::seconds(5);
constexpr auto kLookInterval = std::chrono::seconds(10);
constexpr std::uint32_t kInDirectory =
    IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

ConfWatch::ConfWatch(asio::io_context& io, ports::Clock& clock, std::string path,
                     ports::OnFileChange on_change)
    : clock_(clock),
      path_(std::move(path)),
      on_change_(std::move(on_change)),
      events_(io),
      settle_(clock.make_alarm([this] { settle(); })),
      look_(clock.make_alarm([this] { look(); })) {
  told_ = stamp();
  arm();
  look_->set(clock_.now() + kLookInterval);
}

ConfWatch::~ConfWatch() = default;

// Everything is watched anew after each event: with a new inotify instance there are no leftovers
// of old watches to tell apart, and no event falls between two of them, because the file's stamp is
// compared after the new one is in place.
void ConfWatch::arm() {
  names_.clear();
  is_degraded_ = true;
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  boost::system::error_code ignored;
  events_.close(ignored);
  if (fd < 0) return;
  events_.assign(fd, ignored);
  if (ignored) {
    ::close(fd);
    return;
  }
  const WatchSet wanted = watch_set(path_);
  bool is_complete = true;
  std::map<std::string, std::uint32_t> masks = wanted.self;
  for (const auto& [directory, names] : wanted.names)
    masks[directory] |= kInDirectory;
  for (const auto& [what, mask] : masks) {
    // A link is watched as itself, a directory reached through links is none.
    const int watch = ::inotify_add_watch(fd, what.c_str(), mask);
    is_complete = is_complete && watch >= 0;
    const auto names = wanted.names.find(what);
    if (watch >= 0 && names != wanted.names.end()) {
      names_[watch].insert(names->second.begin(), names->second.end());
    }
  }
  is_degraded_ = !is_complete;
  wait_for_events();
}

void ConfWatch::wait_for_events() {
  events_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
                       if (!error && !alive.expired()) read_events();
                     });
}

void ConfWatch::read_events() {
  bool matters = false;
  bool must_arm = false;
  read_inotify(events_.native_handle(), [&](const inotify_event& event, const char* name) {
    const auto names = names_.find(event.wd);
    const bool is_named = event.len > 0;
    if (is_named && (names == names_.end() || !names->second.contains(name))) return;
    matters = true;
    must_arm = must_arm || (event.mask & IN_CLOSE_WRITE) == 0;
  });
  if (must_arm) {
    arm();
  } else {
    wait_for_events();
  }
  if (matters) note_event();
}

void ConfWatch::note_event() {
  const Instant now = clock_.now();
  if (!first_event_) first_event_ = now;
  settle_->set(std::min<Instant>(now + kQuiet, *first_event_ + kQuietMax));
}

void ConfWatch::settle() {
  first_event_.reset();
  const auto current = stamp();
  if (current == told_) return;
  if (is_being_written()) return settle_->set(clock_.now() + kWriterRetry);
  told_ = current;
  on_change_();
}

void ConfWatch::look() {
  look_->set(clock_.now() + kLookInterval);
  if (is_degraded_) arm();
  if (stamp() != told_ && !first_event_) settle();
}

std::optional<ConfWatch::Stamp> ConfWatch::stamp() const {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) return {};
  return Stamp{info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim),
               nanoseconds(info.st_ctim)};
}

// A read lease is granted only while nobody has the file open for writing. Where leases are not to
// be had (another owner, some filesystems) the answer is no.
bool ConfWatch::is_being_written() const {
  const UniqueFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return false;
  if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(file.get(), F_SETLEASE, F_UNLCK);
    return false;
  }
  if (errno != EAGAIN) return false;
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return false;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto idle = Duration(nanoseconds(now) - nanoseconds(info.st_mtim));
  return idle >= Duration::zero() && idle < kWriterIdleMax;
}

}  // namespace fdbpack::posix
