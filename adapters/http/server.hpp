// SPDX-License-Identifier: Apache-2.0
//
// An HTTP/1.1 server on the caller's io_context and thread.
//
//   Server server(io, handler, limits);
//   server.listen(TcpPlace{"127.0.0.1", 4490}, Server::Security::plain);
//   server.listen(UnixPlace{"/run/fdbpack/agent.sock"});
//   …
//   server.stop(2s, [] { … });          // no request is cut off before the grace is over
//
// When there is no room for a connection, in this order: the connection of the same peer (or, for
// the limit of all, of anybody) that has kept us waiting longest gives way; a few connections are
// kept for probes alone; the rest is turned away. When file descriptors run out the same happens,
// and one descriptor is kept in reserve for a probe; accept() never spins.
#pragma once

#include "adapters/http/listening_socket.hpp"
#include "adapters/http/session.hpp"
#include "adapters/http/task_group.hpp"
#include "adapters/http/tls_store.hpp"
#include "fdbpack/http/limits.hpp"
#include "ports/http_handler.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fdbpack::http_server {

class Server final : private SessionHost {
 public:
  enum class Security { plain, tls };
  using Note = std::function<void(std::string_view)>;

  // `note` gets one line for each thing that an operator may want to know.
  Server(boost::asio::io_context& io, ports::HttpHandler& handler, http::Limits limits = {},
         Note note = {});
  ~Server() override;  // after stop() has called back, or when it never listened
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Before the first listener with Security::tls. The files are looked at again now and then.
  [[nodiscard]] Status use_tls(TlsFiles files,
                               std::chrono::milliseconds look_again = std::chrono::seconds(10));
  // Looks at the files now.
  [[nodiscard]] Result<TlsStore::Outcome> refresh_tls();
  // Why the files that are there are not in use, if so. Only with TLS.
  [[nodiscard]] const std::optional<Error>& tls_problem() const { return tls_->problem(); }

  // The port that is listened on.
  [[nodiscard]] Result<std::uint16_t> listen(const TcpPlace& place, Security security);
  [[nodiscard]] Status listen(const UnixPlace& place);
  // Whether the unix socket that is listened on is still the one under `path`.
  [[nodiscard]] bool has_name(const std::string& path) const;
  // Listens no more on the unix socket that was made as `path`. Its connections go on.
  void abandon(const std::string& path);

  // Accepts no more, lets running requests end within `grace`, then calls back.
  void stop(std::chrono::milliseconds grace, std::function<void()> on_stopped);

  [[nodiscard]] const Counters& totals() const { return counters_; }
  [[nodiscard]] std::size_t open_connections() const { return sessions_.size(); }

 private:
  struct Listener;
  struct Entry {
    std::shared_ptr<Session> session;
    std::string key;
    bool is_counted = true;  // among those that the limits are about
  };

  boost::asio::io_context& io() override { return io_; }
  const http::Limits& limits() const override { return limits_; }
  ports::HttpHandler& handler() override { return handler_; }
  Counters& counters() override { return counters_; }
  bool is_stopping() const override { return is_stopping_; }
  std::shared_ptr<const std::string> tail(http::Persistence persistence) override;
  void watch(SteadyTime deadline) override;
  void note(std::string_view what) override;

  void start(ListeningSocket socket, Security security);
  void remove(const Listener* listener);
  [[nodiscard]] Task accept_from(Listener& listener);
  [[nodiscard]] bool accept_some(Listener& listener);
  [[nodiscard]] bool accept_with_reserve(Listener& listener);
  void take_in(int fd, const Listener& listener, bool is_probe_only);
  void begin(int fd, const Listener& listener, http::Peer peer, std::string key,
             bool is_probe_only);
  [[nodiscard]] bool evict(const std::string* key, bool is_probe_only);
  void uncount(Entry& entry);
  void ended(Session* session, const std::exception_ptr& error);
  void restore_reserve();
  void sweep();
  void look_at_tls_later();

  boost::asio::io_context& io_;
  ports::HttpHandler& handler_;
  const http::Limits limits_;
  Note note_;
  Counters counters_;
  std::unique_ptr<TlsStore> tls_;
  std::chrono::milliseconds tls_interval_{0};
  boost::asio::steady_timer tls_timer_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::map<Session*, Entry> sessions_;
  std::map<std::string, std::size_t> counted_by_peer_;
  std::size_t counted_ = 0;
  std::size_t probes_ = 0;
  int reserve_fd_ = -1;
  boost::asio::steady_timer sweep_timer_;
  SteadyTime sweep_at_ = SteadyTime::max();
  boost::asio::steady_timer stop_timer_;
  std::array<std::shared_ptr<const std::string>, 3> tails_;
  std::chrono::sys_seconds tails_second_{};
  bool is_stopping_ = false;
  bool is_stopped_ = false;
  TaskGroup tasks_;
};

}  // namespace fdbpack::http_server
