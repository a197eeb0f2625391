// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/watch_set.hpp"

#include "fdbpack/base/text.hpp"

#include <climits>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <optional>

namespace fdbpack::posix {
namespace {

constexpr int kLinksMax = 40;
constexpr std::uint32_t kGone = IN_MOVE_SELF | IN_DELETE_SELF;

std::optional<std::string> link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size <= 0) return {};
  return std::string(target.data(), static_cast<std::size_t>(size));
}

void push_front_parts(std::deque<std::string>& parts, std::string_view path) {
  const auto names = text::split(path, '/');
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!name->empty() && *name != ".") parts.emplace_front(*name);
  }
}

std::string parent(const std::string& directory) {
  const auto slash = directory.rfind('/');
  return slash == 0 || slash == std::string::npos ? "" : directory.substr(0, slash);
}

}  // namespace

WatchSet watch_set(const std::string& path) {
  WatchSet result;
  std::deque<std::string> parts;
  push_front_parts(parts, path);
  std::string directory;  // without a slash at its end; empty is the root
  int links = 0;
  while (!parts.empty()) {
    const std::string name = parts.front();
    parts.pop_front();
    if (name == "..") {
      directory = parent(directory);
      continue;
    }
    const std::string here = directory + "/" + name;
    const std::string in = directory.empty() ? "/" : directory;
    struct stat info {};
    if (::lstat(here.c_str(), &info) != 0) {
      result.names[in].insert(name);
      return result;
    }
    if (S_ISLNK(info.st_mode)) {
      result.names[in].insert(name);
      result.self[here] |= kGone | IN_ATTRIB | IN_DONT_FOLLOW;
      const auto target = link_target(here);
      if (!target || ++links > kLinksMax) return result;
      if (target->front() == '/') directory.clear();
      push_front_parts(parts, *target);
    } else if (parts.empty()) {
      result.names[in].insert(name);
      result.self[here] |= kGone | IN_CLOSE_WRITE | IN_ATTRIB;
    } else {
      result.self[here] |= kGone | IN_ATTRIB;
      directory = here;
    }
  }
  return result;
}

}  // namespace fdbpack::posix
