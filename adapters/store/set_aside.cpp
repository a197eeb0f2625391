// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/set_aside.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace fdbpack::store {
namespace {

constexpr int kNamesMax = 1000;

std::string stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return text.data();
}

bool is_there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// A file that is not there needs no moving. Never replaces anything.
Status move(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ||
      errno == ENOENT) {
    return {};
  }
  return fail(ErrorCode::unavailable,
              "renaming " + from + " to " + to + ": " + std::strerror(errno));
}

Status sync_folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = fd >= 0 && ::fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (is_synced) return {};
  return fail(ErrorCode::unavailable, "syncing " + folder + ": " + std::strerror(error));
}

}  // namespace

Result<std::string> set_aside(const std::string& path) {
  const std::string base = path + ".corrupt-" + stamp();
  for (int number = 1; number <= kNamesMax; ++number) {
    const std::string name = number == 1 ? base : base + "-" + std::to_string(number);
    if (is_there(name) || is_there(name + "-wal") || is_there(name + "-shm")) continue;
    // The database first: a log without its database is refused, but a database without its log
    // would be opened as if nothing were missing.
    for (const char* part : {"", "-wal", "-shm"}) {
      FDBPACK_TRY_VOID(move(path + part, name + part));
    }
    FDBPACK_TRY_VOID(sync_folder_of(path));
    return name;
  }
  return fail(ErrorCode::unavailable, "there is no free name for " + base);
}

}  // namespace fdbpack::store
