// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/process_search.hpp"

#include "adapters/posix/pidfd.hpp"
#include "adapters/posix/proc_files.hpp"
#include "fdbpack/base/text.hpp"

#include <climits>

#include <sys/stat.h>

#include <algorithm>
#include <array>

namespace fdbpack::posix {
namespace {

std::optional<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size <= 0) return {};
  return std::string(target.data(), static_cast<std::size_t>(size));
}

bool is_same_section(std::string_view a, std::string_view b) {
  return text::compare_ignoring_case(a, b) == 0;
}

// pidfd_open() says so: there is nobody, or only a thread of somebody, by this number.
bool is_gone(int error_number) {
  return error_number == ESRCH || error_number == EINVAL || error_number == ENOENT;
}

}  // namespace

ports::Findings ProcessSearch::run() {
  for (const int fd : search_.handed)
    take_handed(fd);
  for (const auto& record : search_.recorded.processes) {
    if (record.pid <= 0 || is_known(record.pid) || found(record.section) != nullptr) continue;
    look_at_recorded(record);
  }
  int error_number = 0;
  for (const int pid : table_.pids(error_number))
    look_at_marked(pid);
  lack(error_number);
  for (auto& found : findings_.found)
    found.revision = table_.marks(found.pid).revision;
  // Beside a process that is proved the doubtful one is not it.
  std::erase_if(findings_.unverified, [this](const ports::Found& doubted) {
    if (found(doubted.section) == nullptr) return false;
    UniqueFd(doubted.pidfd).reset();
    return true;
  });
  return std::move(findings_);
}

void ProcessSearch::take_handed(int fd) {
  UniqueFd pidfd(fd);
  const auto pid = pid_of_pidfd(pidfd.get());
  if (!pid) {
    if (is_shortage(errno)) return lack(errno);  // it is found by its marks, later
    findings_.notes.push_back("a process that was kept for us has ended meanwhile");
    return;
  }
  std::string section;
  const Marks marks = table_.marks(*pid);
  if (marks.agent == search_.agent_id) {
    section = marks.section;
  } else {
    for (const auto& record : search_.recorded.processes) {
      if (record.pid == *pid) section = record.section;
    }
  }
  if (section.empty() || found(section) != nullptr) {
    lack(marks.error_number);
    findings_.notes.push_back("process " + std::to_string(*pid) +
                              " was kept for us but nothing tells what it is");
    return;
  }
  const auto stamp = table_.stamp(*pid);
  findings_.found.push_back({section,
                             *pid,
                             pidfd.release(),
                             stamp ? stamp->start_ticks : 0,
                             search_.recorded.find(section) != nullptr,
                             {}});
}

void ProcessSearch::look_at_recorded(const supervise::ProcessRecord& record) {
  const std::string who = "process " + std::to_string(record.pid) + " of " + record.section;
  const auto say = [&](const std::string& what) { findings_.notes.push_back(who + " " + what); };
  const auto doubt = [&](UniqueFd pidfd, const std::string& why) {
    say("may live and cannot be verified: " + why);
    findings_.unverified.push_back({record.section, record.pid, pidfd.release(), 0, true, {}});
  };
  UniqueFd pidfd = open_pidfd(record.pid);
  if (!pidfd && is_gone(errno)) return say("has ended meanwhile");
  if (!pidfd) return doubt({}, errno_error("pidfd_open", errno).message);
  const auto stamp = table_.stamp(record.pid);
  if (!stamp) {
    if (pidfd_signal(pidfd.get(), 0) == ESRCH) return say("has ended meanwhile");
    return doubt(std::move(pidfd), "nothing of it can be read");
  }
  if (stamp->start_ticks != record.start_ticks) {
    return say("has ended meanwhile and its pid was used anew");
  }
  switch (prove(record, *stamp)) {
    case Proof::foreign:
      return say("carries other marks and is left alone");
    case Proof::doubtful:
      return doubt(std::move(pidfd), "it executes another file and shows no marks");
    case Proof::ours:
    case Proof::none:
      findings_.found.push_back(
          {record.section, record.pid, pidfd.release(), stamp->start_ticks, true, {}});
  }
}

