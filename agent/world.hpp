// SPDX-License-Identifier: Apache-2.0
//
// Everything outside that the agent's loops act on. main.cpp fills it in.
#pragma once

#include "ports/accounts.hpp"
#include "ports/cgroups.hpp"
#include "ports/clock.hpp"
#include "ports/disk_gauge.hpp"
#include "ports/files.hpp"
#include "ports/holders.hpp"
#include "ports/launcher.hpp"
#include "ports/log.hpp"
#include "ports/notifier.hpp"
#include "ports/output.hpp"
#include "ports/port_probe.hpp"
#include "ports/process_table.hpp"

namespace fdbpack::agent {

struct World {
  ports::Clock& clock;
  ports::Launcher& launcher;
  ports::OutputPump& output;
  ports::Log& log;
  ports::Files& files;
  ports::Accounts& accounts;
  ports::ProcessTable& processes;
  ports::PortProbe& probe;
  ports::Cgroups& cgroups;
  ports::Notifier& notifier;
  ports::Holders& holders;
  ports::DiskGauge& disks;
};

// fdbmonitor's name for itself in the log; a drop-in says the same.
inline constexpr std::string_view kLogName = "fdbmonitor";

}  // namespace fdbpack::agent
