// SPDX-License-Identifier: Apache-2.0
//
// The store of several coordinators: etcd 3.4 or later, over its JSON gateway.
//
//   PREFIXleader     name and address of the coordinator that leads; lives as long as its lease
//   PREFIXdata/KEY   the entries
//
// Questions go out one after the other. A commit is one transaction of etcd that compares, besides
// its conditions, the fence of the leader (etcd_election.hpp). One whose answer was lost may still
// be on its way, e.g. in a proxy; the load after it changes the fence first, so that it cannot land
// behind that load.
//
// A revision is etcd's own: it grows by what others write to etcd, too.
#pragma once

#include "adapters/store/etcd_access.hpp"
#include "ports/store.hpp"

#include <functional>
#include <memory>

namespace fdbpack::store {

class EtcdStore final : public ports::Store {
 public:
  // `make_client` makes a client for one of `endpoints` servers of one etcd.
  using MakeClient = std::function<std::unique_ptr<ports::HttpClient>(std::size_t endpoint)>;
  EtcdStore(ports::Clock& clock, EtcdOptions options, std::size_t endpoints,
            MakeClient make_client);
  ~EtcdStore() override;
  EtcdStore(const EtcdStore&) = delete;
  EtcdStore& operator=(const EtcdStore&) = delete;

  void load(std::string prefix, OnLoaded on_loaded) override;
  void commit(ports::StoreTransaction transaction, OnCommitted on_committed) override;
  [[nodiscard]] std::unique_ptr<ports::StoreSubscription> campaign(ports::StoreLeader self,
                                                                   OnLeading on_change) override;
  [[nodiscard]] std::optional<ports::StoreLeader> leader() const override;
  [[nodiscard]] std::unique_ptr<ports::StoreSubscription> follow(ports::StoreRevision revision,
                                                                 OnChanges on_changes) override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fdbpack::store
