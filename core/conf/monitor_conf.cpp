// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/monitor_conf.hpp"

#include "fdbpack/base/result.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/environment.hpp"
#include "fold.hpp"
#include "reserved_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

namespace fdbpack::conf {
namespace {

// The entries of a section by name.
using Entries = std::map<std::string_view, const Entry*, NameLess>;

// The sections of a document by name: looking through all of them for each key of each process
// would take minutes for a large file, and the agent has other things to do.
class Index {
 public:
  explicit Index(const Document& document) {
    for (const Section& section : document.sections) {
      const auto [place, is_new] = sections_.try_emplace(section.name);
      if (!is_new) continue;
      for (const Entry& entry : section.entries)
        place->second.emplace(entry.key, &entry);
    }
  }

  [[nodiscard]] const Entries* find(std::string_view name) const {
    const auto found = sections_.find(name);
    return found == sections_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string_view, Entries, NameLess> sections_;
};

// The levels a process takes its keys from, most particular first. A level that is not in the file
// is nullptr.
struct Levels {
  const Entries* own = nullptr;
  const Entries* type = nullptr;
  const Entries* general = nullptr;
  const Entries* monitor = nullptr;  // for the four restart keys only
};

const Entry* find_in(const Entries* entries, std::string_view key, const std::string& underscored) {
  if (entries == nullptr) return nullptr;
  if (const auto found = entries->find(key); found != entries->end()) return found->second;
  const auto found = entries->find(underscored);
  return found == entries->end() ? nullptr : found->second;
}

const Entry* lookup(const Levels& levels, std::string_view key, bool with_monitor = false) {
  const std::string underscored = text::replace_all(key, "-", "_");
  for (const Entries* level : {levels.own, levels.type, levels.general}) {
    if (const Entry* entry = find_in(level, key, underscored)) return entry;
  }
  return with_monitor ? find_in(levels.monitor, key, underscored) : nullptr;
}

// A refusal in fdbmonitor's words, and the place that caused it.
struct Refused {
  std::string message;
  Position at;
};

class ProcessReader {
 public:
  ProcessReader(const Index& index, const Section& section, const ResolveOptions& options)
      : options_(options) {
    const std::size_t dot = section.name.rfind('.');
    process_.section = section.name;
    process_.type = section.name.substr(0, dot);
    process_.at = section.at;
    if (options.dialect == Dialect::v7_1 && section.name.size() > dot + 1 + kOldIdLengthMax) {
      process_.section.resize(dot + 1 + kOldIdLengthMax);
    }
    levels_.own = index.find(process_.section);
    process_.id = process_.section.substr(dot + 1);
    levels_.type = index.find(process_.type);
    levels_.general = index.find("general");
    levels_.monitor = index.find("fdbmonitor");
  }

  // The steps are in fdbmonitor's order, because the first thing that is wrong is what it reports.
  tl::expected<ProcessCommand, Refused> read() {
    if (process_.id.find("$ID") != std::string::npos) {
      return refuse(fmt::format("The ID of {} contains $ID", process_.section));
    }
    if (auto status = read_restart_policy(); !status) return tl::unexpected(status.error());
    read_switches();
    const Entry* command = lookup(levels_, "command");
    if (command == nullptr)
      return refuse(fmt::format("Unable to resolve command for {}", process_.section));
    if (const Entry* memory = lookup(levels_, "memory")) {
      process_.memory_limit_bytes = parse_memory(memory->value);
    }
    for (const auto word : text::split_words(command->value))
      process_.argv.emplace_back(word);
    if (auto status = read_arguments(); !status) return tl::unexpected(status.error());
    if (auto status = read_environment(); !status) return tl::unexpected(status.error());
    if (auto status = read_settings(); !status) return tl::unexpected(status.error());
    if (process_.argv.empty()) {
      return refuse(fmt::format("The command for {} is empty", process_.section), command);
    }
    return std::move(process_);
  }

