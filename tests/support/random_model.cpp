// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_model.hpp"

#include "fdbpack/model/ip.hpp"

#include <set>
#include <span>
#include <string>

namespace fdbpack::support {
namespace {

using model::ProcessClass;
using model::ProcessSet;

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kMixed = "ABCdefGHIjkl0123456789";
// Everything that has a meaning somewhere: conf, JSON, UTF-8.
constexpr std::string_view kAwkward = "aZ0=#;$\"\\/{}[],:' %\xC3\xA4";

template <class T>
T pick(Random& random, std::span<const T> all) {
  return all[random.below(all.size())];
}

std::uint32_t small(Random& random, std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint32_t>(random.between(low, high));
}

// Awkward, but neither blank at its ends nor cut within a character.
std::string random_line(Random& random) {
  if (random.chance(0.3)) return "";
  std::string middle;
  for (std::uint64_t i = random.below(12); i > 0; --i) {
    const std::size_t at = random.below(kAwkward.size() - 1);
    middle += at == kAwkward.size() - 2 ? kAwkward.substr(at) : kAwkward.substr(at, 1);
  }
  return "x" + middle + "y";
}

model::Labels random_labels(Random& random) {
  model::Labels labels;
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    labels[random_word(random, kMixed, 1, 5)] =
        random.chance(0.2) ? "" : random_word(random, kMixed, 1, 8);
  }
  return labels;
}

ProcessSet random_set(Random& random, ProcessClass process_class, std::string name) {
  ProcessSet set;
  set.name = std::move(name);
  set.count = small(random, 1, 2000);
  if (can_have_density(process_class)) set.servers_per_disk = small(random, 1, 64);
  if (random.chance(0.5)) set.disk_mib = 1 + random.below(1 << 30);
  if (random.chance(0.5)) {
    set.storage_unit = model::StorageUnitId{random_word(random, kLower, 1, 8), "", {}};
    if (random.chance(0.5)) set.storage_unit->key = random_word(random, kMixed, 1, 8);
    if (random.chance(0.3)) set.storage_unit->params = {random_word(random, kMixed, 1, 4), "b"};
  }
  if (random.chance(0.5)) set.resources.cpu_milli = small(random, 1, 256'000);
  if (random.chance(0.5)) set.resources.memory_mib = 1 + random.below(1 << 24);
  set.hosts = random_labels(random);
  return set;
}

std::vector<model::CustomParameter> random_parameters(Random& random) {
  std::vector<model::CustomParameter> parameters;
  std::set<std::string> taken;
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    std::string name = "knob_" + random_word(random, kLower, 1, 30);
    if (!taken.insert(name).second) continue;
    parameters.push_back({.name = std::move(name), .value = random_line(random)});
  }
  return parameters;
}

model::Database random_database(Random& random, const model::Version& version) {
  model::Database database;
  database.redundancy_mode = pick(random, model::all_redundancy_modes());
  do {
    database.storage_engine = pick(random, model::all_storage_engines());
  } while (first_version_with(database.storage_engine) > version);
  return database;
}

}  // namespace

std::string random_word(Random& random, std::string_view alphabet, std::size_t low,
                        std::size_t high) {
  std::string word;
  for (std::uint64_t i = low + random.below(high - low + 1); i > 0; --i) {
    word += alphabet[random.below(alphabet.size())];
  }
  return word;
}

model::Address random_address(Random& random) {
  model::Address address;
  const std::uint64_t kind = random.below(4);
  if (kind == 0) {
    address.host = "h" + random_word(random, kMixed, 0, 20) + ".example";
  } else if (kind == 1) {
    address.host = "$FDB_" + random_word(random, "ABC_XYZ", 1, 10);
  } else {
    model::IpAddress ip;
    ip.family = kind == 2 ? model::IpFamily::v4 : model::IpFamily::v6;
    const std::size_t length = kind == 2 ? 4 : 16;
    for (std::size_t i = 0; i < length; ++i) {
      // Many zeros, so that there are runs of them to shorten.
      if (random.chance(0.5)) ip.bytes[i] = static_cast<std::uint8_t>(random.below(256));
    }
    address.host = to_string(ip);
  }
  if (random.chance(0.8)) {
    address.port = static_cast<std::uint16_t>(random.between(1, 65535));
    address.tls = random.chance(0.5);
  }
  address.from_hostname = random.chance(0.1);
  return address;
}

model::ClusterSpec random_spec(Random& random) {
  model::ClusterSpec spec;
  spec.name = random_word(random, kLower, 1, 20);
  spec.version = {7, small(random, 1, 5), small(random, 0, 99), small(random, 0, 2)};
  if (spec.version < model::kVersionMin) spec.version.release_candidate = 0;
  spec.database = random_database(random, spec.version);
  spec.tls = {.enabled = random.chance(0.5), .verify_peers = random_line(random)};
  for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
    const auto process_class = pick(random, model::all_process_classes());
    auto& sets = spec.processes[process_class];
    sets = {random_set(random, process_class, "default")};
    for (std::uint64_t extra = random.below(3); extra > 0; --extra) {
      sets.push_back(random_set(random, process_class, "set-" + std::to_string(extra)));
    }
    if (random.chance(0.3)) {
      spec.custom_parameters.by_class[process_class] = random_parameters(random);
    }
  }
  spec.custom_parameters.general = random_parameters(random);
  spec.distribution = {.enabled = random.chance(0.5),
                       .desired_fault_domains = std::nullopt,
                       .required = random.chance(0.5),
                       .physical_domain = random_word(random, kLower, 1, 8)};
  if (random.chance(0.5)) spec.distribution.desired_fault_domains = small(random, 3, 50);
  spec.data_center = random_line(random);
  spec.data_hall = random_line(random);
  spec.log_group = random_line(random);
  if (random.chance(0.5)) spec.zone_variable = "Z" + random_word(random, kMixed, 0, 10);
  spec.dns_in_cluster_file = random.chance(0.5);
  spec.listen_address = random.chance(0.5);
  for (std::uint32_t i = small(random, 0, 3); i > 0; --i) {
    spec.process_groups_to_remove.push_back(
        {.prefix = random.chance(0.5) ? random_word(random, "ab-_1", 1, 6) : "",
         .process_class = pick(random, model::all_process_classes()),
         .number = i});
  }
  spec.automation.replace_failed = random.chance(0.5);
  spec.automation.failure_detection_seconds = small(random, 1, 100'000);
  spec.automation.max_concurrent_replacements = small(random, 0, 9);
  spec.automation.kill_processes = random.chance(0.5);
  return spec;
}

}  // namespace fdbpack::support
