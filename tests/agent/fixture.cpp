// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/fixture.hpp"

namespace fdbpack::agent {

WithAgent::Instance::Instance(WithAgent& test) {
  output = std::make_unique<posix::MemoryOutputPump>(
      io, clock, [this](ports::OutputId id, ports::Stream stream, std::string_view line) {
        if (agent) agent->on_line(id, stream, line);
      });
  ports::Cgroups& cgroups = test.cgroups_ != nullptr ? *test.cgroups_ : no_cgroups;
  world = std::make_unique<World>(World{clock, launcher, *output, test.log_, files, accounts,
                                        processes, probe, cgroups, notifier, holders,
                                        test.disks_ != nullptr ? *test.disks_ : disks});
  AgentSettings settings;
  settings.version = "test";
  settings.conf_path = test.dir_.path("f.conf");
  settings.state_dir = test.dir_.path("state");
  settings.pid = ::getpid();
  settings.uid = ::geteuid();
  settings.supervisor.agent_id = StateDir(settings.state_dir).agent_id();
  settings.supervisor.environment = {"PATH=/usr/bin:/bin", "COLOUR=blue", "SHAPE=round"};
  settings.supervisor.stop_grace = test.grace_;
  settings.supervisor.look_every = test.look_every_;
  agent = std::make_unique<Agent>(*world, settings, [this](int code) { exit_code = code; });
  watch = std::make_unique<posix::ConfWatch>(io, clock, settings.conf_path,
                                             [this] { agent->on_conf_change(); });
}

WithAgent::~WithAgent() {
  end();
}

void WithAgent::end() {
  if (!instance_) return;
  for (const auto& [section, who] : instance_->agent->supervisor().processes()) {
    if (who->child) who->child->signal_group(SIGKILL);
  }
  instance_.reset();
}

void WithAgent::start() {
  instance_ = std::make_unique<Instance>(*this);
  const auto started = instance_->agent->start({});
  ASSERT_TRUE(started) << started.error().message;
}

}  // namespace fdbpack::agent
