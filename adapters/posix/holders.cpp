// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/holders.hpp"

#include "adapters/posix/fd.hpp"
#include "fdbpack/base/text.hpp"

#include <climits>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

namespace fdbpack::posix {
namespace {

// The kernel lists what listens first, so that connections do not push it out.
constexpr std::size_t kReadMax = 256 * 1024;
constexpr std::size_t kLinksMax = 65536;  // some fifty milliseconds
constexpr std::string_view kListen = "0A";

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;
using IsWanted = std::function<bool(int pid, std::string_view fd, std::string_view target)>;

// What can be read; empty if nothing can.
std::string read_some(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content;
  if (!file) return content;
  std::array<char, 4096> buffer;
  while (content.size() < kReadMax) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return content;
}

std::optional<int> parse_pid(std::string_view word) {
  const auto pid = text::parse_decimal(word);
  if (!pid || *pid == 0 || *pid > INT_MAX) return {};
  return static_cast<int>(*pid);
}

std::vector<int> all_pids(const std::string& root) {
  std::vector<int> pids;
  const Directory directory(::opendir(root.c_str()), ::closedir);
  if (!directory) return pids;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto pid = parse_pid(entry->d_name)) pids.push_back(*pid);
  }
  return pids;
}

// The first of `pids` that has a descriptor that is wanted; 0: none that can be seen.
int find_by_descriptor(const std::string& root, const std::vector<int>& pids,
                       const IsWanted& is_wanted) {
  std::size_t links = 0;
  std::array<char, PATH_MAX> target;
  for (const int pid : pids) {
    const std::string path = root + "/" + std::to_string(pid) + "/fd";
    const Directory directory(::opendir(path.c_str()), ::closedir);
    if (!directory) continue;
    while (const dirent* entry = ::readdir(directory.get())) {
      if (++links > kLinksMax) return 0;
      const ssize_t size =
          ::readlinkat(::dirfd(directory.get()), entry->d_name, target.data(), target.size());
      if (size <= 0) continue;
      if (is_wanted(pid, entry->d_name, {target.data(), static_cast<std::size_t>(size)})) {
        return pid;
      }
    }
  }
  return 0;
}

ports::Holder holder(const std::string& root, int pid) {
  if (pid == 0) return {};
  const std::string comm = read_some(root + "/" + std::to_string(pid) + "/comm");
  std::string name(text::trim(comm));
  for (char& letter : name) {  // a process may call itself anything
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return {pid, std::move(name)};
}

// The bytes of an address as net/tcp prints them: words of four in the host's order.
std::string as_words(const unsigned char* bytes, std::size_t size) {
  std::string words;
  for (std::size_t i = 0; i < size; i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    std::array<char, 9> hex{};
    std::snprintf(hex.data(), hex.size(), "%08X", word);
    words += hex.data();
  }
  return words;
}

bool is_any(std::string_view words) {
  return words.find_first_not_of('0') == std::string_view::npos;
}

// The ways in which net/tcp and net/tcp6 may print it; empty: any address is meant.
std::vector<std::string> printed_forms(const std::string& ip) {
  std::array<unsigned char, 16> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (::inet_pton(AF_INET, ip.c_str(), mapped.data() + 12) == 1) {
    std::string words = as_words(mapped.data() + 12, 4);
    if (is_any(words)) return {};
    return {std::move(words), as_words(mapped.data(), mapped.size())};
  }
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET6, ip.c_str(), bytes.data()) != 1) return {};
  std::string words = as_words(bytes.data(), bytes.size());
  if (is_any(words)) return {};
  return {std::move(words)};
}

// Of the socket that a line of net/tcp shows, if it keeps others from this address and port.
//   0: 0100007F:1194 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0  12345 ...
std::string_view inode_if_taken(std::string_view line, const std::vector<std::string>& forms,
                                std::string_view port) {
  const auto fields = text::split_words(line);
  if (fields.size() < 10 || fields[3] != kListen) return {};
  const auto colon = fields[1].find(':');
  if (colon == std::string_view::npos || fields[1].substr(colon + 1) != port) return {};
  const auto address = fields[1].substr(0, colon);
  bool is_taken = forms.empty() || is_any(address);
  for (const std::string& form : forms)
    is_taken = is_taken || form == address;
  return is_taken ? fields[9] : std::string_view();
}

// Who is said to have a lock. A lock of an open file has no pid, and one that was inherited may
// have that of a process that is gone; then it may be anybody.
//   1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
std::vector<int> pids_with_locks(const std::string& root) {
  std::vector<int> pids;
  const std::string locks = read_some(root + "/locks");
  for (const auto line : text::split(locks, '\n')) {
    const auto fields = text::split_words(line);
    if (fields.size() < 6 || fields[1] == "->") continue;
    const auto pid = parse_pid(fields[4]);
    if (!pid) return all_pids(root);
    if (::access((root + "/" + std::to_string(*pid)).c_str(), F_OK) != 0) return all_pids(root);
    pids.push_back(*pid);
  }
  return pids;
}

}  // namespace

std::optional<ports::Holder> ProcHolders::of_port(const std::string& ip, std::uint16_t port) const {
  std::array<char, 5> hex{};
  std::snprintf(hex.data(), hex.size(), "%04X", static_cast<unsigned>(port));
  const auto forms = printed_forms(ip);
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    const std::string sockets = read_some(root_ + table);
    for (const auto line : text::split(sockets, '\n')) {
      const auto inode = inode_if_taken(line, forms, hex.data());
      if (inode.empty()) continue;
      const std::string socket = "socket:[" + std::string(inode) + "]";
      const int pid = find_by_descriptor(
          root_, all_pids(root_),
          [&](int, std::string_view, std::string_view target) { return target == socket; });
      return holder(root_, pid);
    }
  }
  return {};
}

std::optional<ports::Holder> ProcHolders::of_directory(const std::string& path) const {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  if (!real) return {};
  const std::string inside = std::string(real.get()) + "/";
  const auto has_lock = [&](int pid, std::string_view fd, std::string_view target) {
    if (!target.starts_with(inside)) return false;
    const std::string info =
        read_some(root_ + "/" + std::to_string(pid) + "/fdinfo/" + std::string(fd));
    return info.find("\nlock:") != std::string::npos;
  };
  const int pid = find_by_descriptor(root_, pids_with_locks(root_), has_lock);
  if (pid == 0) return {};
  return holder(root_, pid);
}

}  // namespace fdbpack::posix
