// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/group_conf.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/model/ports.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::conf {
namespace {

using model::Transport;

class ArgumentList {
 public:
  explicit ArgumentList(const GroupConf& group) : group_(group) {}

  std::vector<Argument> build() {
    add("cluster_file", Text{group_.paths.cluster_file});
    add("seed_cluster_file", Text{group_.paths.seed_cluster_file});
    add_addresses("public_address", "FDB_PUBLIC_IP");
    add("class", Text{std::string(to_string(group_.process_class))});
    add("logdir", Text{group_.paths.log_directory});
    add("loggroup", Text{group_.log_group});
    add_data_directory();
    add("locality_instance_id", Variable{"FDB_INSTANCE_ID"});
    add("locality_machineid", Variable{"FDB_MACHINE_ID"});
    add("locality_zoneid", Variable{group_.zone_variable});
    if (group_.has_listen_address) add_addresses("listen_address", "FDB_POD_IP");
    if (!group_.verify_peers.empty()) add("tls_verify_peers", Text{group_.verify_peers});
    for (const auto& parameter : group_.custom_parameters)
      add_custom(parameter);
    add_locality("locality_dcid", group_.data_center);
    add_locality("locality_data_hall", group_.data_hall);
    if (group_.has_dns_name) add("locality_dns_name", Variable{"FDB_DNS_NAME"});
    return std::move(arguments_);
  }

 private:
  void add(std::string key, Part part) {
    arguments_.push_back({std::move(key), {std::move(part)}});
  }

  Part address_part(const std::string& variable) const {
    if (group_.ip_family) return IpOfFamily{variable, *group_.ip_family};
    return Variable{variable};
  }

  // The port of process n is 2n more than this.
  int port_offset(Transport transport) const {
    const auto slot = static_cast<std::uint32_t>(group_.port_slot);
    return int{model::port_of("the first process", slot, 1, transport).value()} - 2;
  }

  void add_addresses(std::string key, const std::string& variable) {
    Argument argument{std::move(key), {}};
    const auto add_listener = [&](Transport transport) {
      const bool is_first = argument.value.empty();
      const std::string open = group_.brackets_every_ip ? "[" : "";
      if (!is_first || !open.empty())
        argument.value.emplace_back(Text{(is_first ? "" : ",") + open});
      argument.value.push_back(address_part(variable));
      argument.value.emplace_back(Text{group_.brackets_every_ip ? "]:" : ":"});
      argument.value.emplace_back(ProcessNumber{2, port_offset(transport)});
      if (transport == Transport::tls) argument.value.emplace_back(Text{":tls"});
    };
    if (group_.listeners.tls) add_listener(Transport::tls);
    if (group_.listeners.plain) add_listener(Transport::plain);
    arguments_.push_back(std::move(argument));
  }

  void add_data_directory() {
    if (group_.density == 1 && !group_.is_always_numbered) {
      add("datadir", Text{group_.paths.data_directory});
      return;
    }
    arguments_.push_back({"datadir", {Text{group_.paths.data_directory + "/"}, ProcessNumber{}}});
    arguments_.push_back(
        {"locality_process_id", {Variable{"FDB_INSTANCE_ID"}, Text{"-"}, ProcessNumber{}}});
  }

  void add_custom(const model::CustomParameter& parameter) {
    Part value = Text{parameter.value};
    if (parameter.value.starts_with('$')) {
      const std::string name = parameter.value.substr(1);
      const bool is_address = name == "FDB_PUBLIC_IP" || name == "FDB_POD_IP";
      value = is_address ? address_part(name) : Part(Variable{name});
    }
    arguments_.push_back({parameter.name, {std::move(value)}, true});
  }

  // The administrator's own locality of that name stands instead of the spec's.
  void add_locality(const std::string& key, const std::string& value) {
    const bool is_given =
        std::any_of(group_.custom_parameters.begin(), group_.custom_parameters.end(),
                    [&](const auto& parameter) {
                      return text::replace_all(parameter.name, "-", "_").starts_with(key);
                    });
    if (!value.empty() && !is_given) add(key, Text{value});
  }

  const GroupConf& group_;
  std::vector<Argument> arguments_;
};

}  // namespace

Result<GroupConf> group_conf(const model::ClusterSpec& spec, const GroupChoice& choice) {
  GroupConf group;
  group.process_class = choice.process_class;
  const model::ProcessSet* set = spec.find_set(choice.process_class, choice.set);
  if (set == nullptr && choice.set != model::kDefaultSet) {
    return fail(ErrorCode::not_found, fmt::format("the spec has no set '{}' of class {}",
                                                  choice.set, to_string(choice.process_class)));
  }
  if (set != nullptr) group.density = static_cast<int>(set->servers_per_disk);
  if (choice.density) group.density = *choice.density;
  group.listeners = choice.listeners.value_or(Listeners{spec.tls.enabled, !spec.tls.enabled});
  group.log_group = spec.effective_log_group();
  if (!spec.zone_variable.empty()) group.zone_variable = spec.zone_variable;
  group.verify_peers = spec.tls.verify_peers;
  group.data_center = spec.data_center;
  group.data_hall = spec.data_hall;
  group.has_listen_address = spec.listen_address;
  group.has_dns_name = spec.dns_in_cluster_file;
  group.custom_parameters = spec.effective_custom_parameters(choice.process_class);
  return group;
}

std::string template_name(model::ProcessClass process_class, int density) {
  std::string name = fmt::format("fdbmonitor-conf-{}", to_string(process_class));
  if (density > 1) name += fmt::format("-density-{}", density);
  return name;
}

Result<std::vector<Argument>> arguments(const GroupConf& group) {
  if (group.density < 1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a density of {} makes no sense; give 1 or more", group.density));
  }
  if (group.density > 1 && !model::can_have_density(group.process_class)) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("class {} runs one server per disk; a density of {} is for storage, log and "
                    "transaction only",
                    to_string(group.process_class), group.density));
  }
  if (group.port_slot < 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("port slot {} is below 0", group.port_slot));
  }
  // Every process is checked, not only the last: the first one that does not fit is the one to
  // name.
  for (int number = 1; number <= group.density; ++number) {
    const std::string name = fmt::format("{} of class {}", number, to_string(group.process_class));
    for (const Transport transport : {Transport::tls, Transport::plain}) {
      const bool is_used =
          transport == Transport::tls ? group.listeners.tls : group.listeners.plain;
      const auto slot = static_cast<std::uint32_t>(group.port_slot);
      if (is_used) {
        FDBPACK_TRY_VOID(model::port_of(name, slot, static_cast<std::uint32_t>(number), transport));
      }
    }
  }
  return ArgumentList(group).build();
}

}  // namespace fdbpack::conf