 private:
  using Step = tl::expected<void, Refused>;
  static constexpr std::size_t kOldIdLengthMax = 20;

  tl::unexpected<Refused> refuse(std::string message, const Entry* cause = nullptr) const {
    return tl::unexpected(Refused{std::move(message), cause == nullptr ? process_.at : cause->at});
  }

  // As strtoul reads it: an empty value is 0, a sign is accepted, and the rest must be digits.
  Step read_seconds(const char* key, const char* what, std::chrono::seconds& seconds) const {
    const Entry* entry = lookup(levels_, key, true);
    if (entry == nullptr) return {};
    char* end = nullptr;
    const auto value = static_cast<std::uint32_t>(std::strtoul(entry->value.c_str(), &end, 10));
    if (*end != '\0')
      return refuse(fmt::format("Unable to parse {} for {}", what, process_.section), entry);
    seconds = std::chrono::seconds(value);
    return {};
  }

  Step read_restart_policy() {
    model::RestartPolicy& restart = process_.restart;
    if (lookup(levels_, "restart-delay", true) == nullptr) {
      return refuse(fmt::format("Unable to resolve restart delay for {}", process_.section));
    }
    if (auto step = read_seconds("restart-delay", "restart delay", restart.delay_max); !step)
      return step;
    if (auto step =
            read_seconds("initial-restart-delay", "initial restart delay", restart.delay_initial);
        !step) {
      return step;
    }
    restart.delay_initial = std::min(restart.delay_initial, restart.delay_max);
    restart.backoff = static_cast<double>(restart.delay_max.count());
    if (const Entry* entry = lookup(levels_, "restart-backoff", true)) {
      char* end = nullptr;
      restart.backoff = std::strtod(entry->value.c_str(), &end);
      if (*end != '\0') {
        return refuse(fmt::format("Unable to parse restart backoff for {}", process_.section),
                      entry);
      }
      if (!(restart.backoff >= 1.0)) {
        return refuse(fmt::format("Invalid restart backoff value {:f} for {}", restart.backoff,
                                  process_.section),
                      entry);
      }
    }
    restart.reset_interval = restart.delay_max;
    return read_seconds("restart-delay-reset-interval", "restart delay reset interval",
                        restart.reset_interval);
  }

  void read_switches() {
    if (const Entry* entry = lookup(levels_, "disable-lifecycle-logging")) {
      process_.is_quiet = entry->value == "true";
    }
    if (const Entry* entry = lookup(levels_, "delete-envvars")) {
      for (const auto name : text::split_words(entry->value))
        process_.deleted_environment.emplace_back(name);
    }
    if (const Entry* entry = lookup(levels_, "kill-on-configuration-change")) {
      process_.kill_on_configuration_change = entry->value == "true";
    }
  }

  // Each key once, spelled as in [TYPE], else as in [TYPE.ID], else as in [general].
  Entries keys() const {
    Entries keys;
    for (const Entries* level : {levels_.type, levels_.own, levels_.general}) {
      if (level != nullptr) keys.insert(level->begin(), level->end());
    }
    return keys;
  }

  std::string substitute(std::string value) const {
    // Looks again at the place of the last replacement, as fdbmonitor does; the ID holds no $ID, so
    // this ends.
    for (std::size_t at = 0; (at = value.find("$ID", at)) != value.npos;)
      value.replace(at, 3, process_.id);
    if (options_.dialect == Dialect::v7_1) return value;
    return text::replace_all(value, "$PID", options_.pid);
  }

  Step read_arguments() {
    for (const auto& [key, first] : keys()) {
      if (is_reserved(key, options_.dialect)) continue;
      if (options_.is_for_agent && !own_setting(key).empty()) continue;
      const Entry* entry = lookup(levels_, key);
      const std::string value = substitute(entry->value);
      const bool is_flag = (key.starts_with("flag_") || key.starts_with("flag-")) && key.size() > 5;
      if (!is_flag) {
        process_.argv.push_back(fmt::format("--{}={}", key, value));
      } else if (value == "true") {
        process_.argv.push_back(fmt::format("--{}", key.substr(5)));
      } else if (value != "false") {
        return refuse(fmt::format("Bad flag value, must be true/false.  Flag: '{}'  Value: '{}'",
                                  key.substr(5), value),
                      entry);
      }
    }
    return {};
  }

