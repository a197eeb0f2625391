// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/process_class.hpp"

#include "fdbpack/base/check.hpp"

#include <array>
#include <string>
#include <utility>

namespace fdbpack::model {
namespace {

using enum ProcessClass;

constexpr std::array kClasses = {
    storage,
    log,
    transaction,
    stateless,
    cluster_controller,
    master,
    proxy,
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

}  // namespace

std::span<const ProcessClass> all_process_classes() {
  return kClasses;
}

std::string_view to_string(ProcessClass process_class) {
  switch (process_class) {
    case storage:
      return "storage";
    case log:
      return "log";
    case transaction:
      return "transaction";
    case stateless:
      return "stateless";
    case cluster_controller:
      return "cluster_controller";
    case master:
      return "master";
    case proxy:
      return "proxy";
    case commit_proxy:
      return "commit_proxy";
    case grv_proxy:
      return "grv_proxy";
    case resolution:
      return "resolution";
    case data_distributor:
      return "data_distributor";
    case ratekeeper:
      return "ratekeeper";
    case coordinator:
      return "coordinator";
    case router:
      return "router";
    case backup:
      return "backup";
    case fast_restore:
      return "fast_restore";
    case storage_cache:
      return "storage_cache";
    case blob_manager:
      return "blob_manager";
    case blob_worker:
      return "blob_worker";
    case consistency_scan:
      return "consistency_scan";
    case encrypt_key_proxy:
      return "encrypt_key_proxy";
    case test:
      return "test";
    case unset:
      return "unset";
  }
  FDBPACK_UNREACHABLE();
}

Result<ProcessClass> parse_process_class(std::string_view text) {
  for (const auto process_class : kClasses) {
    if (to_string(process_class) == text) return process_class;
  }
  return fail(ErrorCode::invalid_argument,
              "\"" + std::string(text) + "\" is not a process class of FoundationDB");
}

bool can_have_density(ProcessClass process_class) {
  return process_class == storage || process_class == log || process_class == transaction;
}

bool is_stateful(ProcessClass process_class) {
  return can_have_density(process_class) || process_class == coordinator || process_class == unset;
}

}  // namespace fdbpack::model
