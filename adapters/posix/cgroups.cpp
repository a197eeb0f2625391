// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/cgroups.hpp"

#include "adapters/posix/fd.hpp"
#include "adapters/posix/files.hpp"
#include "fdbpack/base/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

namespace fdbpack::posix {
namespace {

constexpr std::size_t kFileBytesMax = 256 * 1024;

std::string read(const std::string& path) {
  return PosixFiles().read(path, kFileBytesMax).value_or("");
}

int write(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return errno;
  return ::write(file.get(), text.data(), text.size()) < 0 ? errno : 0;
}

// Where this process is in the v2 tree, as a directory; empty when there is no such tree.
std::string own_directory() {
  std::string below;
  const std::string groups = read("/proc/self/cgroup");
  for (const auto line : text::split(groups, '\n')) {
    if (line.starts_with("0::")) below = line.substr(3);
  }
  const std::string mounts = read("/proc/self/mounts");
  for (const auto line : text::split(mounts, '\n')) {
    const auto fields = text::split_words(line);
    if (fields.size() > 2 && fields[2] == "cgroup2" && !below.empty()) {
      return std::string(fields[1]) + (below == "/" ? "" : below);
    }
  }
  return {};
}

bool is_marked_delegated(const std::string& directory) {
  char value = '0';
  return ::getxattr(directory.c_str(), "user.delegate", &value, 1) == 1 && value == '1';
}

}  // namespace

DelegatedCgroups::DelegatedCgroups(const std::string& directory) {
  if (directory == "off") {
    degraded_ = "no cgroups: switched off";
    return;
  }
  std::string own = directory == "auto" ? own_directory() : directory;
  // After the program has replaced itself it is where it went before.
  if (constexpr std::string_view kAgent = "/agent"; directory == "auto" && own.ends_with(kAgent)) {
    const std::string parent = own.substr(0, own.size() - kAgent.size());
    if (is_marked_delegated(parent)) own = parent;
  }
  if (own.empty()) {
    degraded_ = "no cgroups: there is no cgroup v2 tree";
  } else if (directory == "auto" && !is_marked_delegated(own)) {
    degraded_ = "no cgroups: " + own + " is not delegated to the agent";
  } else {
    use(own);
  }
}

void DelegatedCgroups::use(const std::string& directory) {
  const std::string agent = directory + "/agent";
  if (::mkdir(agent.c_str(), 0755) != 0 && errno != EEXIST) {
    degraded_ = "no cgroups: " + errno_error("making " + agent, errno).message;
    return;
  }
  if (const int error_number = write(agent + "/cgroup.procs", "0"); error_number != 0) {
    degraded_ = "no cgroups: " + errno_error("entering " + agent, error_number).message;
    return;
  }
  root_ = directory;
  if (write(directory + "/cgroup.subtree_control", "+memory") != 0) {
    degraded_ = "cgroups cannot tell when memory ran out: no memory controller";
  }
}

std::string DelegatedCgroups::path_of(const std::string& section) const {
  // Two sections never share one: removing a cgroup kills all that is in it.
  std::string path = root_ + "/p-";
  for (const char c : section) {
    if (c == '/' || c == '%' || (c >= 0 && c <= ' ')) {
      const auto byte = static_cast<unsigned char>(c);
      path += {'%', "0123456789ABCDEF"[byte >> 4u], "0123456789ABCDEF"[byte & 15u]};
    } else {
      path += c;
    }
  }
  return path;
}

std::string DelegatedCgroups::prepare(const std::string& section) {
  if (root_.empty()) return {};
  const std::string path = path_of(section);
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return path;
  degraded_ = "no cgroup for " + section + ": " + errno_error("making it", errno).message;
  return {};
}

std::string DelegatedCgroups::find(const std::string& section, int pid) {
  if (root_.empty()) return {};
  const std::string path = path_of(section);
  const std::string members = read(path + "/cgroup.procs");
  const std::string wanted = std::to_string(pid);
  for (const auto line : text::split(members, '\n')) {
    if (line == wanted) return path;
  }
  return {};
}

std::optional<std::uint64_t> DelegatedCgroups::oom_kills(const std::string& section) {
  if (root_.empty()) return {};
  const std::string events = read(path_of(section) + "/memory.events");
  for (const auto line : text::split(events, '\n')) {
    const auto words = text::split_words(line);
    if (words.size() == 2 && words[0] == "oom_kill") return text::parse_decimal(words[1]);
  }
  return {};
}

void DelegatedCgroups::remove(const std::string& section) {
  if (root_.empty()) return;
  const std::string path = path_of(section);
  write(path + "/cgroup.kill", "1");
  ::rmdir(path.c_str());
}

}  // namespace fdbpack::posix