  Step read_environment() {
    if (options_.dialect != Dialect::v7_4) return {};
    const Entry* entry = lookup(levels_, "envvars");
    if (entry == nullptr) return {};
    for (const auto word : text::split_words(entry->value)) {
      auto variable = parse_envvar(word);
      if (!variable) {
        return refuse(fmt::format("Bad envvars for {}: '{}': {}", process_.section, word,
                                  variable.error().message),
                      entry);
      }
      process_.environment.push_back(*std::move(variable));
    }
    return {};
  }

  // In both spellings a key may stand at several levels: the most particular one counts.
  Step read_settings() {
    if (!options_.is_for_agent) return {};
    for (const auto& [key, first] : keys()) {
      const std::string name = own_setting(key);
      if (name.empty()) continue;
      const Entry* entry = lookup(levels_, "fdbpack-" + name);
      if (entry == nullptr) entry = first;  // a mixture of both spellings
      const auto status = model::set_setting(process_.settings, name, substitute(entry->value));
      if (status) continue;
      return refuse(
          fmt::format("Bad {} for {}: {}", entry->key, process_.section, status.error().message),
          entry);
    }
    return {};
  }

  const ResolveOptions& options_;
  Levels levels_;
  ProcessCommand process_;
};

}  // namespace

std::optional<Dialect> parse_dialect(std::string_view version) {
  if (version.starts_with("7.1")) return Dialect::v7_1;
  if (version.starts_with("7.3")) return Dialect::v7_3;
  if (version.starts_with("7.4")) return Dialect::v7_4;
  return std::nullopt;
}

MonitorConf resolve(const Document& document, const ResolveOptions& options) {
  MonitorConf conf;
  if (const Section* monitor = document.find("fdbmonitor")) {
    if (const Entry* user = monitor->find("user")) conf.user = user->value;
    if (const Entry* group = monitor->find("group")) conf.group = group->value;
  }
  std::map<std::string_view, const Section*, NameLess> in_order;
  for (const Section& section : document.sections) {
    if (section.name.find('.') != std::string::npos) in_order.emplace(section.name, &section);
  }
  const Index index(document);
  for (const auto& [name, section] : in_order) {
    auto process = ProcessReader(index, *section, options).read();
    if (process) {
      conf.processes.push_back(*std::move(process));
    } else {
      conf.refusals.push_back(
          {std::string(name), std::move(process.error().message), process.error().at});
    }
  }
  return conf;
}

std::uint64_t parse_memory(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::uint64_t bytes;
  };
  static constexpr std::array<Unit, 9> kUnits{{{"B", 1},
                                               {"KB", 1'000},
                                               {"KiB", 1u << 10},
                                               {"MB", 1'000'000},
                                               {"MiB", 1u << 20},
                                               {"GB", 1'000'000'000},
                                               {"GiB", 1u << 30},
                                               {"TB", 1'000'000'000'000},
                                               {"TiB", std::uint64_t{1} << 40}}};
  text = text::trim(text);
  std::size_t digits = 0;
  while (digits < text.size() && text::is_digit(text[digits]))
    ++digits;
  const auto number = text::parse_decimal(text.substr(0, digits));
  if (!number) return 0;
  const std::string_view unit = digits == text.size() ? "MiB" : text.substr(digits);
  for (const auto& [name, bytes] : kUnits) {
    if (unit != name) continue;
    // A limit beyond 2^64 bytes is no limit.
    return *number > UINT64_MAX / bytes ? 0 : *number * bytes;
  }
  return 0;
}

}  // namespace fdbpack::conf
