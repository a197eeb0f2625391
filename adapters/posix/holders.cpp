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
constexpr std::size_t kLinksMax = 65536;     // in all
constexpr std::size_t kLinksPerPiece = 512;  // less than a millisecond
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

// Looks for the first of `pids` that has a descriptor that is wanted.
class DescriptorScan {
 public:
  DescriptorScan(const std::string& root, std::vector<int> pids, IsWanted is_wanted)
      : root_(root), pids_(std::move(pids)), is_wanted_(std::move(is_wanted)) {}

  // True: it is done. A process counts as a link, too: it costs as much.
  bool advance() {
    for (std::size_t i = 0; i < kLinksPerPiece; ++i) {
      if (++links_ > kLinksMax) return true;
      if (!directory_ && !open_next()) return true;
      if (!directory_) continue;
      const dirent* entry = ::readdir(directory_.get());
      if (entry == nullptr) {
        directory_.reset();
      } else if (is_match(*entry)) {
        pid_ = pids_[next_ - 1];
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] int pid() const { return pid_; }  // 0: none that can be seen

 private:
  bool open_next() {
    if (next_ == pids_.size()) return false;
    const std::string path = root_ + "/" + std::to_string(pids_[next_++]) + "/fd";
    directory_.reset(::opendir(path.c_str()));
    return true;
  }
  [[nodiscard]] bool is_match(const dirent& entry) const {
    std::array<char, PATH_MAX> target;
    const ssize_t size =
        ::readlinkat(::dirfd(directory_.get()), entry.d_name, target.data(), target.size());
    return size > 0 && is_wanted_(pids_[next_ - 1], entry.d_name,
                                  {target.data(), static_cast<std::size_t>(size)});
  }

  const std::string& root_;
  std::vector<int> pids_;
  IsWanted is_wanted_;
  Directory directory_{nullptr, ::closedir};
  std::size_t next_ = 0;
  std::size_t links_ = 0;
  int pid_ = 0;
};

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

class ProcSearch final : public ports::HolderSearch {
 public:
  ProcSearch(std::string root, ports::Wanted wanted)
      : root_(std::move(root)), wanted_(std::move(wanted)) {}

  [[nodiscard]] bool advance() override {
    if (scan_) return scan_piece();
    if (next_port_ < wanted_.ports.size()) {
      look_at_port(wanted_.ports[next_port_++]);
      return false;
    }
    if (is_directory_done_ || wanted_.directory.empty()) return true;
    is_directory_done_ = true;
    look_at_directory();
    return !scan_;
  }
  [[nodiscard]] const std::optional<ports::Held>& result() const override { return result_; }

 private:
  bool scan_piece() {
    if (!scan_->advance()) return false;
    const int pid = scan_->pid();
    scan_.reset();
    if (pid == 0 && !is_certain_) return false;
    result_ = ports::Held{thing_, holder(root_, pid)};
    return true;
  }

  void look_at_port(const ports::WantedPort& wanted) {
    std::array<char, 5> hex{};
    std::snprintf(hex.data(), hex.size(), "%04X", static_cast<unsigned>(wanted.port));
    const auto forms = printed_forms(wanted.ip);
    for (const char* table : {"/net/tcp", "/net/tcp6"}) {
      const std::string sockets = read_some(root_ + table);
      for (const auto line : text::split(sockets, '\n')) {
        const auto inode = inode_if_taken(line, forms, hex.data());
        if (inode.empty()) continue;
        thing_ = "port " + std::to_string(wanted.port);
        is_certain_ = true;  // the kernel says that somebody listens
        const std::string socket = "socket:[" + std::string(inode) + "]";
        scan_.emplace(root_, all_pids(root_), [socket](int, std::string_view, std::string_view at) {
          return at == socket;
        });
        return;
      }
    }
  }

  void look_at_directory() {
    const std::unique_ptr<char, void (*)(void*)> real(
        ::realpath(wanted_.directory.c_str(), nullptr), ::free);
    if (!real) return;
    thing_ = "data directory " + wanted_.directory;
    is_certain_ = false;
    const std::string inside = std::string(real.get()) + "/";
    scan_.emplace(root_, pids_with_locks(root_),
                  [this, inside](int pid, std::string_view fd, std::string_view target) {
                    return target.starts_with(inside) && has_lock(pid, fd);
                  });
  }

  [[nodiscard]] bool has_lock(int pid, std::string_view fd) const {
    const std::string info =
        read_some(root_ + "/" + std::to_string(pid) + "/fdinfo/" + std::string(fd));
    return info.find("\nlock:") != std::string::npos;
  }

  const std::string root_;
  const ports::Wanted wanted_;
  std::size_t next_port_ = 0;
  bool is_directory_done_ = false;
  std::optional<DescriptorScan> scan_;
  std::string thing_;
  bool is_certain_ = false;
  std::optional<ports::Held> result_;
};

}  // namespace

std::unique_ptr<ports::HolderSearch> ProcHolders::search(ports::Wanted wanted) const {
  return std::make_unique<ProcSearch>(root_, std::move(wanted));
}

}  // namespace fdbpack::posix
