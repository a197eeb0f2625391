// SPDX-License-Identifier: Apache-2.0
//
// FoundationDB's process classes: what a process prefers to do. The list is closed, because
// fdbserver exits when it is given a class that it does not know.
#pragma once

#include "fdbpack/base/result.hpp"

#include <span>
#include <string_view>

namespace fdbpack::model {

enum class ProcessClass {
  storage,
  log,
  transaction,
  stateless,
  cluster_controller,
  master,
  proxy,  // before 7.0; commit_proxy and grv_proxy since
  commit_proxy,
  grv_proxy,
  resolution,
  data_distributor,
  ratekeeper,
  coordinator,
  router,
  backup,
  fast_restore,
  storage_cache,
  blob_manager,
  blob_worker,
  consistency_scan,
  encrypt_key_proxy,
  test,
  unset,
};

[[nodiscard]] std::span<const ProcessClass> all_process_classes();
[[nodiscard]] std::string_view to_string(ProcessClass process_class);
[[nodiscard]] Result<ProcessClass> parse_process_class(std::string_view text);

// Several processes of this class may share a disk.
[[nodiscard]] bool can_have_density(ProcessClass process_class);

// Processes of this class keep data that is lost with their disk. `unset` may be given any role,
// storage included.
[[nodiscard]] bool is_stateful(ProcessClass process_class);

}  // namespace fdbpack::model
