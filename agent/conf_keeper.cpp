// SPDX-License-Identifier: Apache-2.0
#include "agent/conf_keeper.hpp"

#include "fdbpack/conf/document.hpp"
#include "fdbpack/supervise/conf_change.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace fdbpack::agent {
namespace {

constexpr std::size_t kConfBytesMax = 16 * 1024 * 1024;

conf::ResolveOptions options(std::string pid) {
  return {.dialect = conf::Dialect::v7_4, .pid = std::move(pid), .is_for_agent = true};
}

bool has_error(const std::vector<conf::Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const auto& diagnostic) {
    return diagnostic.severity == conf::Severity::error;
  });
}

}  // namespace

ConfKeeper::ConfKeeper(World& world, std::string path, const StateDir& state_dir, int agent_pid,
                       ConfTranslator translate, ConfReader reader)
    : world_(world),
      path_(std::move(path)),
      state_dir_(state_dir),
      agent_pid_(std::to_string(agent_pid)),
      translate_(std::move(translate)),
      reader_(std::move(reader)) {}

void ConfKeeper::restore() {
  auto text = world_.files.read(state_dir_.last_good_conf(), kConfBytesMax);
  if (!text) return;
  auto candidate = make_candidate(*std::move(text));
  // Nothing to guard; a file that a power failure emptied looks like this, too. Another format
  // tells by itself where it ends, and may well say that nothing is to run.
  const bool is_usable =
      reader_ ? !has_error(candidate.diagnostics) : !candidate.loaded.conf.processes.empty();
  if (!is_usable) return;
  in_force_ = std::move(candidate.loaded);
}

ConfCandidate ConfKeeper::make_candidate(std::string text) {
  if (reader_) return reader_(std::move(text));
  ConfCandidate candidate;
  candidate.loaded.text = std::move(text);
  LoadedConf& loaded = candidate.loaded;
  const auto parsed = conf::parse(loaded.text);
  loaded.conf = conf::resolve(parsed.document, options("$PID"));
  candidate.diagnostics = conf::check(loaded.text, options("$PID"));
  if (loaded.text.find("$PID") != std::string::npos) {
    for (auto& process : conf::resolve(parsed.document, options(agent_pid_)).processes) {
      loaded.launch_argv.push_back(std::move(process.argv));
    }
  }
  warn_of_network_commands(candidate);
  if (!loaded.conf.user.empty() || !loaded.conf.group.empty()) {
    auto identity = world_.accounts.look_up(loaded.conf.user, loaded.conf.group);
    if (identity) {
      loaded.identity = *std::move(identity);
    } else {
      const conf::Section* section = parsed.document.find("fdbmonitor");
      candidate.diagnostics.push_back({conf::Severity::error,
                                       section == nullptr ? conf::Position{} : section->at,
                                       identity.error().message});
    }
  }
  return candidate;
}

// The agent waits in execve() for the file: if its server does not answer, nobody is supervised.
void ConfKeeper::warn_of_network_commands(ConfCandidate& candidate) {
  std::set<std::string_view> seen;
  for (const auto& process : candidate.loaded.conf.processes) {
    const std::string& command = process.argv.front();
    if (!seen.insert(command).second) continue;
    const std::string where = world_.files.network_file_system(command);
    if (where.empty()) continue;
    candidate.diagnostics.push_back(
        {conf::Severity::warning, process.at,
         command + " is on a network file system (" + where +
             "); if that hangs while a process is started, the agent does too"});
  }
}

Result<std::string> ConfKeeper::read() {
  auto text = world_.files.read(path_, kConfBytesMax);
  if (!text || !translate_) return text;
  auto conf = translate_(*text);
  if (!conf) return fail(with_context(conf.error(), path_));
  return conf;
}

