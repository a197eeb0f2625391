// SPDX-License-Identifier: Apache-2.0
#include "standins/server_options.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace fdbpack::standins {
namespace {

constexpr std::array kClasses = {"storage",
                                 "transaction",
                                 "resolution",
                                 "commit_proxy",
                                 "proxy",
                                 "grv_proxy",
                                 "master",
                                 "test",
                                 "unset",
                                 "stateless",
                                 "log",
                                 "router",
                                 "backup",
                                 "ratekeeper",
                                 "fast_restore",
                                 "cluster_controller",
                                 "storage_cache",
                                 "coordinator",
                                 "blob_manager",
                                 "blob_worker",
                                 "data_distributor",
                                 "encrypt_key_proxy",
                                 "consistency_scan"};

// Long flags that take a value and are of no consequence here.
constexpr std::array kIgnored = {
    "logsize",      "maxlogssize",      "loggroup",        "trace_format",
    "machine_id",   "datacenter_id",    "storage_memory",  "tls_certificate_file",
    "tls_key_file", "tls_ca_file",      "tls_password",    "tls_verify_peers",
    "memory_vsize", "io_trust_seconds", "data_filesystem", "seed_connection_string",
    "cluster_id",   "buggify",          "random_seed",     "trace_clock"};

constexpr std::array<std::pair<char, const char*>, 11> kShort = {{{'p', "public_address"},
                                                                  {'l', "listen_address"},
                                                                  {'C', "cluster_file"},
                                                                  {'d', "datadir"},
                                                                  {'L', "logdir"},
                                                                  {'c', "class"},
                                                                  {'m', "memory"},
                                                                  {'M', "storage_memory"},
                                                                  {'i', "machine_id"},
                                                                  {'a', "datacenter_id"},
                                                                  {'v', "version"}}};

struct Limits {
  std::uint64_t memory = 8ULL << 30;
  std::uint64_t cache_memory = 2ULL << 30;
};

std::string underscored(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string hyphenated(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

// No suffix means MiB.
std::optional<std::uint64_t> parse_size(const std::string& text) {
  constexpr std::array<std::pair<const char*, std::uint64_t>, 10> kUnits = {{{"", 1ULL << 20},
                                                                             {"B", 1},
                                                                             {"KB", 1000},
                                                                             {"KiB", 1ULL << 10},
                                                                             {"MB", 1000000},
                                                                             {"MiB", 1ULL << 20},
                                                                             {"GB", 1000000000},
                                                                             {"GiB", 1ULL << 30},
                                                                             {"TB", 1000000000000},
                                                                             {"TiB", 1ULL << 40}}};
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return std::nullopt;
  for (const auto& [suffix, factor] : kUnits) {
    if (std::strcmp(end, suffix) == 0) return number * factor;
  }
  return std::nullopt;
}

std::optional<Refusal> usage_error(const char* program, const std::string& message) {
  return Refusal{"ERROR: " + message + "\nTry `" + program + " --help' for more information.\n", 1};
}

bool takes_value(const std::string& name) {
  constexpr std::array kKnown = {
      "public_address", "listen_address", "cluster_file", "datadir",   "logdir",
      "class",          "memory",         "cache_memory", "parentpid", "seed_cluster_file"};
  const auto is_name = [&name](const char* known) { return name == known; };
  return starts_with(name, "locality_") || starts_with(name, "knob_") ||
         std::any_of(kKnown.begin(), kKnown.end(), is_name) ||
         std::any_of(kIgnored.begin(), kIgnored.end(), is_name);
}

void append(std::vector<std::string>& list, const std::string& value) {
  for (std::string& part : split(value, ','))
    list.push_back(std::move(part));
}

// A message when the value is bad.
std::optional<std::string> accept(const std::string& name, const std::string& value,
                                  ServerOptions& options, Limits& limits) {
  if (name == "public_address") append(options.public_addresses, value);
  if (name == "listen_address" && value != "public") append(options.listen_addresses, value);
  if (name == "cluster_file") options.cluster_file = value;
  if (name == "seed_cluster_file") options.seed_cluster_file = value;
  if (name == "datadir") options.datadir = value;
  if (name == "logdir") options.logdir = value;
  if (name == "parentpid") options.parent_pid = std::atoi(value.c_str());
  if (name == "class" && std::none_of(kClasses.begin(), kClasses.end(),
                                      [&value](const char* known) { return value == known; })) {
    return "Unknown machine class `" + value + "'";
  }
  if (name == "memory" || name == "cache_memory") {
    const auto size = parse_size(value);
    if (!size) return "Could not parse memory limit from `" + value + "'";
    (name == "memory" ? limits.memory : limits.cache_memory) = *size;
  }
  return std::nullopt;
}

// The long name of `-p` or `--public-address`, and the value behind `=` if there is one.
std::pair<std::string, const char*> take_apart(char* argument) {
  if (argument[0] == '-' && argument[1] != '-' && argument[1] != '\0' && argument[2] == '\0') {
    for (const auto& [letter, name] : kShort) {
      if (letter == argument[1]) return {name, nullptr};
    }
    if (argument[1] == 'h' || argument[1] == '?') return {"help", nullptr};
  }
  if (!starts_with(argument, "--")) return {"", nullptr};
  char* equals = std::strchr(argument, '=');
  if (equals != nullptr) *equals = '\0';
  return {underscored(argument + 2), equals == nullptr ? nullptr : equals + 1};
}

std::optional<std::string> read_connection_string(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string content;
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    line.erase(std::remove_if(line.begin(), line.end(), [](char c) { return c <= ' '; }),
               line.end());
    content += line;
  }
  return content;
}

}  // namespace

std::optional<Refusal> read_arguments(int argc, char** argv, ServerOptions& options) {
  Limits limits;
  for (int i = 1; i < argc; ++i) {
    const std::string original = argv[i];
    auto [name, value] = take_apart(argv[i]);
    if (name == "help") options.wants_help = true;
    if (name == "version") options.wants_version = true;
    if (options.wants_help || options.wants_version) return std::nullopt;
    if (name == "io_trust_warn_only") continue;
    if (name.empty()) return usage_error(argv[0], "unknown option: `" + original + "'");
    if (!takes_value(name)) {
      return usage_error(argv[0], "unknown option: `" + std::string(argv[i]) + "'");
    }
    if (value == nullptr && i + 1 >= argc) {
      return usage_error(argv[0], "missing argument for option `" + hyphenated(argv[i]) + "'");
    }
    if (value == nullptr) value = argv[++i];
    if (const auto bad = accept(name, value, options, limits)) return usage_error(argv[0], *bad);
  }
  if (options.public_addresses.empty()) {
    return usage_error(argv[0], "The -p or --public-address option is required");
  }
  if (limits.memory <= limits.cache_memory) {
    return usage_error(argv[0], "--memory has to be larger than --cache-memory");
  }
  return std::nullopt;
}

std::optional<Address> parse_address(const std::string& text) {
  std::string rest = text;
  if (rest.size() > 4 && rest.substr(rest.size() - 4) == ":tls") rest.resize(rest.size() - 4);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  Address address{rest, rest.substr(0, colon), 0};
  if (address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  if (address.host == "auto") {
    address.host = "127.0.0.1";
    address.text = "127.0.0.1" + rest.substr(colon);
  }
  char* end = nullptr;
  const unsigned long port = std::strtoul(rest.c_str() + colon + 1, &end, 10);
  if (*end != '\0' || port == 0 || port > 65535) return std::nullopt;
  address.port = static_cast<std::uint16_t>(port);
  return address;
}

std::optional<Refusal> read_cluster_file(const ServerOptions& options,
                                         std::vector<Address>& coordinators) {
  auto content = read_connection_string(options.cluster_file);
  const std::string& path = options.cluster_file;
  if (!content && !options.seed_cluster_file.empty()) {
    content = read_connection_string(options.seed_cluster_file);
    if (!content || content->empty()) {
      return Refusal{"Unexpected error loading cluster file `" + options.seed_cluster_file +
                         "': 1513 File could not be read\nError: File could not be read\n",
                     10};
    }
    std::ofstream(path) << *content << "\n";
  }
  if (!content) {
    const std::string why = "No cluster file found in current directory or default location";
    return Refusal{
        "Unable to read cluster file `" + path + "': 1515 " + why + "\nError: " + why + "\n", 10};
  }
  if (content->empty()) {
    return Refusal{"Unexpected error loading cluster file `" + path +
                       "': 1513 File could not be read\nError: File could not be read\n",
                   10};
  }
  const std::size_t colon = content->find(':');
  const std::size_t at = content->find('@');
  bool is_valid = colon != std::string::npos && at != std::string::npos && colon < at;
  if (is_valid) {
    for (const std::string& part : split(content->substr(at + 1), ',')) {
      const auto address = parse_address(part);
      is_valid = is_valid && address.has_value();
      if (address) coordinators.push_back(*address);
    }
  }
  if (is_valid && !coordinators.empty()) return std::nullopt;
  return Refusal{"Invalid cluster file `" + path +
                     "': 2104 Connection string invalid\nError: Connection string invalid\n",
                 10};
}

}  // namespace fdbpack::standins
