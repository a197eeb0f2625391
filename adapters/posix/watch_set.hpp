// SPDX-License-Identifier: Apache-2.0
//
// What has to be watched so that no change of what a path leads to goes unnoticed.
//
//   /etc/fdb -> /srv/conf            /etc/fdb/f.conf -> ..data/f.conf     ..data -> ..2026_01
//
//   for each part of the path, and of the targets of its links:
//     a directory                    the directory itself: moved or deleted
//     a symbolic link                the link itself, and its directory for a new one of its name
//     the file                       the file itself, and its directory for a new one of its name
//     missing                        the directory it would be in
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace fdbpack::posix {

struct WatchSet {
  // Path -> inotify mask.
  std::map<std::string, std::uint32_t> self;
  // Directory -> names in it whose coming and going matters.
  std::map<std::string, std::set<std::string>> names;
};

// `path` is absolute. Follows at most 40 links, as the kernel does.
[[nodiscard]] WatchSet watch_set(const std::string& path);

}  // namespace fdbpack::posix
