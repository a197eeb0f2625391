// SPDX-License-Identifier: Apache-2.0
//
// A server that keeps trying: what cannot be opened now (a port is taken, a certificate is not
// there yet) is said once, shown as long as it lasts, and tried again. Nothing else depends on it.
//
//   place:  pending ──tried every few seconds──> listening
//              ^── the unix socket's name is gone ──┘
//
// A unix socket whose name somebody removes cannot be reached any more, though it is open: it is
// made again at once. Connections that were made before go on.
//
// Runs on the thread of its io_context. The TLS library is not touched before there is a place that
// needs it.
#pragma once

#include "adapters/http/name_watch.hpp"
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
  struct Pace {
    std::chrono::milliseconds retry = std::chrono::seconds(5);  // of what could not be opened
    std::chrono::milliseconds look = std::chrono::minutes(1);   // at the name of the unix socket
  };

  // `settings` have been validated. `on_change`: places() has changed.
  HttpService(boost::asio::io_context& io, ports::HttpHandler& handler,
              http::ServiceSettings settings, Server::Note note, std::function<void()> on_change,
              Pace pace);

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
  void look_after();
  void try_all();
  void find_lost();
  [[nodiscard]] Status try_one(Listener& listener);
  [[nodiscard]] Status prepare_tls();
  [[nodiscard]] std::string name_of(const Listener& listener) const;

  const http::ServiceSettings settings_;
  Server::Note note_;
  std::function<void()> on_change_;
  const Pace pace_;
  boost::asio::steady_timer timer_;
  NameWatch name_watch_;
  std::vector<Listener> listeners_;
  bool is_changed_ = false;  // since on_change
  bool has_tls_ = false;
  bool is_stopping_ = false;
  Server server_;
};

}  // namespace fdbpack::http_server
