// SPDX-License-Identifier: Apache-2.0
//
// How etcd is reached, shared by all that speak with it.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/random.hpp"
#include "ports/clock.hpp"
#include "ports/http_client.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace fdbpack::store {

struct EtcdOptions {
  std::string prefix = "/fdbpack/";  // of all our keys
  std::string user;                  // empty: no login
  std::string password;
  std::chrono::seconds lease = std::chrono::seconds(10);
  Duration timeout = std::chrono::seconds(5);  // of a question, over all endpoints
  // A watch that was silent for so long is made anew: the other end may be gone.
  Duration watch_renewal = std::chrono::seconds(60);
  std::int64_t page = 2000;  // entries asked for at a time
  std::uint64_t seed = 1;    // of the jitter
};

struct EtcdAccess {
  ports::Clock& clock;
  const EtcdOptions options;
  const std::size_t endpoints;
  const std::function<std::unique_ptr<ports::HttpClient>(std::size_t endpoint)> make_client;
  Random random;
  std::string token;  // of the last login

  [[nodiscard]] std::string leader_key() const { return options.prefix + "leader"; }
  [[nodiscard]] std::string data_prefix() const { return options.prefix + "data/"; }

  // Between half of `duration` and all of it.
  [[nodiscard]] Duration jittered(Duration duration) {
    const auto half = duration.count() / 2;
    return Duration(half + random.between(0, half));
  }
};

inline constexpr Duration kEtcdPauseMin = std::chrono::milliseconds(50);
inline constexpr Duration kEtcdPauseMax = std::chrono::seconds(2);

}  // namespace fdbpack::store
