// SPDX-License-Identifier: Apache-2.0
#include "agent/api/pages.hpp"

#include "agent/api/host_json.hpp"
#include "agent/status_page.hpp"
#include "fdbpack/base/check.hpp"

namespace fdbpack::agent {
namespace {

constexpr auto kLinesPause = std::chrono::seconds(1);
constexpr const char* kJson = "application/json";

std::string finish(wire::JsonWriter& json) {
  json.end_object();
  return std::move(json).text() + "\n";
}

}  // namespace

void Pages::note_change(bool is_urgent) {
  (is_urgent ? is_old_ : has_new_lines_) = true;
}

void Pages::drop_old() {
  const Instant now = agent_.world().clock.now();
  const bool is_due = is_old_ || (has_new_lines_ && now - made_at_ >= kLinesPause);
  if (!is_due) return;
  is_old_ = has_new_lines_ = false;
  pages_.clear();
  processes_.clear();
  made_at_ = now;
}

http::PagePtr Pages::get(Call call) {
  drop_old();
  auto& page = pages_[call];
  if (!page) {
    page = http::Page::make(kJson, render(call));
    ++renderings_;
  }
  return page;
}

http::PagePtr Pages::process(const std::string& section) {
  drop_old();
  const auto& all = agent_.supervisor().processes();
  const auto found = all.find(section);
  if (found == all.end()) return nullptr;
  auto& page = processes_[found->first];
  if (!page) {
    wire::JsonWriter json;
    json.begin_object().member("id", found->first).key("process");
    write_process(json, *found->second, Calendar(agent_.world().clock), agent_.world());
    page = http::Page::make(kJson, finish(json));
    ++renderings_;
  }
  return page;
}

std::string Pages::render(Call call) {
  const Supervisor& supervisor = agent_.supervisor();
  HostWatch& host = agent_.host();
  if (call == Call::status || call == Call::storage) host.ask_for_use();
  if (call == Call::status) {
    return status_page(agent_.facts(), agent_.conf(), supervisor, host, agent_.world());
  }
  wire::JsonWriter json;
  json.begin_object();
  if (call == Call::processes) {
    write_processes(json, supervisor, agent_.world());
  } else if (call == Call::addresses) {
    write_addresses(json, supervisor);
  } else if (call == Call::conditions) {
    wire::write_conditions(json, host.conditions());
  } else if (call == Call::storage) {
    write_storage(json, host);
  } else if (call == Call::conf) {
    write_conf_text(json, agent_.conf());
  } else {
    FDBPACK_CHECK(call == Call::conf_diff);
    write_conf_diff(json, agent_.conf(), supervisor);
  }
  return finish(json);
}

}  // namespace fdbpack::agent
