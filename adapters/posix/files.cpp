// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/files.hpp"

#include "adapters/posix/proc_files.hpp"
#include "fdbpack/base/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace fdbpack::posix {
namespace {

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno_error("writing", errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

constexpr std::array<std::string_view, 12> kNetworkTypes{"9p",     "afs",  "beegfs", "ceph",
                                                         "cifs",   "coda", "gfs2",   "glusterfs",
                                                         "lustre", "nfs",  "nfs4",   "smb3"};

bool is_network(std::string_view type) {
  return std::find(kNetworkTypes.begin(), kNetworkTypes.end(), type) != kNetworkTypes.end() ||
         type.starts_with("fuse.");
}

// Blanks are printed as \040, and so on.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && text.size() - i > 3 &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, code, 8).ec == std::errc()) {
      result += static_cast<char>(code);
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

bool is_below(std::string_view path, std::string_view mount) {
  if (mount == "/") return true;
  return path.starts_with(mount) && (path.size() == mount.size() || path[mount.size()] == '/');
}

}  // namespace

// 36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw
std::string network_file_system(std::string_view mountinfo, std::string_view path) {
  std::string nearest;
  std::string_view type;
  for (const auto line : text::split(mountinfo, '\n')) {
    const auto fields = text::split_words(line);
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || dash == fields.end() || dash + 1 == fields.end()) continue;
    const std::string mount = unescaped(fields[4]);
    if (!is_below(path, mount) || mount.size() < nearest.size()) continue;
    nearest = mount;  // of several at one place the last is on top
    type = *(dash + 1);
  }
  return is_network(type) ? std::string(type) + " at " + nearest : std::string();
}

std::string PosixFiles::network_file_system(const std::string& path) {
  return posix::network_file_system(read_proc("/proc/self/mountinfo").text, path);
}

void PosixFiles::keep_reserve() {
  has_reserve_ = true;
  refill();
}

void PosixFiles::refill() {
  if (has_reserve_ && !reserve_) reserve_ = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

UniqueFd PosixFiles::open(const std::string& path, int flags, unsigned mode) {
  refill();
  UniqueFd file(::open(path.c_str(), flags, static_cast<mode_t>(mode)));
  if (file || !reserve_ || (errno != EMFILE && errno != ENFILE)) return file;
  reserve_.reset();
  return UniqueFd(::open(path.c_str(), flags, static_cast<mode_t>(mode)));
}

Result<std::string> PosixFiles::read(const std::string& path, std::size_t bytes_max) {
  const Refill after{*this};
  // Not blocking: a FIFO put in the file's place must not hang us.
  const UniqueFd file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (!file) return fail(errno_error("reading " + path, errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail(errno_error("reading " + path, errno));
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument, "reading " + path + ": it is not a regular file");
  }
  std::string text;
  for (;;) {
    // One byte more than is allowed, to see whether there is more.
    const std::size_t before = text.size();
    const auto left = static_cast<std::size_t>(info.st_size) + 1 > before
                          ? static_cast<std::size_t>(info.st_size) + 1 - before
                          : std::size_t{4096};
    text.resize(before + std::min(left, bytes_max + 1 - before));
    const ssize_t got = ::read(file.get(), text.data() + before, text.size() - before);
    const int error_number = errno;
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error_number == EINTR) continue;
    if (got < 0) return fail(errno_error("reading " + path, error_number));
    if (got == 0) return text;
    if (text.size() > bytes_max) {
      return fail(ErrorCode::invalid_argument, "reading " + path + ": it is larger than " +
                                                   std::to_string(bytes_max) + " bytes");
    }
  }
}

Status PosixFiles::replace(const std::string& path, std::string_view text, unsigned mode) {
  const std::string temporary = path + ".new";
  const Refill after{*this};
  UniqueFd file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
  if (!file) return fail(errno_error("writing " + temporary, errno));
  if (auto written = write_all(file.get(), text); !written) {
    ::unlink(temporary.c_str());
    return fail(with_context(written.error(), temporary));
  }
  if (::close(file.release()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(temporary.c_str());
    return fail(errno_error("writing " + path, error_number));
  }
  return {};
}

Status PosixFiles::make_directories(const std::string& path, unsigned mode) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const bool is_last = end == std::string::npos;
    const mode_t part_mode = is_last ? static_cast<mode_t>(mode) : mode_t{0755};
    if (!part.empty() && ::mkdir(part.c_str(), part_mode) != 0 && errno != EEXIST) {
      // A parent that exists but may not be written to says EROFS or EACCES, too.
      struct stat info {};
      const int error_number = errno;
      if (::stat(part.c_str(), &info) != 0) {
        return fail(errno_error("making directory " + part, error_number));
      }
    }
    if (is_last) return {};
  }
}

}  // namespace fdbpack::posix
