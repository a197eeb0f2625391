// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/names.hpp"
#include "fdbpack/model/ports.hpp"
#include "spec_parts.hpp"

#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace fdbpack::wire {
namespace {

using model::Labels;
using model::ProcessClass;
using model::ProcessSet;
using model::Resources;
using model::StorageUnitId;

constexpr std::uint32_t kCountMax = 100'000;
constexpr std::int64_t kMebibytesMax = std::int64_t{1} << 40;
constexpr double kCpuMax = 100'000;
constexpr std::size_t kExtraSetsMax = 1000;
constexpr std::size_t kLabelsMax = 100;
constexpr std::size_t kUnitParamsMax = 16;

constexpr std::string_view kNameAdvice =
    "use 1 to 63 lower-case letters, digits and -, with no - at either end";
constexpr std::string_view kLabelAdvice =
    "use at most 63 letters, digits, -, _ and ., beginning and ending with a letter or digit";

void read_mebibytes(ObjectReader& object, std::string_view name,
                    std::optional<std::uint64_t>& target) {
  const auto field = object.optional(name);
  if (!field) return;
  if (field->is_null()) {
    target.reset();
  } else if (const auto value = field->integer(1, kMebibytesMax)) {
    target = static_cast<std::uint64_t>(*value);
  }
}

void read_cpu(ObjectReader& object, std::optional<std::uint32_t>& target) {
  const auto field = object.optional("cpu");
  if (!field) return;
  if (field->is_null()) {
    target.reset();
    return;
  }
  const auto cores = field->number(0.001, kCpuMax);
  if (!cores) return;
  const double milli = std::round(*cores * 1000);
  if (milli / 1000 != *cores) {
    field->refuse("cores are counted in thousandths; round it to three digits behind the point");
    return;
  }
  target = static_cast<std::uint32_t>(milli);
}

void read_resources(const JsonReader& reader, Resources& resources) {
  if (reader.is_null()) {
    resources = {};
    return;
  }
  ObjectReader object(reader);
  read_cpu(object, resources.cpu_milli);
  read_mebibytes(object, "memoryMiB", resources.memory_mib);
  object.finish();
}

std::string read_label_word(const JsonReader& reader, bool may_be_empty) {
  auto text = reader.string();
  if (!text) return {};
  if (!model::is_label_value(*text) || (text->empty() && !may_be_empty)) {
    reader.refuse("this is not a usable name; " + std::string(kLabelAdvice));
  }
  return *std::move(text);
}

std::optional<StorageUnitId> read_storage_unit(const JsonReader& reader) {
  if (reader.is_null()) return std::nullopt;
  StorageUnitId unit;
  ObjectReader object(reader);
  if (const auto type = object.required("type")) unit.type = read_label_word(*type, false);
  if (const auto key = object.optional("key")) unit.key = read_label_word(*key, true);
  if (const auto params = object.optional("params")) {
    for (const auto& param : params->items(kUnitParamsMax)) {
      unit.params.push_back(read_label_word(param, false));
    }
  }
  object.finish();
  return unit;
}

Labels read_hosts(const JsonReader& reader) {
  Labels labels;
  const auto members = ObjectReader(reader).members();
  if (members.size() > kLabelsMax) {
    reader.refuse("a set chooses its hosts by at most 100 labels; remove some");
    return labels;
  }
  for (const auto& [key, value] : members) {
    if (!model::is_label_key(key)) {
      value.refuse("the key is no host label; " + std::string(kLabelAdvice));
    }
    labels.emplace(key, read_label_word(value, true));
  }
  return labels;
}

// What a class's own object and an entry of `extra` have in common, on top of what `set` holds
// already.
void read_set_fields(ObjectReader& object, ProcessClass process_class, ProcessSet& set) {
  if (const auto density = object.optional("serversPerDisk")) {
    if (!model::can_have_density(process_class)) {
      density->refuse("processes of class " + std::string(to_string(process_class)) +
                      " do not share a disk; remove it, it is for storage, log and transaction");
    } else if (const auto value = density->integer(1, model::kPortPairMax)) {
      set.servers_per_disk = static_cast<std::uint32_t>(*value);
    }
  }
  read_mebibytes(object, "diskMiB", set.disk_mib);
  if (const auto unit = object.optional("storageUnit")) set.storage_unit = read_storage_unit(*unit);
  if (const auto resources = object.optional("resources")) {
    read_resources(*resources, set.resources);
  }
  if (const auto hosts = object.optional("hosts")) set.hosts = read_hosts(*hosts);
}

void read_count(const JsonReader& reader, ProcessSet& set) {
  if (const auto count = reader.integer(1, kCountMax))
    set.count = static_cast<std::uint32_t>(*count);
}

std::string read_set_name(const JsonReader& reader, std::set<std::string>& taken) {
  auto name = reader.string();
  if (!name) return {};
  if (*name == model::kDefaultSet) {
    reader.refuse(
        "\"default\" is the class's own set; give this one another name or change the fields "
        "above");
  } else if (!model::is_dns_label(*name)) {
    reader.refuse("this is not a usable name of a set; " + std::string(kNameAdvice));
  } else if (!taken.insert(*name).second) {
    reader.refuse("there is a set \"" + *name +
                  "\" already; give each set of a class its own name");
  }
  return *std::move(name);
}

std::vector<ProcessSet> read_class(ProcessClass process_class, const JsonReader& reader) {
  ObjectReader object(reader);
  std::vector<ProcessSet> sets(1);
  if (const auto count = object.required("count")) read_count(*count, sets.front());
  read_set_fields(object, process_class, sets.front());
  std::vector<JsonReader> extra;
  if (const auto field = object.optional("extra")) extra = field->items(kExtraSetsMax);
  object.finish();

  std::set<std::string> taken;
  for (const auto& entry : extra) {
    ProcessSet set = sets.front();
    ObjectReader fields(entry);
    if (const auto name = fields.required("name")) set.name = read_set_name(*name, taken);
    if (const auto count = fields.optional("count")) read_count(*count, set);
    read_set_fields(fields, process_class, set);
    fields.finish();
    sets.push_back(std::move(set));
  }
  return sets;
}

template <class T>
JsonValue number_or_null(const std::optional<T>& value) {
  return value ? JsonValue(static_cast<std::int64_t>(*value)) : JsonValue();
}

JsonValue write_cpu(std::optional<std::uint32_t> milli) {
  if (!milli) return {};
  if (*milli % 1000 == 0) return static_cast<std::int64_t>(*milli / 1000);
  return static_cast<double>(*milli) / 1000;
}

JsonValue write_storage_unit(const std::optional<StorageUnitId>& unit) {
  if (!unit) return {};
  return JsonValue::Object{{"type", unit->type},
                           {"key", unit->key},
                           {"params", JsonValue::Array(unit->params.begin(), unit->params.end())}};
}

JsonValue::Object write_set(ProcessClass process_class, const ProcessSet& set) {
  JsonValue::Object members;
  if (set.name != model::kDefaultSet) members.emplace_back("name", set.name);
  members.emplace_back("count", std::int64_t{set.count});
  if (model::can_have_density(process_class)) {
    members.emplace_back("serversPerDisk", std::int64_t{set.servers_per_disk});
  }
  members.emplace_back("diskMiB", number_or_null(set.disk_mib));
  members.emplace_back("storageUnit", write_storage_unit(set.storage_unit));
  members.emplace_back("resources",
                       JsonValue::Object{{"cpu", write_cpu(set.resources.cpu_milli)},
                                         {"memoryMiB", number_or_null(set.resources.memory_mib)}});
  members.emplace_back("hosts", JsonValue::Object(set.hosts.begin(), set.hosts.end()));
  return members;
}

}  // namespace

