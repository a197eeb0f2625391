// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/output_pump.hpp"

#include "adapters/posix/inotify_events.hpp"
#include "fdbpack/base/check.hpp"

#include <boost/asio/post.hpp>
#include <climits>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

namespace fdbpack::posix {

namespace asio = boost::asio;

namespace {

// How much of one stream is read before the others have their turn.
constexpr std::size_t kTurnBytesMax = 256 * 1024;
constexpr std::size_t kBufferBytes = MemoryOutputPump::kLineBytesMax + 1;
constexpr auto kLookInterval = std::chrono::seconds(1);
constexpr std::string_view kFileName = "fdbpack-output";

std::string fd_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

std::uint64_t size_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

// Opened a second time, because the kernel reports no changes made through the descriptor that
// memfd_create gives (Linux 6.14). Without /proc that one has to do.
Result<UniqueFd> make_file() {
  UniqueFd made(::memfd_create(std::string(kFileName).c_str(), MFD_CLOEXEC));
  if (!made) return fail(errno_error("making a file for output", errno));
  const std::string path = fd_path(made.get());
  UniqueFd opened(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (opened) return opened;
  if (::fcntl(made.get(), F_SETFL, O_APPEND) != 0) {
    return fail(errno_error("making a file for output", errno));
  }
  return made;
}

bool is_our_file(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  const std::string expected = "/memfd:" + std::string(kFileName);
  return size >= static_cast<ssize_t>(expected.size()) &&
         std::string_view(target.data(), expected.size()) == expected;
}

Result<UniqueFd> open_of_process(int pid, int fd) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  if (!is_our_file(path)) return fail(ErrorCode::not_found, path + " is not a stream of ours");
  UniqueFd opened(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!opened) return fail(errno_error("opening " + path, errno));
  return opened;
}

}  // namespace

MemoryOutputPump::MemoryOutputPump(asio::io_context& io, ports::Clock& clock, ports::OnLine on_line)
    : io_(io),
      on_line_(std::move(on_line)),
      events_(io),
      look_(clock.make_alarm([this] { look_at_all(); })),
      clock_(clock),
      buffer_(new char[kBufferBytes]) {
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd >= 0) {
    events_.assign(fd);
    wait_for_events();
  } else {
    is_degraded_ = true;
    look_->set(clock_.now() + kLookInterval);
  }
}

MemoryOutputPump::~MemoryOutputPump() = default;

Result<ports::OutputId> MemoryOutputPump::open(std::string_view) {
  FDBPACK_TRY(auto out, make_file());
  FDBPACK_TRY(auto err, make_file());
  return add({std::move(out), std::move(err)}, false);
}

Result<ports::OutputId> MemoryOutputPump::adopt(std::string_view, int pid) {
  FDBPACK_TRY(auto out, open_of_process(pid, STDOUT_FILENO));
  FDBPACK_TRY(auto err, open_of_process(pid, STDERR_FILENO));
  return add({std::move(out), std::move(err)}, true);
}

Result<ports::OutputId> MemoryOutputPump::take(std::string_view, ports::OutputFds fds) {
  return add({UniqueFd(fds.out), UniqueFd(fds.err)}, true);
}

Result<ports::OutputId> MemoryOutputPump::add(std::array<UniqueFd, 2> fds, bool skips_zeros) {
  const ports::OutputId id = next_id_++;
  auto pair = std::make_unique<Pair>();
  for (std::size_t i = 0; i < 2; ++i) {
    File& file = pair->files[i];
    file.fd = std::move(fds[i]);
    file.skips_zeros = skips_zeros;
    if (skips_zeros) {
      const off_t data = ::lseek(file.fd.get(), 0, SEEK_DATA);
      file.offset = data >= 0 ? static_cast<std::uint64_t>(data) : size_of(file.fd.get());
      file.released = file.offset;
    }
  }
  pairs_.emplace(id, std::move(pair));
  for (const auto stream : {ports::Stream::out, ports::Stream::err}) {
    watch(id, stream);
    if (skips_zeros) mark_dirty({id, stream});
  }
  return id;
}

void MemoryOutputPump::watch(ports::OutputId id, ports::Stream stream) {
  File& file = pairs_.at(id)->files[static_cast<std::size_t>(stream)];
  if (events_.is_open()) {
    const std::string path = fd_path(file.fd.get());
    file.watch = ::inotify_add_watch(events_.native_handle(), path.c_str(), IN_MODIFY);
  }
  if (file.watch >= 0) {
    watches_[file.watch] = {id, stream};
  } else if (!is_degraded_) {
    is_degraded_ = true;
    look_->set(clock_.now() + kLookInterval);
  }
}

ports::OutputFds MemoryOutputPump::fds(ports::OutputId id) const {
  const Pair& pair = *pairs_.at(id);
  return {pair.files[0].fd.get(), pair.files[1].fd.get()};
}

void MemoryOutputPump::end_of_process(ports::OutputId id) {
  Pair& pair = *pairs_.at(id);
  for (const auto stream : {ports::Stream::out, ports::Stream::err}) {
    File& file = pair.files[static_cast<std::size_t>(stream)];
    const std::uint64_t size = size_of(file.fd.get());
    if (size <= file.offset) continue;
    file.boundaries.push_back(size);
    mark_dirty({id, stream});
  }
}

