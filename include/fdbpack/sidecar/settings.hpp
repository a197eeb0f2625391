// SPDX-License-Identifier: Apache-2.0
//
// What a sidecar is to do, made once at its start from command line, environment and version.
//
//   Options + Environment + version file ──make_settings──> Settings
//                                                              ├─ Substitutions
//                                                              ├─ BindAddress, TLS files, rules
//                                                              └─ CopyPlan
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/http/peer_rules.hpp"
#include "fdbpack/sidecar/options.hpp"
#include "fdbpack/sidecar/substitutions.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::sidecar {

using Environment = std::map<std::string, std::string, std::less<>>;

// Which of FoundationDB's releases is spoken like. They differ in some errors only (calls.hpp).
enum class Dialect { before_7_4, since_7_4 };

struct BindAddress {
  std::string host;  // an address or a name; without brackets
  std::uint16_t port = 0;
  bool is_v6 = false;
};

struct TlsSettings {
  std::string certificate_file, key_file, ca_file;
  http::PeerRules rules;
  std::vector<std::string> warnings;  // what the rules say and we do not do
};

// One file to be brought to the output directory.
struct CopyItem {
  enum class Replaces { always, when_different };

  std::string source;  // a path
  std::string target;  // below the output directory
  Replaces replaces = Replaces::always;
  std::optional<unsigned> mode;  // none: the source's
};

struct CopyPlan {
  std::vector<std::string> required;  // paths that must not be missing or empty
  std::vector<CopyItem> files, binaries, libraries;
  std::string conf_source;  // empty: there is no conf
};

inline constexpr std::string_view kConfTarget = "fdbmonitor.conf";
inline constexpr unsigned kConfMode = 0600;
inline constexpr unsigned kBinaryMode = 0744;

struct Settings {
  bool is_init_mode = false;
  Dialect dialect = Dialect::before_7_4;
  std::string version;  // of the image
  std::string output_dir;
  Substitutions substitutions;
  BindAddress bind_address;
  std::optional<TlsSettings> tls;
  CopyPlan plan;
};

// `host_address` is asked when neither FDB_PUBLIC_IP nor FDB_POD_IP is set.
[[nodiscard]] Result<Settings> make_settings(
    const Options& options, const Environment& environment, std::string_view version_text,
    const std::function<Result<std::string>()>& host_address);

// Of a list "10.0.0.1,fd00::1" the first of the family "4" or "6", the latter in brackets. An empty
// list stays empty.
[[nodiscard]] Result<std::string> pick_address(std::string_view family, std::string_view list);

// "[fd00::1]:8080", "10.0.0.1:8080", ":8080" (all addresses).
[[nodiscard]] Result<BindAddress> parse_bind_address(std::string_view text);

}  // namespace fdbpack::sidecar
