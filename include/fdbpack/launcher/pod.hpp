// SPDX-License-Identifier: Apache-2.0
//
// What we read of our own pod, what it asks of us, and what we write to it. All of it is done with
// annotations below foundationdb.org/:
//
//   launcher-current-configuration   written: the configuration in force, byte for byte
//   launcher-environment             written: JSON of the variables it uses, and BINARY_DIR
//   cluster-file-change              written: when the cluster file changed, in unix seconds
//   outdated-config-map-seen         read: the configuration was outdated then, in unix seconds
//   isolate-process-group            read: run no processes
//   delay-shutdown                   read: how long to stay after SIGTERM, "60s"
#pragma once

#include "fdbpack/base/instant.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fdbpack::launcher {

inline constexpr std::string_view kCurrentConfiguration =
    "foundationdb.org/launcher-current-configuration";
inline constexpr std::string_view kLauncherEnvironment = "foundationdb.org/launcher-environment";
inline constexpr std::string_view kClusterFileChange = "foundationdb.org/cluster-file-change";
inline constexpr std::string_view kOutdatedConfigMap = "foundationdb.org/outdated-config-map-seen";
inline constexpr std::string_view kIsolate = "foundationdb.org/isolate-process-group";
inline constexpr std::string_view kDelayShutdown = "foundationdb.org/delay-shutdown";

using Annotations = std::map<std::string, std::string, std::less<>>;

// The metadata of a pod or a node.
struct Metadata {
  std::string name;
  std::string resource_version;
  Annotations annotations;
  Annotations labels;
  bool is_being_deleted = false;

  bool operator==(const Metadata&) const = default;
};

// When the configuration is to be read again because of a changed pod.
struct ReloadRequest {
  bool is_now = false;             // in any case
  std::int64_t outdated_at_s = 0;  // otherwise, when the one in force was read before this
  bool operator==(const ReloadRequest&) const = default;
};
[[nodiscard]] std::optional<ReloadRequest> reload_request(const Annotations& before,
                                                          const Annotations& after);

[[nodiscard]] bool is_isolated(const Annotations& annotations);
// None when there is none or it cannot be read; a negative one is none.
[[nodiscard]] std::optional<Duration> shutdown_delay(const Annotations& annotations);

// As Go reads them: "1", "t", "TRUE", …; "1h2m3.5s", "300ms".
[[nodiscard]] std::optional<bool> parse_go_bool(std::string_view text);
[[nodiscard]] std::optional<Duration> parse_go_duration(std::string_view text);

}  // namespace fdbpack::launcher
