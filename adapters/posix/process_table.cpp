// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/process_table.hpp"

#include "adapters/posix/pidfd.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/wire/agent_state.hpp"

#include <climits>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

namespace fdbpack::posix {
namespace {

constexpr int kExecRetriesMax = 200;           // of a millisecond each
constexpr std::size_t kReadMax = 1024 * 1024;  // an environment may be long

// None: it cannot be read at all.
std::optional<std::string> read_all(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string content;
  std::array<char, 4096> buffer;
  while (content.size() < kReadMax) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0) return {};
    if (size == 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return content;
}

std::optional<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size <= 0) return {};
  return std::string(target.data(), static_cast<std::size_t>(size));
}

std::string_view value_of(std::string_view variable, std::string_view name) {
  if (variable.size() <= name.size() || variable.substr(0, name.size()) != name) return {};
  return variable[name.size()] == '=' ? variable.substr(name.size() + 1) : std::string_view();
}

// Field 22 of stat. The name in field 2 may hold anything, so counting begins behind its end.
std::optional<std::uint64_t> start_ticks(const std::string& stat) {
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  const auto fields = text::split_words(std::string_view(stat).substr(name_end + 1));
  if (fields.size() < 20) return {};
  return text::parse_decimal(fields[19]);
}

// A process has no environment for a moment while it executes another program: its end is then 0.
// Zombies and kernel threads never have one.
bool is_executing(const std::string& stat) {
  constexpr std::uint64_t kKernelThread = 0x00200000;
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return false;
  const auto fields = text::split_words(std::string_view(stat).substr(name_end + 1));
  if (fields.size() < 49 || fields[0] == "Z" || fields[0] == "X") return false;
  const auto flags = text::parse_decimal(fields[6]);
  return flags && (*flags & kKernelThread) == 0 && fields[48] == "0";
}

bool is_found(const ports::Findings& findings, std::string_view section) {
  return std::any_of(findings.found.begin(), findings.found.end(),
                     [&](const ports::Found& found) { return found.section == section; });
}

// Keeps the file open: looking it up costs several times as much as reading it.
class StatmGauge final : public ports::MemoryGauge {
 public:
  explicit StatmGauge(UniqueFd file) : file_(std::move(file)) {}

  [[nodiscard]] std::optional<std::uint64_t> resident_bytes() override {
    std::array<char, 128> buffer{};
    const ssize_t size = ::pread(file_.get(), buffer.data(), buffer.size(), 0);
    if (size <= 0) return {};
    const auto fields =
        text::split_words(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
    if (fields.size() < 2) return {};
    const auto pages = text::parse_decimal(fields[1]);
    static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return pages ? std::optional(*pages * page_bytes) : std::nullopt;
  }

 private:
  UniqueFd file_;
};

}  // namespace

std::string ProcTable::path(int pid, const char* name) const {
  return root_ + "/" + std::to_string(pid) + "/" + name;
}

std::string ProcTable::boot_id() const {
  const auto content = read_all(root_ + "/sys/kernel/random/boot_id");
  return content ? std::string(text::trim(*content)) : std::string();
}

std::optional<ports::ProcessStamp> ProcTable::stamp(int pid) const {
  const auto stat = read_all(path(pid, "stat"));
  if (!stat) return {};
  const auto ticks = start_ticks(*stat);
  if (!ticks) return {};
  ports::ProcessStamp stamp;
  stamp.start_ticks = *ticks;
  struct stat exe {};
  if (::stat(path(pid, "exe").c_str(), &exe) == 0) {
    stamp.exe_device = exe.st_dev;
    stamp.exe_inode = exe.st_ino;
  }
  return stamp;
}

bool ProcTable::is_program_replaced(int pid) const {
  std::array<char, PATH_MAX + 16> target{};
  const ssize_t size = ::readlink(path(pid, "exe").c_str(), target.data(), target.size());
  return size > 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(size)).ends_with(" (deleted)");
}

std::optional<ProcTable::Marks> ProcTable::marks(int pid) const {
  auto environment = read_all(path(pid, "environ"));
  for (int i = 0; i < kExecRetriesMax && environment && environment->empty(); ++i) {
    if (!is_executing(read_all(path(pid, "stat")).value_or(""))) break;
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
    environment = read_all(path(pid, "environ"));
  }
  if (!environment || environment->empty()) return {};
  Marks marks;
  for (const auto variable : text::split(*environment, '\0')) {
    if (const auto agent = value_of(variable, ports::kMarkerAgent); !agent.empty()) {
      marks.agent = agent;
    } else if (const auto name = value_of(variable, ports::kMarkerProcess); !name.empty()) {
      marks.section = name;
    } else if (const auto number = value_of(variable, ports::kMarkerPid); !number.empty()) {
      marks.pid = number;
    } else if (const auto revision = value_of(variable, ports::kMarkerRevision);
               !revision.empty()) {
      marks.revision = wire::parse_revision(revision);
    }
  }
  return marks;
}

std::vector<int> ProcTable::pids() const {
  std::vector<int> result;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(root_.c_str()), ::closedir);
  if (!directory) return result;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto pid = text::parse_decimal(entry->d_name);
    if (pid && *pid > 0 && *pid <= INT_MAX) result.push_back(static_cast<int>(*pid));
  }
  return result;
}

