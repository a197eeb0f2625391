// SPDX-License-Identifier: Apache-2.0
//
// What the Kubernetes API server sends and takes about our pod and node.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/launcher/pod.hpp"

#include <string>
#include <string_view>

namespace fdbpack::wire {

// A pod or a node: its metadata. Whatever else is in it is passed over.
[[nodiscard]] Result<launcher::Metadata> read_metadata(std::string_view json);

// One line of a watch. For ERROR the message says what the server said.
struct WatchEvent {
  std::string type;  // ADDED, MODIFIED, DELETED, BOOKMARK or ERROR
  launcher::Metadata object;
  std::string message;
};
[[nodiscard]] Result<WatchEvent> read_watch_event(std::string_view json);

// `message` of the status object that comes with a refusal; empty when there is none.
[[nodiscard]] std::string read_status_message(std::string_view json);

// What read_metadata() reads again: annotations and labels.
[[nodiscard]] std::string write_metadata(const launcher::Metadata& metadata);

// {"metadata":{"annotations":{…}}}: a merge patch that leaves all others alone.
[[nodiscard]] std::string write_annotation_patch(const launcher::Annotations& annotations);

// An object of strings as Go writes it: by key, no blanks, with <, > and & escaped.
[[nodiscard]] std::string write_string_map(const launcher::Annotations& map);

}  // namespace fdbpack::wire
