// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/check.hpp"
#include "fdbpack/conditions/condition.hpp"

#include <algorithm>
#include <array>

namespace fdbpack::conditions {
namespace {

constexpr unsigned kQuickDeathsMin = 3;
// FoundationDB's own: MIN_AVAILABLE_SPACE_RATIO and MIN_AVAILABLE_SPACE.
constexpr std::uint64_t kFreePercentMin = 5;
constexpr std::uint64_t kFreePercentAgain = 7;
constexpr std::uint64_t kFreeBytesMin = 100'000'000;
constexpr std::uint64_t kFreeBytesAgain = 150'000'000;

constexpr std::array<std::pair<Type, std::string_view>, 7> kNames{{
    {Type::incorrect_command_line, "incorrectCommandLine"},
    {Type::incorrect_config_map, "incorrectConfigMap"},
    {Type::missing_processes, "missingProcesses"},
    {Type::crash_looping, "crashLooping"},
    {Type::process_io_error, "processIoError"},
    {Type::storage_full, "storageFull"},
    {Type::missing_pvc, "missingPvc"},
}};

// Of io_error, io_timeout and file corruption.
constexpr std::array<std::string_view, 4> kDiskFailures{
    "Disk i/o operation failed", "io_error", "A disk IO operation failed to complete in a timely",
    "A structurally corrupt data file was detected"};

bool is_full(const DirectoryFacts& directory, bool was_full) {
  if (directory.total_bytes == 0) return false;
  const std::uint64_t percent = was_full ? kFreePercentAgain : kFreePercentMin;
  const std::uint64_t bytes = was_full ? kFreeBytesAgain : kFreeBytesMin;
  return directory.free_bytes < bytes ||
         directory.free_bytes < directory.total_bytes / 100 * percent;
}

void of_process(const ProcessFacts& process, const ConditionBook& book,
                std::vector<Observation>& seen) {
  if (!process.is_configured) return;
  const std::string ended = process.last_exit.empty() ? "" : "; it last " + process.last_exit;
  if (!process.is_running) {
    seen.push_back({Type::missing_processes, process.process,
                    process.is_held ? "an administrator stopped it" : "it does not run" + ended});
  }
  const bool is_looping = process.quick_deaths >= kQuickDeathsMin ||
                          book.is_active(Type::crash_looping, process.process);
  if (is_looping && !process.has_run_well && !process.is_held) {
    seen.push_back({Type::crash_looping, process.process,
                    "it ended by itself soon after its start, again and again" + ended});
  }
  if (process.has_other_command) {
    seen.push_back({Type::incorrect_command_line, process.process,
                    "it runs with another command line than the configuration gives it"});
  }
  if (!process.io_error.empty() && !process.has_run_well) {
    seen.push_back({Type::process_io_error, process.process, process.io_error});
  }
}

void of_directory(const DirectoryFacts& directory, const ConditionBook& book,
                  std::vector<Observation>& seen) {
  if (directory.is_missing) {
    seen.push_back(
        {Type::missing_pvc, directory.process, "there is no data directory " + directory.path});
    return;
  }
  if (!directory.error.empty()) {
    seen.push_back({Type::process_io_error, directory.process,
                    directory.path + " cannot be looked at: " + directory.error});
    return;
  }
  if (directory.is_read_only) {
    seen.push_back(
        {Type::process_io_error, directory.process, directory.path + " cannot be written to"});
  }
  if (is_full(directory, book.is_active(Type::storage_full, directory.process))) {
    seen.push_back(
        {Type::storage_full, directory.process,
         "little room is left at " + directory.path + "; FoundationDB stops below 5 % or 100 MB"});
  }
}

}  // namespace

std::string_view to_string(Type type) {
  for (const auto& [known, name] : kNames) {
    if (known == type) return name;
  }
  FDBPACK_UNREACHABLE();
}

std::optional<Type> parse_type(std::string_view text) {
  for (const auto& [type, name] : kNames) {
    if (name == text) return type;
  }
  return {};
}

bool tells_of_disk_failure(std::string_view line) {
  return std::any_of(kDiskFailures.begin(), kDiskFailures.end(), [line](std::string_view sign) {
    return line.find(sign) != std::string_view::npos;
  });
}

std::vector<Observation> observe(const HostFacts& facts, const ConditionBook& book) {
  std::vector<Observation> seen;
  if (!facts.conf_refused.empty()) {
    seen.push_back({Type::incorrect_config_map, "", facts.conf_refused});
  }
  for (const auto& process : facts.processes)
    of_process(process, book, seen);
  for (const auto& directory : facts.directories)
    of_directory(directory, book, seen);
  return seen;
}

}  // namespace fdbpack::conditions
