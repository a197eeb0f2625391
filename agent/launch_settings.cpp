// SPDX-License-Identifier: Apache-2.0
#include "agent/launch_settings.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>

namespace fdbpack::agent {
namespace {

struct Resource {
  std::string_view name;
  int number;
};

constexpr std::array<Resource, 10> kResources{{{"as", RLIMIT_AS},
                                               {"core", RLIMIT_CORE},
                                               {"cpu", RLIMIT_CPU},
                                               {"data", RLIMIT_DATA},
                                               {"fsize", RLIMIT_FSIZE},
                                               {"memlock", RLIMIT_MEMLOCK},
                                               {"nofile", RLIMIT_NOFILE},
                                               {"nproc", RLIMIT_NPROC},
                                               {"rss", RLIMIT_RSS},
                                               {"stack", RLIMIT_STACK}}};

static_assert(model::kUnlimited == RLIM_INFINITY);

void set_limit(const model::Limit& limit, std::vector<ports::ResourceLimit>& limits) {
  for (const Resource& resource : kResources) {
    if (resource.name != limit.name) continue;
    std::erase_if(limits, [&](const auto& one) { return one.resource == resource.number; });
    limits.push_back({resource.number, limit.soft, limit.hard});
  }
}

}  // namespace

void apply_settings(const model::ProcessSettings& settings, ports::LaunchPlan& plan) {
  if (!settings.working_directory.empty()) plan.working_directory = settings.working_directory;
  if (settings.umask) plan.umask = settings.umask;
  if (settings.nice) plan.nice = settings.nice;
  if (settings.oom_score_adj) plan.oom_score_adj = settings.oom_score_adj;
  if (!settings.cpus.empty()) plan.cpus = settings.cpus;
  for (const model::Limit& limit : settings.limits)
    set_limit(limit, plan.limits);
}

}  // namespace fdbpack::agent
