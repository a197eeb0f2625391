// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/listener.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/path.hpp"

#include <fmt/format.h>

#include <map>

namespace fdbpack::conf {
namespace {

struct Listener {
  std::string host;
  std::string port;
};

// Addresses may hold variables that are not filled in yet, so they are taken apart as text.
std::vector<Listener> listeners_of(const ProcessCommand& process) {
  std::string_view list = argument_value(process.argv, "listen_address");
  if (list.empty() || list == "public") list = argument_value(process.argv, "public_address");
  std::vector<Listener> listeners;
  for (std::string_view item : text::split(list, ',')) {
    item = text::trim(item);
    if (item.ends_with(":tls")) item.remove_suffix(4);
    const std::size_t colon = item.rfind(':');
    if (colon == item.npos) continue;
    listeners.push_back({std::string(item.substr(0, colon)), std::string(item.substr(colon + 1))});
  }
  return listeners;
}

bool is_any(std::string_view host) {
  return host == "0.0.0.0" || host == "[::]" || host == "::";
}

class ConflictFinder {
 public:
  std::vector<Conflict> run(const std::vector<ProcessCommand>& processes) {
    for (const ProcessCommand& process : processes) {
      add_directory(process);
      for (const Listener& listener : listeners_of(process))
        add_listener(process, listener);
    }
    return std::move(conflicts_);
  }

 private:
  struct Taken {
    std::string host;
    const ProcessCommand* by = nullptr;
  };

  void add_directory(const ProcessCommand& process) {
    const std::string_view directory = argument_value(process.argv, "datadir");
    if (directory.empty()) return;
    const auto [taken, is_free] = directories_.emplace(clean_path(directory), &process);
    if (!is_free)
      report(*taken->second, process, fmt::format("the data directory {}", taken->first));
  }

  void add_listener(const ProcessCommand& process, const Listener& listener) {
    auto& taken = ports_[listener.port];
    for (const Taken& other : taken) {
      if (other.host == listener.host || is_any(other.host) || is_any(listener.host)) {
        report(*other.by, process, fmt::format("port {}", listener.port));
        return;
      }
    }
    taken.push_back({listener.host, &process});
  }

  void report(const ProcessCommand& first, const ProcessCommand& second, const std::string& what) {
    conflicts_.push_back({first.section, second.section,
                          fmt::format("[{}] and [{}] both use {}; give each its own", first.section,
                                      second.section, what),
                          second.at});
  }

  std::map<std::string, const ProcessCommand*> directories_;
  std::map<std::string, std::vector<Taken>> ports_;
  std::vector<Conflict> conflicts_;
};

}  // namespace

std::string_view argument_value(const std::vector<std::string>& argv, std::string_view name) {
  for (const std::string& argument : argv) {
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == argument.npos) continue;
    if (text::replace_all(std::string_view(argument).substr(2, equals - 2), "-", "_") == name) {
      return std::string_view(argument).substr(equals + 1);
    }
  }
  return {};
}

std::vector<Conflict> find_conflicts(const std::vector<ProcessCommand>& processes) {
  return ConflictFinder().run(processes);
}

}  // namespace fdbpack::conf