std::optional<ProcessClass> read_class_name(std::string_view name, const JsonReader& reader,
                                            std::string_view also) {
  if (const auto process_class = model::parse_process_class(name)) return *process_class;
  std::vector<std::string_view> known;
  if (!also.empty()) known.push_back(also);
  for (const auto process_class : model::all_process_classes()) {
    known.push_back(to_string(process_class));
  }
  std::string message = "there is no such process class";
  if (const auto near = closest(name, known)) {
    message += "; did you mean \"" + std::string(*near) + "\"?";
  } else {
    message += "; use one of FoundationDB's, such as storage, log, transaction or stateless";
  }
  reader.refuse(std::move(message));
  return std::nullopt;
}

ProcessSets read_processes(const JsonReader& reader) {
  ProcessSets processes;
  const auto members = ObjectReader(reader).members();
  if (members.empty()) reader.refuse("a cluster needs processes; add at least one class");
  for (const auto& [name, value] : members) {
    if (const auto process_class = read_class_name(name, value, "")) {
      processes.insert_or_assign(*process_class, read_class(*process_class, value));
    }
  }
  return processes;
}

JsonValue write_processes(const ProcessSets& processes) {
  JsonValue::Object classes;
  for (const auto& [process_class, sets] : processes) {
    JsonValue::Object members = write_set(process_class, sets.front());
    JsonValue::Array extra;
    for (std::size_t i = 1; i < sets.size(); ++i) {
      extra.emplace_back(write_set(process_class, sets[i]));
    }
    members.emplace_back("extra", std::move(extra));
    classes.emplace_back(to_string(process_class), std::move(members));
  }
  return classes;
}

}  // namespace fdbpack::wire