std::vector<conf::Diagnostic> ConfKeeper::refusal_reasons(const ConfCandidate& candidate,
                                                          std::size_t live,
                                                          supervise::LoadCause cause) const {
  if (reader_) {
    std::vector<conf::Diagnostic> errors;
    for (const auto& diagnostic : candidate.diagnostics) {
      if (diagnostic.severity == conf::Severity::error) errors.push_back(diagnostic);
    }
    return errors;
  }
  const supervise::ConfView view{candidate.loaded.text, candidate.loaded.conf};
  std::optional<supervise::ConfView> last_good;
  if (in_force_) last_good.emplace(supervise::ConfView{in_force_->text, in_force_->conf});
  return supervise::refusal_reasons(view, candidate.diagnostics, last_good ? &*last_good : nullptr,
                                    live, cause);
}

bool ConfKeeper::load(std::size_t live, supervise::LoadCause cause) {
  auto text = early_ ? *std::exchange(early_, std::nullopt) : read();
  // Before the file itself: what the reader remembers afterwards is of the file as it is now.
  std::optional<LoadedConf> again;
  if (!text || (in_force_ && *text != in_force_->text)) again = read_again();
  if (!text) {
    refuse({{conf::Severity::error, {}, text.error().message}});
    return put_in_force(std::move(again));
  }
  world_.log.write(supervise::Severity::info, kLogName, "Loading configuration " + path_);
  ConfCandidate candidate = make_candidate(*std::move(text));
  note_owner(candidate);
  auto reasons = refusal_reasons(candidate, live, cause);
  if (!reasons.empty()) {
    refuse(std::move(reasons));
    return put_in_force(std::move(again));
  }

  problems_ = std::move(candidate.diagnostics);
  refused_since_.reset();
  refused_text_.clear();
  for (const auto& refusal : candidate.loaded.conf.refusals) {
    world_.log.write(supervise::Severity::error, kLogName, refusal.message);
  }
  in_force_ = std::move(candidate.loaded);
  save();
  return true;
}

std::optional<LoadedConf> ConfKeeper::read_again() {
  if (!reader_ || !in_force_) return {};
  auto candidate = make_candidate(in_force_->text);
  if (has_error(candidate.diagnostics) ||
      candidate.loaded.conf.processes == in_force_->conf.processes)
    return {};
  return std::move(candidate.loaded);
}

bool ConfKeeper::put_in_force(std::optional<LoadedConf> again) {
  if (!again) return false;
  world_.log.write(supervise::Severity::info, kLogName,
                   "The last good configuration means something else now and is applied again");
  in_force_ = std::move(again);
  return true;
}

void ConfKeeper::refuse(std::vector<conf::Diagnostic> reasons) {
  problems_ = std::move(reasons);
  if (!refused_since_) refused_since_ = world_.clock.wall();
  std::string all;
  for (const auto& problem : problems_)
    all += "\n" + conf::to_string(problem);
  if (all == refused_text_) return;
  refused_text_ = all;
  for (const auto& problem : problems_) {
    world_.log.write(supervise::Severity::error, kLogName,
                     "Unable to load configuration file " + path_ +
                         (in_force_ ? ", keeping the last good one: " : ": ") +
                         conf::to_string(problem));
  }
}

void ConfKeeper::save() {
  const auto saved =
      world_.files.replace(state_dir_.last_good_conf(), in_force_->text, kPrivateMode);
  if (saved) return;
  world_.log.write(supervise::Severity::warning, kLogName,
                   "The configuration in force cannot be kept: " + saved.error().message);
}

std::vector<std::uint32_t> ConfKeeper::uids(std::uint32_t own) {
  std::vector<std::uint32_t> result = {own};
  if (in_force_ && in_force_->identity) result.push_back(in_force_->identity->uid);
  // Reading may mean rendering, so the first load takes what was read for this.
  if (!is_owner_known_) {
    early_ = read();
    if (*early_) note_owner(make_candidate(**early_));
  }
  if (file_uid_) result.push_back(*file_uid_);
  return result;
}

void ConfKeeper::note_owner(const ConfCandidate& candidate) {
  is_owner_known_ = true;
  file_uid_.reset();
  if (candidate.loaded.identity) file_uid_ = candidate.loaded.identity->uid;
}

}  // namespace fdbpack::agent
