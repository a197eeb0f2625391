// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/process_table.hpp"

#include "adapters/posix/proc_files.hpp"
#include "adapters/posix/process_search.hpp"
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

constexpr int kExecRetriesMax = 200;  // of a millisecond each

std::string_view value_of(std::string_view variable, std::string_view name) {
  if (variable.size() <= name.size() || variable.substr(0, name.size()) != name) return {};
  return variable[name.size()] == '=' ? variable.substr(name.size() + 1) : std::string_view();
}

// A process has no environment for a moment while it executes another program: its end is then 0.
// Zombies and kernel threads never have one.
bool is_executing(std::string_view stat) {
  constexpr std::uint64_t kKernelThread = 0x00200000;
  const auto fields = stat_fields(stat);
  if (fields.size() < 49 || fields[0] == "Z" || fields[0] == "X") return false;
  const auto flags = text::parse_decimal(fields[6]);
  return flags && (*flags & kKernelThread) == 0 && fields[48] == "0";
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
  return std::string(text::trim(read_proc(root_ + "/sys/kernel/random/boot_id").text));
}

std::optional<ports::ProcessStamp> ProcTable::stamp(int pid) const {
  const auto stat = read_proc(path(pid, "stat"));
  const auto fields = stat_fields(stat.text);
  if (!stat || fields.size() < 20) return {};
  const auto ticks = text::parse_decimal(fields[19]);  // field 22 of the file
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

bool ProcTable::is_stopped(int pid) const {
  const auto stat = read_proc(path(pid, "stat"));
  const auto fields = stat_fields(stat.text);
  return !fields.empty() && (fields[0] == "T" || fields[0] == "t");
}

Marks ProcTable::marks(int pid) const {
  auto environment = read_proc(path(pid, "environ"));
  for (int i = 0; i < kExecRetriesMax && environment && environment.text.empty(); ++i) {
    if (!is_executing(read_proc(path(pid, "stat")).text)) break;
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
    environment = read_proc(path(pid, "environ"));
  }
  Marks marks;
  marks.error_number = environment.error_number;
  if (!environment || environment.text.empty()) return marks;
  marks.is_readable = true;
  for (const auto variable : text::split(environment.text, '\0')) {
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

std::vector<int> ProcTable::pids(int& error_number) const {
  std::vector<int> result;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(root_.c_str()), ::closedir);
  error_number = directory ? 0 : errno;
  if (!directory) return result;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto pid = text::parse_decimal(entry->d_name);
    if (pid && *pid > 0 && *pid <= INT_MAX) result.push_back(static_cast<int>(*pid));
  }
  return result;
}

ports::Findings ProcTable::find(ports::Search search) {
  return ProcessSearch(*this, std::move(search)).run();
}

std::unique_ptr<ports::MemoryGauge> ProcTable::gauge(int pid) const {
  return std::make_unique<StatmGauge>(
      UniqueFd(::open(path(pid, "statm").c_str(), O_RDONLY | O_CLOEXEC)));
}

std::size_t ProcTable::kill_escaped(const std::string& agent_id, const std::vector<int>& live) {
  const std::string own = std::to_string(::getpid());
  const auto children = read_proc(root_ + "/self/task/" + own + "/children");
  const auto is_live = [&](std::optional<std::uint64_t> pid) {
    return pid && std::binary_search(live.begin(), live.end(), static_cast<int>(*pid));
  };
  std::size_t count = 0;
  for (const auto word : text::split_words(children.text)) {
    const auto pid = text::parse_decimal(word);
    if (!pid || is_live(pid)) continue;
    const Marks marked = marks(static_cast<int>(*pid));
    if (marked.agent != agent_id || is_live(text::parse_decimal(marked.pid))) continue;
    if (::kill(static_cast<pid_t>(*pid), SIGKILL) == 0) ++count;
  }
  return count;
}

}  // namespace fdbpack::posix
