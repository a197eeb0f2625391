// SPDX-License-Identifier: Apache-2.0
//
// One directory: its file system, and the room that the files below it take.
#include "adapters/posix/disk_worker.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

namespace fdbpack::posix {
namespace {

constexpr std::size_t kFilesMax = 50'000;   // that are counted below one directory
constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks, whatever the file system's are

constexpr std::array<std::pair<std::uint64_t, const char*>, 12> kFileSystems{{
    {0xEF53, "ext4"},
    {0x58465342, "xfs"},
    {0x9123683E, "btrfs"},
    {0x01021994, "tmpfs"},
    {0x794C7630, "overlay"},
    {0x6969, "nfs"},
    {0x2FC12FC1, "zfs"},
    {0x65735546, "fuse"},
    {0x00C36400, "ceph"},
    {0xFF534D42, "cifs"},
    {0x858458F6, "ramfs"},
    {0xF2F52010, "f2fs"},
}};

std::string name_of(std::uint64_t type) {
  for (const auto& [number, name] : kFileSystems) {
    if (number == type) return name;
  }
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(type));
  return text.data();
}

// Adds up what is below `folder` on the same file system; each file with several names once.
class Walk {
 public:
  Walk(ports::DiskReading& reading, ::dev_t device) : reading_(reading), device_(device) {}

  void add(const std::string& root) {
    std::vector<std::string> folders = {root};
    while (!folders.empty() && !reading_.is_use_partial) {
      const std::string folder = std::move(folders.back());
      folders.pop_back();
      DIR* stream = ::opendir(folder.c_str());
      if (stream == nullptr) continue;  // gone, or not ours to read
      while (const ::dirent* entry = ::readdir(stream)) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (++files_ > kFilesMax) {
          reading_.is_use_partial = true;
          break;
        }
        struct ::stat status {};
        if (::fstatat(::dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (status.st_dev != device_) continue;
        if (S_ISDIR(status.st_mode)) folders.push_back(folder + "/" + name);
        if (status.st_nlink > 1 && !S_ISDIR(status.st_mode) &&
            !linked_.insert(status.st_ino).second) {
          continue;
        }
        reading_.used_bytes += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
      }
      ::closedir(stream);
    }
  }

 private:
  ports::DiskReading& reading_;
  ::dev_t device_;
  std::size_t files_ = 0;
  std::set<::ino_t> linked_;
};

}  // namespace

ports::DiskReading look_at_disk(const ports::DiskRequest& request) {
  ports::DiskReading reading;
  reading.path = request.path;
  struct ::stat status {};
  struct ::statfs room {};
  if (::stat(request.path.c_str(), &status) != 0 || ::statfs(request.path.c_str(), &room) != 0) {
    reading.is_missing = errno == ENOENT || errno == ENOTDIR;
    if (!reading.is_missing) reading.error = std::strerror(errno);
    return reading;
  }
  if (!S_ISDIR(status.st_mode)) {
    reading.error = "it is no directory";
    return reading;
  }
  const auto block = static_cast<std::uint64_t>(room.f_frsize > 0 ? room.f_frsize : room.f_bsize);
  reading.device = status.st_dev;
  reading.file_system = name_of(static_cast<std::uint64_t>(room.f_type) & 0xFFFFFFFFU);
  reading.total_bytes = room.f_blocks * block;
  reading.free_bytes = room.f_bavail * block;
  reading.is_read_only = (static_cast<std::uint64_t>(room.f_flags) & ST_RDONLY) != 0;
  if (request.measures_use) {
    reading.has_use = true;
    Walk(reading, status.st_dev).add(request.path);
  }
  return reading;
}

}  // namespace fdbpack::posix