void MemoryOutputPump::drain(ports::OutputId id) {
  for (const auto stream : {ports::Stream::out, ports::Stream::err}) {
    while (pairs_.contains(id) && drain_some({id, stream})) {
    }
  }
}

void MemoryOutputPump::close(ports::OutputId id) {
  const auto found = pairs_.find(id);
  if (found == pairs_.end()) return;
  for (File& file : found->second->files) {
    if (file.watch < 0) continue;
    ::inotify_rm_watch(events_.native_handle(), file.watch);
    watches_.erase(file.watch);
  }
  pairs_.erase(found);
}

ports::OutputCounters MemoryOutputPump::counters(ports::OutputId id) const {
  return pairs_.at(id)->counters;
}

void MemoryOutputPump::wait_for_events() {
  events_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
                       if (error || alive.expired()) return;
                       read_events();
                       wait_for_events();
                     });
}

void MemoryOutputPump::read_events() {
  read_inotify(events_.native_handle(), [this](const inotify_event& event, const char*) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      look_at_all();
    } else if (const auto found = watches_.find(event.wd); found != watches_.end()) {
      mark_dirty(found->second);
    }
  });
}

void MemoryOutputPump::look_at_all() {
  for (const auto& [id, pair] : pairs_) {
    mark_dirty({id, ports::Stream::out});
    mark_dirty({id, ports::Stream::err});
  }
  if (is_degraded_) look_->set(clock_.now() + kLookInterval);
}

void MemoryOutputPump::mark_dirty(Place place) {
  File& file = pairs_.at(place.id)->files[static_cast<std::size_t>(place.stream)];
  if (!file.is_dirty) {
    file.is_dirty = true;
    dirty_.push_back(place);
  }
  if (is_drain_posted_) return;
  is_drain_posted_ = true;
  asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) drain_dirty();
  });
}

void MemoryOutputPump::drain_dirty() {
  is_drain_posted_ = false;
  auto turn = std::exchange(dirty_, {});
  for (const Place place : turn) {
    const auto found = pairs_.find(place.id);
    if (found == pairs_.end()) continue;
    found->second->files[static_cast<std::size_t>(place.stream)].is_dirty = false;
    if (drain_some(place)) mark_dirty(place);
  }
}

void MemoryOutputPump::skip_backlog(Pair& pair, File& file) {
  const std::uint64_t size = size_of(file.fd.get());
  if (size < file.offset) {  // somebody truncated it
    file.offset = file.released = 0;
    file.boundaries.clear();
  }
  if (size - file.offset <= kBacklogBytesMax) return;
  const std::uint64_t keep_from = size - kLineBytesMax;
  pair.counters.bytes_dropped += keep_from - file.offset;
  file.offset = keep_from;
  std::erase_if(file.boundaries, [&](std::uint64_t end) { return end <= keep_from; });
}

// Reads one turn's worth. True: there is more.
bool MemoryOutputPump::drain_some(Place place) {
  Pair& pair = *pairs_.at(place.id);
  File& file = pair.files[static_cast<std::size_t>(place.stream)];
  skip_backlog(pair, file);
  std::size_t turn_bytes = 0;
  while (turn_bytes < kTurnBytesMax) {
    const std::uint64_t end = file.boundaries.empty() ? UINT64_MAX : file.boundaries.front();
    const auto want = std::min<std::uint64_t>(kBufferBytes, end - file.offset);
    const ssize_t got =
        ::pread(file.fd.get(), buffer_.get(), want, static_cast<off_t>(file.offset));
    if (got < 0) break;
    std::string_view text(buffer_.get(), static_cast<std::size_t>(got));
    const bool is_end = file.offset + text.size() == end;
    if (file.skips_zeros) {
      const std::size_t zeros = std::min(text.find_first_not_of('\0'), text.size());
      file.offset += zeros;
      text.remove_prefix(zeros);
      file.skips_zeros = text.empty() && zeros > 0;
    }
    const std::size_t used = deliver(place, pair, file, text, is_end);
    if (!pairs_.contains(place.id)) return false;  // closed by whoever got the line
    if (is_end && file.offset == end) file.boundaries.erase(file.boundaries.begin());
    turn_bytes += used;
    if (used == 0 && !is_end && !file.skips_zeros) {
      release(file);
      return false;
    }
  }
  release(file);
  return true;
}

// Hands on the lines in `text`, which begins at the file's offset. Returns how many bytes were
// used.
std::size_t MemoryOutputPump::deliver(Place place, Pair& pair, File& file, std::string_view text,
                                      bool is_end) {
  const std::size_t before = text.size();
  while (!text.empty()) {
    std::size_t length = text.find('\n');
    std::size_t used = length + 1;
    if (length == std::string_view::npos) {
      if (text.size() < kBufferBytes && !is_end) break;  // its end is still to come
      length = used = std::min(text.size(), kLineBytesMax);
      if (text.size() > kLineBytesMax) ++pair.counters.lines_cut;
    }
    ++pair.counters.lines;
    file.offset += used;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(used);
    on_line_(place.id, place.stream, line);
    if (!pairs_.contains(place.id)) return before;
  }
  return before - text.size();
}

void MemoryOutputPump::release(File& file) {
  if (file.offset == file.released) return;
  ::fallocate(file.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(file.released), static_cast<off_t>(file.offset - file.released));
  file.released = file.offset;
}

}  // namespace fdbpack::posix