ports::Findings ProcTable::find(const std::string& agent_id, const supervise::AgentState& recorded,
                                std::vector<int> handed, const std::vector<std::uint32_t>& uids) {
  ports::Findings findings;
  for (const int pidfd : handed)
    find_handed(agent_id, pidfd, recorded, findings);
  for (const auto& record : recorded.processes) {
    if (record.pid > 0 && !is_found(findings, record.section)) {
      find_recorded(agent_id, record, findings);
    }
  }
  for (const int pid : pids())
    find_marked(agent_id, pid, uids, recorded, findings);
  for (auto& found : findings.found) {
    if (const auto marked = marks(found.pid)) found.revision = marked->revision;
  }
  return findings;
}

void ProcTable::find_handed(const std::string& agent_id, int fd,
                            const supervise::AgentState& recorded,
                            ports::Findings& findings) const {
  UniqueFd pidfd(fd);
  const auto pid = pid_of_pidfd(pidfd.get());
  if (!pid) {
    findings.notes.push_back("a process that was kept for us has ended meanwhile");
    return;
  }
  std::string section;
  if (const auto marked = marks(*pid); marked && marked->agent == agent_id) {
    section = marked->section;
  } else {
    for (const auto& record : recorded.processes) {
      if (record.pid == *pid) section = record.section;
    }
  }
  const auto stamped = stamp(*pid);
  if (section.empty() || is_found(findings, section)) {
    findings.notes.push_back("process " + std::to_string(*pid) +
                             " was kept for us but nothing tells what it is");
    return;
  }
  findings.found.push_back({section,
                            *pid,
                            pidfd.release(),
                            stamped ? stamped->start_ticks : 0,
                            recorded.find(section) != nullptr,
                            {}});
}

void ProcTable::find_recorded(const std::string& agent_id, const supervise::ProcessRecord& record,
                              ports::Findings& findings) const {
  const std::string who = "process " + std::to_string(record.pid) + " of " + record.section;
  UniqueFd pidfd = open_pidfd(record.pid);
  if (!pidfd) {
    findings.notes.push_back(who + " has ended meanwhile");
    return;
  }
  const auto stamped = stamp(record.pid);
  if (!stamped) {
    if (pidfd_signal(pidfd.get(), 0) == ESRCH) {
      findings.notes.push_back(who + " has ended meanwhile");
      return;
    }
    findings.notes.push_back(who + " lives but cannot be verified");
    findings.unverified.push_back(record.section);
    findings.found.push_back({record.section, record.pid, pidfd.release(), 0, true, {}});
    return;
  }
  if (stamped->start_ticks != record.start_ticks) {
    findings.notes.push_back(who + " has ended meanwhile and its pid was used anew");
    return;
  }
  if (const auto marked = marks(record.pid);
      marked && (marked->agent != agent_id || marked->section != record.section)) {
    findings.notes.push_back(who + " carries other marks and is left alone");
    return;
  }
  findings.found.push_back(
      {record.section, record.pid, pidfd.release(), stamped->start_ticks, true, {}});
}

void ProcTable::find_marked(const std::string& agent_id, int pid,
                            const std::vector<std::uint32_t>& uids,
                            const supervise::AgentState& recorded,
                            ports::Findings& findings) const {
  struct stat owner {};
  const std::string directory = root_ + "/" + std::to_string(pid);
  if (::stat(directory.c_str(), &owner) != 0) return;
  if (std::find(uids.begin(), uids.end(), owner.st_uid) == uids.end()) return;
  const auto is_ours = [&] {
    const auto marked = marks(pid);
    return marked && marked->agent == agent_id && marked->pid == std::to_string(pid)
               ? marked->section
               : std::string();
  };
  if (is_ours().empty()) return;
  UniqueFd pidfd = open_pidfd(pid);  // first opened, then verified
  const std::string section = is_ours();
  const auto stamped = stamp(pid);
  if (!pidfd || section.empty() || !stamped) return;
  if (read_link(path(pid, "ns/pid")) != read_link(root_ + "/self/ns/pid")) return;
  if (is_found(findings, section)) {
    for (const auto& found : findings.found) {
      if (found.section == section && found.pid != pid) {
        findings.notes.push_back("process " + std::to_string(pid) + " is a second " + section +
                                 " beside " + std::to_string(found.pid) + " and is left alone");
      }
    }
    return;
  }
  findings.found.push_back(
      {section, pid, pidfd.release(), stamped->start_ticks, recorded.find(section) != nullptr, {}});
}

std::unique_ptr<ports::MemoryGauge> ProcTable::gauge(int pid) const {
  return std::make_unique<StatmGauge>(
      UniqueFd(::open(path(pid, "statm").c_str(), O_RDONLY | O_CLOEXEC)));
}

std::size_t ProcTable::kill_escaped(const std::string& agent_id, const std::vector<int>& live) {
  const std::string own = std::to_string(::getpid());
  const auto children = read_all(root_ + "/self/task/" + own + "/children");
  if (!children) return 0;
  const auto is_live = [&](std::optional<std::uint64_t> pid) {
    return pid && std::binary_search(live.begin(), live.end(), static_cast<int>(*pid));
  };
  std::size_t count = 0;
  for (const auto word : text::split_words(*children)) {
    const auto pid = text::parse_decimal(word);
    if (!pid || is_live(pid)) continue;
    const auto marked = marks(static_cast<int>(*pid));
    if (!marked || marked->agent != agent_id || is_live(text::parse_decimal(marked->pid))) continue;
    if (::kill(static_cast<pid_t>(*pid), SIGKILL) == 0) ++count;
  }
  return count;
}

}  // namespace fdbpack::posix
