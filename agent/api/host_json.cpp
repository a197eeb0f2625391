// SPDX-License-Identifier: Apache-2.0
#include "agent/api/host_json.hpp"

#include "fdbpack/base/calendar.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/listener.hpp"
#include "fdbpack/http/answer.hpp"
#include "fdbpack/model/address.hpp"

#include <algorithm>
#include <map>

namespace fdbpack::agent {
namespace {

using wire::JsonWriter;

constexpr std::uint64_t kMiB = 1024 * 1024;

const std::vector<std::string>& argv_of(const Supervised& who) {
  return who.launch_argv.empty() ? who.command->argv : who.launch_argv;
}

// ---- storage ----------------------------------------------------------------------------------

using Unit = std::vector<const DataDirectory*>;  // on one file system

std::string device_text(std::uint64_t device) {
  // As in /sys/dev/block; the bits are those of gnu_dev_major() and gnu_dev_minor().
  const std::uint64_t major = ((device >> 8U) & 0xFFFU) | ((device >> 32U) & ~std::uint64_t{0xFFF});
  const std::uint64_t minor = (device & 0xFFU) | ((device >> 12U) & ~std::uint64_t{0xFF});
  return std::to_string(major) + ":" + std::to_string(minor);
}

void write_directory(JsonWriter& json, const DataDirectory& dir) {
  json.begin_object().member("path", dir.path);
  json.key("processes").begin_array();
  for (const auto& process : dir.processes)
    json.value(process);
  json.end_array();
  const auto& reading = dir.reading;
  json.member("missing", reading && reading->is_missing);
  if (reading && !reading->error.empty()) json.member("error", reading->error);
  if (reading && reading->device != 0) json.member("read_only", reading->is_read_only);
  json.key("used_mib");
  if (reading && reading->has_use) {
    json.value(reading->used_bytes / kMiB);
    if (reading->is_use_partial) json.member("used_is_partial", true);
  } else {
    json.null();
  }
  json.end_object();
}

// One file system may be mounted twice, for reading only and not; it is one unit nevertheless.
bool is_read_only(const Unit& unit) {
  return std::all_of(unit.begin(), unit.end(), [](const DataDirectory* dir) {
    return dir->reading && dir->reading->is_read_only;
  });
}

void write_unit(JsonWriter& json, const Unit& unit) {
  const auto named =
      std::find_if(unit.begin(), unit.end(), [](const auto* dir) { return !dir->key.empty(); });
  const DataDirectory& first = named == unit.end() ? *unit.front() : **named;
  json.begin_object().member("type", first.type);
  json.member("key", first.key.empty() ? first.path : first.key);
  json.key("params").begin_array().end_array();
  const auto& reading = first.reading;
  const bool is_known = reading && reading->error.empty() && !reading->is_missing;
  if (is_known) {
    json.member("device", device_text(reading->device))
        .member("file_system", reading->file_system)
        .member("total_mib", reading->total_bytes / kMiB)
        .member("free_mib", reading->free_bytes / kMiB)
        .member("read_only", is_read_only(unit));
  }
  json.member("missing", reading && reading->is_missing);
  json.key("directories").begin_array();
  for (const auto* dir : unit)
    write_directory(json, *dir);
  json.end_array().end_object();
}

// ---- addresses --------------------------------------------------------------------------------

void write_list(JsonWriter& json, std::string_view name,
                const std::vector<model::Address>& addresses) {
  json.key(name).begin_array();
  for (const auto& address : addresses) {
    json.begin_object()
        .member("address", model::to_string(address))
        .member("host", address.host)
        .member("port", std::uint64_t{address.port})
        .member("tls", address.tls)
        .end_object();
  }
  json.end_array();
}

struct ProcessAddresses {
  std::string section;
  std::vector<model::Address> open_to, listens;
};

std::vector<model::Address> parse_list(std::string_view text) {
  auto parsed = model::parse_addresses(text);
  return parsed ? *std::move(parsed) : std::vector<model::Address>();
}

// ---- difference -------------------------------------------------------------------------------

void write_arguments(JsonWriter& json, std::string_view name, const std::vector<std::string>& all,
                     const std::vector<std::string>& but) {
  json.key(name).begin_array();
  for (const auto& argument : all) {
    const bool is_in_both = std::find(but.begin(), but.end(), argument) != but.end();
    if (!is_in_both) json.value(without_secret(argument));
  }
  json.end_array();
}

void write_difference(JsonWriter& json, const Supervised& who, const supervise::View& view) {
  json.key(who.section).begin_object();
  json.member("configured", view.is_configured)
      .member("running", view.pid.has_value())
      .member("held", view.is_held)
      .member("pending", supervise::to_string(view.pending))
      .member("waits_for_restart", view.pending != supervise::PendingChange::none);
  if (view.pending == supervise::PendingChange::command && who.command) {
    // Of a process that an earlier agent started only the fact is known: fdbserver writes over its
    // own command line.
    const bool is_known = !who.running_argv.empty();
    json.member("running_arguments_known", is_known);
    if (is_known) {
      write_arguments(json, "only_running", who.running_argv, argv_of(who));
      write_arguments(json, "only_configured", argv_of(who), who.running_argv);
    }
  }
  json.end_object();
}

// `envvars` names no secret and may hold one.
bool has_secret_name(std::string_view name) {
  const std::string lower = text::to_lower(name);
  return lower.find("password") != lower.npos || lower.find("secret") != lower.npos ||
         lower.find("envvars") != lower.npos;
}

// The value of every key that names a secret, left out.
std::string shown_conf(std::string_view all) {
  std::string result;
  while (!all.empty()) {
    const auto end = std::min(all.find_first_of("\r\n"), all.size() - 1);
    const bool has_end = all[end] == '\r' || all[end] == '\n';
    const std::string_view line = all.substr(0, has_end ? end : all.size());
    const auto equals = line.find('=');
    const bool is_secret = equals != line.npos && has_secret_name(line.substr(0, equals));
    result += is_secret ? line.substr(0, equals + 1) : line;
    if (is_secret) result += " ********";
    if (has_end) result += all[end];
    all.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace

std::string without_secret(std::string_view argument) {
  const auto equals = argument.find('=');
  if (equals == argument.npos || !has_secret_name(argument.substr(0, equals))) {
    return std::string(argument);
  }
  return std::string(argument.substr(0, equals)) + "=********";
}

void write_storage(JsonWriter& json, const HostWatch& host) {
  std::map<std::string, Unit> units;  // those that share a file system are one
  for (const auto& [path, dir] : host.directories()) {
    const bool has_device = dir.reading && dir.reading->device != 0;
    units[has_device ? "0 " + device_text(dir.reading->device) : "1 " + path].push_back(&dir);
  }
  json.key("storage").begin_object().key("measured_at");
  if (host.measured_at()) {
    json.value(rfc3339(*host.measured_at()));
  } else {
    json.null();
  }
  json.key("units").begin_array();
  for (const auto& [name, unit] : units)
    write_unit(json, unit);
  json.end_array().end_object();
}

void write_addresses(JsonWriter& json, const Supervisor& supervisor) {
  std::map<std::string, std::vector<ProcessAddresses>> groups;
  for (const auto& [section, who] : supervisor.processes()) {
    if (!who->command) continue;
    const auto& argv = argv_of(*who);
    ProcessAddresses process{section, parse_list(conf::argument_value(argv, "public_address")), {}};
    const auto listen = conf::argument_value(argv, "listen_address");
    process.listens = listen.empty() || listen == "public" ? process.open_to : parse_list(listen);
    std::string group(conf::argument_value(argv, "locality_instance_id"));
    if (group.empty()) group = who->command->id;
    groups[group].push_back(std::move(process));
  }
  json.key("process_groups").begin_object();
  for (const auto& [group, processes] : groups) {
    std::vector<std::string> hosts;
    for (const auto& process : processes) {
      for (const auto& address : process.open_to) {
        if (std::find(hosts.begin(), hosts.end(), address.host) == hosts.end()) {
          hosts.push_back(address.host);
        }
      }
    }
    json.key(group).begin_object().key("addresses").begin_array();
    for (const auto& host : hosts)
      json.value(host);
    json.end_array().key("processes").begin_object();
    for (const auto& process : processes) {
      json.key(process.section).begin_object();
      write_list(json, "public", process.open_to);
      write_list(json, "listen", process.listens);
      json.end_object();
    }
    json.end_object().end_object();
  }
  json.end_object();
}

void write_conf_diff(JsonWriter& json, const ConfKeeper& conf, const Supervisor& supervisor) {
  json.member("accepted", !conf.refused_since().has_value());
  json.key("errors").begin_array();
  for (const auto& problem : conf.problems())
    json.value(conf::to_string(problem));
  json.end_array().key("processes").begin_object();
  for (const auto& [section, who] : supervisor.processes()) {
    const auto view = supervise::describe(who->state);
    const bool runs_as_it_should = view.is_configured && view.pid &&
                                   view.pending == supervise::PendingChange::none && !view.is_held;
    if (!runs_as_it_should) write_difference(json, *who, view);
  }
  json.end_object();
}

void write_conf_text(JsonWriter& json, const ConfKeeper& conf) {
  json.member("path", conf.path()).member("accepted", !conf.refused_since().has_value());
  const LoadedConf* loaded = conf.in_force();
  if (loaded == nullptr) {
    json.key("hash").null().key("text").null();
    return;
  }
  std::string hash = http::etag_of(loaded->text);
  json.member("hash", hash.substr(1, hash.size() - 2));
  // In the launcher's JSON a value may be anywhere behind its name: all of it or nothing.
  if (text::trim(loaded->text).starts_with('{') && has_secret_name(loaded->text)) {
    json.key("text").null().member("withheld", "it names a password");
  } else {
    json.member("text", shown_conf(loaded->text));
  }
}

}  // namespace fdbpack::agent
