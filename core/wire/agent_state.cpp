// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/agent_state.hpp"

#include "fdbpack/wire/json_writer.hpp"

#include <nlohmann/json.hpp>

#include <charconv>

namespace fdbpack::wire {
namespace {

constexpr std::uint64_t kVersion = 1;

// Revisions use all 64 bits; as text they survive readers that keep numbers as doubles.
std::string hex(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    text[15 - i] = "0123456789abcdef"[number & 15u];
    number >>= 4u;
  }
  return text;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 16) return {};
  return number;
}

void print_record(JsonWriter& json, const ProcessRecord& record) {
  json.begin_object()
      .member("section", record.section)
      .member("pid", record.pid)
      .member("start_ticks", record.start_ticks)
      .member("exe_device", record.exe_device)
      .member("exe_inode", record.exe_inode)
      .member("command", hex(record.revision.command))
      .member("settings", hex(record.revision.settings))
      .member("since_ns", record.since.time_since_epoch().count());
  if (record.joined_at) json.member("joined_ns", record.joined_at->time_since_epoch().count());
  if (record.is_join_unknown) json.member("join_unknown", true);
  if (record.is_restart_due) json.member("restart_due", true);
  json.member("starts", record.starts)
      .member("memory_limit_bytes", record.memory_limit_bytes)
      .member("kill_on_change", record.kill_on_change)
      .member("held", record.is_held)
      .end_object();
}

// Reads members of one JSON object; remembers the first that is missing or of the wrong kind.
class Reader {
 public:
  explicit Reader(const nlohmann::json& object) : object_(object) {}

  template <class T>
  T get(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end() || !has_kind<T>(*found)) {
      if (wrong_.empty()) wrong_ = name;
      return T{};
    }
    return found->template get<T>();
  }
  std::uint64_t get_hex(const char* name) {
    const auto number = parse_hex(get<std::string>(name));
    if (!number && wrong_.empty()) wrong_ = name;
    return number.value_or(0);
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  template <class T>
  static bool has_kind(const nlohmann::json& json) {
    if constexpr (std::is_same_v<T, std::string>) {
      return json.is_string();
    } else if constexpr (std::is_same_v<T, bool>) {
      return json.is_boolean();
    } else if constexpr (std::is_same_v<T, int>) {
      return json.is_number_integer() && json.get<std::int64_t>() >= 0 &&
             json.get<std::int64_t>() <= INT32_MAX;
    } else if constexpr (std::is_unsigned_v<T>) {
      return json.is_number_unsigned();
    } else {
      return json.is_number_integer();
    }
  }

  const nlohmann::json& object_;
  std::string wrong_;
};

Result<ProcessRecord> read_record(const nlohmann::json& json) {
  if (!json.is_object()) return fail(ErrorCode::corrupt, "a process is not an object");
  Reader reader(json);
  ProcessRecord record;
  record.section = reader.get<std::string>("section");
  record.pid = reader.get<int>("pid");
  record.start_ticks = reader.get<std::uint64_t>("start_ticks");
  record.exe_device = reader.get<std::uint64_t>("exe_device");
  record.exe_inode = reader.get<std::uint64_t>("exe_inode");
  record.revision.command = reader.get_hex("command");
  record.revision.settings = reader.get_hex("settings");
  record.since = Instant(Duration(reader.get<std::int64_t>("since_ns")));
  if (json.contains("joined_ns")) {
    record.joined_at = Instant(Duration(reader.get<std::int64_t>("joined_ns")));
  }
  if (json.contains("join_unknown")) record.is_join_unknown = reader.get<bool>("join_unknown");
  if (json.contains("restart_due")) record.is_restart_due = reader.get<bool>("restart_due");
  record.starts = reader.get<std::uint64_t>("starts");
  record.memory_limit_bytes = reader.get<std::uint64_t>("memory_limit_bytes");
  record.kill_on_change = reader.get<bool>("kill_on_change");
  record.is_held = reader.get<bool>("held");
  if (!reader.wrong().empty()) {
    return fail(ErrorCode::corrupt, "a process has no valid \"" + reader.wrong() + "\"");
  }
  return record;
}

}  // namespace

std::string print(const supervise::Revision& revision) {
  return hex(revision.command) + "." + hex(revision.settings);
}

std::optional<supervise::Revision> parse_revision(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return {};
  const auto command = parse_hex(text.substr(0, dot));
  const auto settings = parse_hex(text.substr(dot + 1));
  if (!command || !settings) return {};
  return supervise::Revision{*command, *settings};
}

std::string print(const AgentState& state) {
  JsonWriter json;
  json.begin_object()
      .member("version", kVersion)
      .member("boot_id", state.boot_id)
      .member("agent_id", state.agent_id)
      .key("processes")
      .begin_array();
  for (const auto& record : state.processes)
    print_record(json, record);
  json.end_array().end_object();
  return std::move(json).text() + "\n";
}

Result<AgentState> parse_agent_state(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(ErrorCode::corrupt, "it is not complete JSON");
  if (!json.is_object()) return fail(ErrorCode::corrupt, "it is not a JSON object");
  Reader reader(json);
  const auto version = reader.get<std::uint64_t>("version");
  if (!reader.wrong().empty()) return fail(ErrorCode::corrupt, "it has no version");
  if (version != kVersion) {
    return fail(ErrorCode::unsupported, "it is of version " + std::to_string(version));
  }
  AgentState state;
  state.boot_id = reader.get<std::string>("boot_id");
  state.agent_id = reader.get<std::string>("agent_id");
  const auto processes = json.find("processes");
  if (!reader.wrong().empty() || processes == json.end() || !processes->is_array()) {
    return fail(ErrorCode::corrupt, "it has no boot_id, agent_id or processes");
  }
  state.processes.reserve(processes->size());
  for (const auto& entry : *processes) {
    FDBPACK_TRY(auto record, read_record(entry));
    state.processes.push_back(std::move(record));
  }
  return state;
}

}  // namespace fdbpack::wire
