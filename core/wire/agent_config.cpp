// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/agent_config.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/path.hpp"
#include "fdbpack/model/custom_parameter.hpp"
#include "fdbpack/model/process_settings.hpp"
#include "fdbpack/wire/http_config.hpp"
#include "fdbpack/wire/json_reader.hpp"

#include <map>
#include <set>

namespace fdbpack::wire {
namespace {

constexpr std::size_t kGroupsMax = 1000;
constexpr std::size_t kParametersMax = 1000;
constexpr std::int64_t kDensityMax = 100;
constexpr std::int64_t kPortSlotMax = 30000;

void read_string(ObjectReader& object, std::string_view name, std::string& target) {
  if (const auto field = object.optional(name)) target = field->string().value_or("");
}

void require_string(ObjectReader& object, std::string_view name, std::string& target) {
  const auto field = object.required(name);
  if (!field) return;
  target = field->string().value_or("");
  if (target.empty()) field->refuse("must not be empty");
}

void read_class(ObjectReader& object, conf::GroupConf& conf) {
  const auto field = object.required("class");
  const auto text = field ? field->string() : std::nullopt;
  if (!text) return;
  const auto process_class = model::parse_process_class(*text);
  if (process_class) {
    conf.process_class = *process_class;
  } else {
    field->refuse(process_class.error().message);
  }
}

void read_parameters(ObjectReader& object, conf::GroupConf& conf) {
  const auto field = object.optional("customParameters");
  if (!field) return;
  for (const auto& item : field->items(kParametersMax)) {
    const auto text = item.string();
    if (!text) continue;
    auto parameter = model::parse_custom_parameter(*text);
    if (parameter) {
      conf.custom_parameters.push_back(*std::move(parameter));
    } else {
      item.refuse(parameter.error().message);
    }
  }
}

// "limitNofile" is limit-nofile.
std::string dashed(std::string_view camel) {
  std::string name;
  for (const char c : camel) {
    if (c >= 'A' && c <= 'Z') name += '-';
    name += text::lower(c);
  }
  return name;
}

void read_settings(ObjectReader& object, ConfiguredGroup& group) {
  const auto field = object.optional("settings");
  if (!field) return;
  model::ProcessSettings settings;
  for (const auto& [camel, item] : ObjectReader(*field).members()) {
    const auto value = item.string();
    if (!value) continue;
    const std::string name = dashed(camel);
    const auto status = model::set_setting(settings, name, *value);
    if (status) {
      group.settings.emplace_back(name, *value);
    } else {
      item.refuse(status.error().message);
    }
  }
}

ConfiguredGroup read_group(const JsonReader& reader) {
  ConfiguredGroup group;
  conf::GroupConf& conf = group.conf;
  ObjectReader object(reader);
  require_string(object, "id", group.id);
  require_string(object, "address", group.address);
  require_string(object, "clusterFile", conf.paths.cluster_file);
  require_string(object, "dataDirectory", conf.paths.data_directory);
  read_class(object, conf);
  conf.paths.seed_cluster_file = conf.paths.cluster_file;
  conf.paths.log_directory = "/var/log/foundationdb";
  conf.log_group = "default";
  read_string(object, "logDirectory", conf.paths.log_directory);
  read_string(object, "seedClusterFile", conf.paths.seed_cluster_file);
  read_string(object, "logGroup", conf.log_group);
  read_string(object, "listenAddress", group.listen_address);
  read_string(object, "machine", group.machine);
  read_string(object, "zone", group.zone);
  read_string(object, "dataCenter", conf.data_center);
  read_string(object, "dataHall", conf.data_hall);
  read_string(object, "verifyPeers", conf.verify_peers);
  conf.has_listen_address = !group.listen_address.empty();
  if (const auto field = object.optional("density")) {
    conf.density = static_cast<int>(field->integer(1, kDensityMax).value_or(1));
  }
  if (const auto field = object.optional("portSlot")) {
    conf.port_slot = static_cast<int>(field->integer(0, kPortSlotMax).value_or(0));
  }
  bool has_tls = false;
  object.read("tls", has_tls);
  conf.listeners = {.tls = has_tls, .plain = !has_tls};
  read_parameters(object, conf);
  read_settings(object, group);
  object.finish();
  return group;
}

// Who has which slot of an address and which data directory.
class Occupied {
 public:
  void take(const ConfiguredGroup& group, const JsonReader& item) {
    const conf::GroupConf& conf = group.conf;
    std::set<std::string> addresses = {group.address};
    if (!group.listen_address.empty()) addresses.insert(group.listen_address);
    for (int n = 1; n <= conf.density; ++n) {
      const int slot = conf.port_slot + n;
      for (const std::string& address : addresses) {
        const auto [other, is_free] = slots_.try_emplace({address, slot}, group.id);
        if (is_free || other->second == group.id) continue;
        field(item, "portSlot")
            .refuse("the processes of \"" + other->second + "\" have port slot " +
                    std::to_string(slot - 1) + " of " + address + " already");
        return;
      }
      const std::string& base = conf.paths.data_directory;
      const std::string directory =
          conf::clean_path(conf.density > 1 ? base + "/" + std::to_string(n) : base);
      const auto [other, is_free] = directories_.try_emplace(directory, group.id);
      if (is_free) continue;
      field(item, "dataDirectory")
          .refuse("\"" + other->second + "\" has " + directory + " already");
      return;
    }
  }

 private:
  // The field that can be changed, or the group where it is not given.
  static JsonReader field(const JsonReader& item, std::string_view name) {
    return ObjectReader(item).optional(name).value_or(item);
  }

  std::map<std::pair<std::string, int>, std::string> slots_;
  std::map<std::string, std::string> directories_;
};

ConfiguredStorage read_storage(const JsonReader& reader) {
  ConfiguredStorage storage;
  ObjectReader object(reader);
  read_string(object, "type", storage.type);
  require_string(object, "key", storage.key);
  require_string(object, "path", storage.path);
  if (!storage.path.empty() && storage.path.front() != '/') {
    reader.refuse("the path must be absolute");
  }
  object.finish();
  return storage;
}

}  // namespace

Reading<AgentConfig> parse_agent_config(std::string_view text, http::ServiceSettings http) {
  Violations violations;
  const auto document = parse_json(text, violations);
  if (!document) return tl::unexpected(violations);
  AgentConfig config;
  config.http = std::move(http);
  ObjectReader object(JsonReader(*document, violations));
  read_string(object, "binaryDirectory", config.binary_directory);
  read_string(object, "user", config.user);
  read_string(object, "group", config.group);
  std::set<std::string> ids;
  Occupied occupied;
  if (const auto groups = object.required("processGroups")) {
    for (const auto& item : groups->items(kGroupsMax)) {
      config.groups.push_back(read_group(item));
      if (!ids.insert(config.groups.back().id).second) {
        item.refuse("the id \"" + config.groups.back().id + "\" is given twice");
      } else {
        occupied.take(config.groups.back(), item);
      }
    }
  }
  if (const auto storage = object.optional("storage")) {
    for (const auto& item : storage->items(kGroupsMax))
      config.storage.push_back(read_storage(item));
  }
  if (const auto service = object.optional("http")) read_http_config(*service, config.http);
  object.finish();
  if (!violations.empty()) return tl::unexpected(violations);
  return config;
}

}  // namespace fdbpack::wire
