// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/supervise/conf_file.hpp"

#include "fdbpack/base/check.hpp"

namespace fdbpack::supervise::sim {

std::string section_name(int id) {
  return "p." + std::to_string(id);
}

int id_of(std::string_view section) {
  const int id = section.back() - '0';
  FDBPACK_CHECK(id >= 0 && id < kIds);
  return id;
}

std::string print(const ConfSpec& spec) {
  static constexpr std::array<std::string_view, 4> kPolicies = {
      "restart-delay = 60\n", "restart-delay = 0\n", "restart-delay = 5\nrestart-backoff = 2\n",
      "restart-delay = 20\ninitial-restart-delay = 1\nrestart-backoff = 1.5\n"};
  std::string text = "# version " + std::to_string(spec.version) + "\n[p]\ncommand = /bin/x\n";
  for (int id = 0; id < kIds; ++id) {
    const SectionSpec& section = spec.sections[static_cast<std::size_t>(id)];
    if (!section.is_present) continue;
    text += "[" + section_name(id) + "]\n";
    text += kPolicies[static_cast<std::size_t>(section.policy)];
    if (!section.kill_on_change) text += "kill-on-configuration-change = false\n";
    if (section.environment > 0) {
      text += "envvars = A=" + std::to_string(section.environment) + "\n";
    }
    if (section.is_broken) text += "flag-x = maybe\n";
    text += "revision = " + std::to_string(section.revision) + "\n";
  }
  return text;
}

void edit(ConfSpec& spec, Random& random) {
  spec.version = (spec.version + 1) % 4;
  SectionSpec& section = spec.sections[random.below(kIds)];
  switch (random.below(6)) {
    case 0:
      section.is_present = !section.is_present;
      break;
    case 1:
      section.kill_on_change = !section.kill_on_change;
      break;
    case 2:
      section.environment = static_cast<int>(random.below(2));
      break;
    case 3:
      section.policy = static_cast<int>(random.below(4));
      break;
    default:
      section.revision = static_cast<int>(random.below(3));
      break;
  }
}

std::shared_ptr<const ParsedConf> ConfCache::get(const std::string& text) {
  constexpr std::size_t kEntriesMax = 4096;
  if (const auto found = parsed_.find(text); found != parsed_.end()) return found->second;
  if (parsed_.size() >= kEntriesMax) parsed_.clear();
  const conf::ResolveOptions options{conf::Dialect::v7_4, "$PID"};
  auto parsed = std::make_shared<ParsedConf>();
  parsed->text = text;
  conf::ParsedDocument document = conf::parse(text);
  parsed->conf = conf::resolve(document.document, options);
  parsed->diagnostics = std::move(document.diagnostics);
  parsed_.emplace(text, parsed);
  return parsed;
}

}  // namespace fdbpack::supervise::sim