// A process may execute another program and stay ours, as `exec` in a script does: its marks show
// it. Without them the file is all there is beside pid and start time.
ProcessSearch::Proof ProcessSearch::prove(const supervise::ProcessRecord& record,
                                          const ports::ProcessStamp& stamp) {
  const Marks marks = table_.marks(record.pid);
  if (marks.is_readable) {
    const bool is_ours =
        marks.agent == search_.agent_id && is_same_section(marks.section, record.section);
    return is_ours ? Proof::ours : Proof::foreign;
  }
  const bool is_comparable = record.exe_inode != 0 && stamp.exe_inode != 0;
  if (!is_comparable) return Proof::none;
  const bool is_same = record.exe_inode == stamp.exe_inode && record.exe_device == stamp.exe_device;
  return is_same ? Proof::none : Proof::doubtful;
}

void ProcessSearch::look_at_marked(int pid) {
  if (is_known(pid) || is_doubted(pid)) return;
  struct stat owner {};
  const std::string directory = table_.root() + "/" + std::to_string(pid);
  if (::stat(directory.c_str(), &owner) != 0) return;
  const auto& uids = search_.uids;
  if (std::find(uids.begin(), uids.end(), owner.st_uid) == uids.end()) return;
  const Marks before = table_.marks(pid);
  lack(before.error_number);
  if (!before.are_of(search_.agent_id, pid)) return;
  if (read_link(table_.path(pid, "ns/pid")) != read_link(table_.root() + "/self/ns/pid")) return;
  // One that has ended and was not reaped yet is not it: the agent died between its end and the
  // record of its successor.
  const ports::Found* const other = found(before.section);
  if (other != nullptr && other->pid == pid) return;
  if (other != nullptr && has_ended(other->pidfd)) {
    findings_.notes.push_back("process " + std::to_string(other->pid) + " of " + before.section +
                              " has ended, and " + std::to_string(pid) + " is its successor");
    drop(other->pid);
  } else if (other != nullptr) {
    findings_.notes.push_back("process " + std::to_string(pid) + " is a second " + before.section +
                              " beside " + std::to_string(other->pid) + " and is left alone");
    return;
  }
  const bool was_recorded = search_.recorded.find(before.section) != nullptr;
  UniqueFd pidfd = open_pidfd(pid);  // first opened, then verified
  if (!pidfd && is_gone(errno)) return;
  const Marks marks = table_.marks(pid);
  const auto stamp = table_.stamp(pid);
  if (pidfd && pidfd_signal(pidfd.get(), 0) == ESRCH) return;
  if (pidfd && stamp && marks.is_readable) {
    if (!marks.are_of(search_.agent_id, pid)) return;
    findings_.found.push_back(
        {marks.section, pid, pidfd.release(), stamp->start_ticks, was_recorded, {}});
    return;
  }
  findings_.notes.push_back("process " + std::to_string(pid) + " may be " + before.section +
                            " and cannot be verified");
  findings_.unverified.push_back({before.section, pid, pidfd.release(), 0, was_recorded, {}});
}

const ports::Found* ProcessSearch::found(std::string_view section) const {
  for (const auto& found : findings_.found) {
    if (is_same_section(found.section, section)) return &found;
  }
  return nullptr;
}

void ProcessSearch::drop(int pid) {
  std::erase_if(findings_.found, [pid](const ports::Found& found) {
    if (found.pid != pid) return false;
    UniqueFd(found.pidfd).reset();
    return true;
  });
}

bool ProcessSearch::is_known(int pid) const {
  return std::find(search_.known.begin(), search_.known.end(), pid) != search_.known.end();
}

bool ProcessSearch::is_doubted(int pid) const {
  const auto& all = findings_.unverified;
  return std::any_of(all.begin(), all.end(), [pid](const auto& one) { return one.pid == pid; });
}

void ProcessSearch::lack(int error_number) {
  if (!is_shortage(error_number) || !findings_.shortage.empty()) return;
  findings_.shortage = errno_error("looking through the processes", error_number).message;
}

}  // namespace fdbpack::posix
