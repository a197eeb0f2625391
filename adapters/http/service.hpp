// SPDX-License-Identifier: Apache-2.0
//
// A server that keeps trying: what cannot be opened now (a port is taken, a certificate is not
// there yet) is said once, shown as long as it lasts, and tried again. Nothing else depends on it.
//
//   place:  pending ──tried every few seconds──> listening
//
// Runs on the thread of its io_context. The TLS library is not touched before there is a place that
// needs it.
#pragma once

#include "adapters/http/server.hpp"
#include "fdbpack/http/service.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace fdbpack::http_server {

class HttpService {
 public:
  static constexpr std::chrono::seconds kRetry{5};

  // `settings` have been validated. `on_change`: places() has changed.
  HttpService(boost::asio::io_context& io, ports::HttpHandler& handler,
              http::ServiceSettings settings, Server::Note note, std::function<void()> on_change,
              std::chrono::milliseconds retry = kRetry);

  void start();
  // No request is cut off before the grace is over. Then calls back.
  void stop(std::chrono::milliseconds grace, std::function<void()> on_stopped);

  struct Place {
    std::string name;  // "127.0.0.1:4490", "https://…", "unix:/run/…"
    bool is_open = false;
    std::string trouble;  // why it is not
  };
  [[nodiscard]] std::vector<Place> places() const;
  [[nodiscard]] const Server& server() const { return server_; }

 private:
  struct Listener {
    http::ListenPlace place;  // with the port that it got
    bool is_unix = false;
    bool is_open = false;
    std::string trouble;
  };
  void try_all();
  [[nodiscard]] Status try_one(Listener& listener);
  [[nodiscard]] Status prepare_tls();
  [[nodiscard]] std::string name_of(const Listener& listener) const;

  const http::ServiceSettings settings_;
  Server::Note note_;
  std::function<void()> on_change_;
  std::chrono::milliseconds retry_;
  boost::asio::steady_timer timer_;
  std::vector<Listener> listeners_;
  bool has_tls_ = false;
  bool is_stopping_ = false;
  Server server_;
};

}  // namespace fdbpack::http_server
