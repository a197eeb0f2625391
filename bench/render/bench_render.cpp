// SPDX-License-Identifier: Apache-2.0
//
// What it costs to render the confs of a large fleet: 10,000 process groups of four kinds, each
// filled in for its own host. The floor beside it writes the same lines with plain string appends
// and no template engine.
#include "fdbpack/conf/group_render.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/conf/unified.hpp"
#include "fdbpack/wire/unified_json.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace fdbpack::conf {
namespace {

constexpr int kGroups = 10'000;

struct Host {
  GroupConf group;
  Environment environment;
};

std::vector<Host> fleet() {
  std::vector<Host> hosts;
  for (int i = 0; i < kGroups; ++i) {
    Host host;
    host.group.process_class = i % 4 == 3 ? model::ProcessClass::log : model::ProcessClass::storage;
    host.group.density = 1 + i % 4;
    host.group.listeners = {i % 2 == 0, true};
    host.group.log_group = "fleet";
    host.group.has_listen_address = true;
    host.group.custom_parameters = {{"knob_disable_posix_kernel_aio", "1"}};
    const std::string name = "host-" + std::to_string(i);
    host.environment = {{"FDB_PUBLIC_IP", "127.0.0.1"}, {"FDB_POD_IP", "127.0.0.1"},
                        {"FDB_MACHINE_ID", name},       {"FDB_ZONE_ID", name},
                        {"BINARY_DIR", "/usr/bin"},     {"FDB_INSTANCE_ID", "storage-1"}};
    hosts.push_back(std::move(host));
  }
  return hosts;
}

void report(benchmark::State& state) {
  state.counters["time/conf"] = benchmark::Counter(
      kGroups, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Floor(benchmark::State& state) {
  const auto hosts = fleet();
  for (auto _ : state) {
    for (const Host& host : hosts) {
      const auto list = arguments(host.group).value();
      std::string text = "[general]\nkill_on_configuration_change = false\nrestart_delay = 60\n";
      for (int number = 1; number <= host.group.density; ++number) {
        text += "[fdbserver." + std::to_string(number) + "]\n";
        for (const Argument& argument : list) {
          text +=
              argument.key + " = " + value_for(argument, number, host.environment).value() + "\n";
        }
      }
      benchmark::DoNotOptimize(text);
    }
  }
  report(state);
}

void Conf(benchmark::State& state) {
  const auto hosts = fleet();
  for (auto _ : state) {
    for (const Host& host : hosts) {
      benchmark::DoNotOptimize(
          fill_variables(render_builtin(host.group).value(), host.environment).value());
    }
  }
  report(state);
}

void ConfToCommandLines(benchmark::State& state) {
  const auto hosts = fleet();
  std::vector<std::string> confs;
  for (const Host& host : hosts) {
    confs.push_back(fill_variables(render_builtin(host.group).value(), host.environment).value());
  }
  for (auto _ : state) {
    for (const std::string& conf : confs)
      benchmark::DoNotOptimize(resolve(parse(conf).document));
  }
  report(state);
}

void UnifiedJson(benchmark::State& state) {
  const auto hosts = fleet();
  for (auto _ : state) {
    for (const Host& host : hosts) {
      benchmark::DoNotOptimize(
          wire::write_unified_conf(unified_conf(host.group, "7.1.61").value()));
    }
  }
  report(state);
}

BENCHMARK(Floor)->Unit(benchmark::kMillisecond);
BENCHMARK(Conf)->Unit(benchmark::kMillisecond);
BENCHMARK(ConfToCommandLines)->Unit(benchmark::kMillisecond);
BENCHMARK(UnifiedJson)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fdbpack::conf
