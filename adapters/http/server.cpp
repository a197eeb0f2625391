// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fdbpack::http_server {

namespace asio = boost::asio;
using std::chrono_literals::operator""ms;

namespace {

constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> kToken;
constexpr int kAcceptsPerWake = 16;
// A client that has just come is not yet one that keeps us waiting.
constexpr auto kPatience = 50ms;
// Deadlines that are near each other are looked at together.
constexpr auto kSweepPause = 20ms;
constexpr auto kAcceptPause = 50ms;

bool is_out_of_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

struct Server::Listener {
  Listener(asio::io_context& io, ListeningSocket listening, Security how)
      : socket(std::move(listening)),
        security(how),
        readiness(io.get_executor(), socket.fd()),
        pause(io) {}
  ~Listener() { readiness.release(); }  // the descriptor is the socket's

  ListeningSocket socket;
  Security security;
  asio::posix::basic_stream_descriptor<Executor> readiness;
  asio::steady_timer pause;
  bool is_abandoned = false;
};

Server::Server(asio::io_context& io, ports::HttpHandler& handler, http::Limits limits, Note note)
    : io_(io),
      handler_(handler),
      limits_(limits),
      note_(std::move(note)),
      tls_timer_(io),
      sweep_timer_(io),
      stop_timer_(io),
      tasks_(io) {
  restore_reserve();
}

Server::~Server() {
  FDBPACK_CHECK(listeners_.empty() || is_stopped_);
  if (reserve_fd_ >= 0) ::close(reserve_fd_);
}

Status Server::use_tls(TlsFiles files, std::chrono::milliseconds look_again) {
  FDBPACK_TRY(tls_, TlsStore::load(std::move(files)));
  tls_interval_ = look_again;
  look_at_tls_later();
  return {};
}

Result<TlsStore::Outcome> Server::refresh_tls() {
  if (!tls_) return fail(ErrorCode::precondition, "the server is not using TLS");
  auto outcome = tls_->refresh();
  if (!outcome) {
    ++counters_.tls_renewal_failures;
    note("tls.kept_old reason=\"" + outcome.error().message + '"');
  } else if (*outcome == TlsStore::Outcome::renewed) {
    ++counters_.tls_renewals;
    note("tls.renewed");
  }
  return outcome;
}

void Server::look_at_tls_later() {
  tls_timer_.expires_after(tls_interval_);
  tls_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    static_cast<void>(refresh_tls());  // has noted what there is to say
    look_at_tls_later();
  });
}

Result<std::uint16_t> Server::listen(const TcpPlace& place, Security security) {
  FDBPACK_CHECK(security == Security::plain || tls_);
  FDBPACK_TRY(ListeningSocket socket, ListeningSocket::open(place));
  const std::uint16_t port = socket.port();
  start(std::move(socket), security);
  return port;
}

Status Server::listen(const UnixPlace& place) {
  FDBPACK_TRY(ListeningSocket socket, ListeningSocket::open(place));
  start(std::move(socket), Security::plain);
  return {};
}

void Server::start(ListeningSocket socket, Security security) {
  FDBPACK_CHECK(!is_stopping_);
  listeners_.push_back(std::make_unique<Listener>(io_, std::move(socket), security));
  Listener* const listener = listeners_.back().get();
  tasks_.spawn(accept_from(*listener), [this, listener](const std::exception_ptr& error) {
    if (error) note("http.listener_failed");
    if (listener->is_abandoned) remove(listener);
  });
}

void Server::remove(const Listener* listener) {
  std::erase_if(listeners_, [listener](const auto& one) { return one.get() == listener; });
}

bool Server::has_name(const std::string& path) const {
  return std::any_of(listeners_.begin(), listeners_.end(), [&path](const auto& one) {
    return one->socket.path() == path && !one->is_abandoned && one->socket.has_name();
  });
}

void Server::abandon(const std::string& path) {
  for (const auto& listener : listeners_) {
    if (listener->socket.path() != path || std::exchange(listener->is_abandoned, true)) continue;
    static_cast<void>(accept_some(*listener));  // those who came in while it had its name
    boost::system::error_code ignored;
    listener->readiness.cancel(ignored);
    listener->pause.cancel();
  }
}

Task Server::accept_from(Listener& listener) {
  while (!is_stopping_ && !listener.is_abandoned) {
    const auto [error] =
        co_await listener.readiness.async_wait(asio::posix::descriptor_base::wait_read, kToken);
    if (is_stopping_ || listener.is_abandoned) co_return;
    if (!error && accept_some(listener)) continue;
    // Whoever waits stays in the kernel's queue; in a while there may be room.
    listener.pause.expires_after(kAcceptPause);
    co_await listener.pause.async_wait(kToken);
  }
}

// False when there is no use in trying again at once.
bool Server::accept_some(Listener& listener) {
  for (int i = 0; i < kAcceptsPerWake; ++i) {
    const int fd = ::accept4(listener.socket.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      take_in(fd, listener, false);
      continue;
    }
    const int error = errno;
    if (error == EAGAIN) return true;
    if (error == EINTR || error == ECONNABORTED || error == EPROTO) continue;
    ++counters_.accept_errors;
    if (!is_out_of_resources(error)) {
      note("http.accept_failed reason=\"" + std::string(std::strerror(error)) + '"');
      return false;
    }
    if (!evict(nullptr, false) && !accept_with_reserve(listener)) return false;
  }
  return true;
}

bool Server::accept_with_reserve(Listener& listener) {
  if (reserve_fd_ < 0) return false;
  ::close(std::exchange(reserve_fd_, -1));
  const int fd = ::accept4(listener.socket.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    restore_reserve();
    return false;
  }
  note("http.out_of_descriptors");
  take_in(fd, listener, true);
  return true;
}

void Server::restore_reserve() {
  if (reserve_fd_ < 0) reserve_fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void Server::take_in(int fd, const Listener& listener, bool is_probe_only) {
  ++counters_.connections;
  http::Peer peer = peer_of(fd);
  std::string key = peer_key(peer);
  if (!is_probe_only) {
    const auto found = counted_by_peer_.find(key);
    const bool is_peer_full =
        found != counted_by_peer_.end() && found->second >= limits_.connections_per_peer_max;
    is_probe_only = is_peer_full && !evict(&key, false);
  }
  if (!is_probe_only && counted_ >= limits_.connections_max) is_probe_only = !evict(nullptr, false);
  if (is_probe_only && probes_ >= limits_.probe_connections_max && !evict(nullptr, true)) {
    ++counters_.refused;
    ::close(fd);
    restore_reserve();
    return;
  }
  begin(fd, listener, std::move(peer), std::move(key), is_probe_only);
}

void Server::begin(int fd, const Listener& listener, http::Peer peer, std::string key,
                   bool is_probe_only) {
  const int family = listener.socket.family();
  if (family != AF_UNIX) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Socket socket(io_.get_executor());
  boost::system::error_code error;
  const int protocol = family == AF_UNIX ? 0 : IPPROTO_TCP;
  socket.assign(asio::generic::stream_protocol(family, protocol), fd, error);
  if (error) {
    ::close(fd);
    return;
  }
  const bool is_tls = listener.security == Security::tls;
  peer.is_tls = is_tls;
  auto session = make_session(*this, std::move(socket), is_tls ? tls_->context() : nullptr,
                              std::move(peer), is_probe_only);
  if (is_probe_only) {
    ++probes_;
  } else {
    ++counted_;
    ++counted_by_peer_[key];
  }
  sessions_.emplace(session.get(), Entry{session, std::move(key)});
  // The callback keeps the session until its coroutine has gone.
  tasks_.spawn(session->run(),
               [this, session](const std::exception_ptr& what) { ended(session.get(), what); });
}

// Closes the connection that has kept us waiting longest; those in the middle of a request first.
// Only connections of `key`, if given; only probes or only others.
bool Server::evict(const std::string* key, bool is_probe_only) {
  const SteadyTime now = std::chrono::steady_clock::now();
  Entry* victim = nullptr;
  const auto is_idle = [](const Entry& entry) {
    return entry.session->phase() == Session::Phase::idle;
  };
  for (auto& [session, entry] : sessions_) {
    const bool is_eligible =
        entry.is_counted && session->is_probe_only() == is_probe_only &&
        session->is_waiting_for_client() && session->since() != SteadyTime::min() &&
        now - session->since() >= kPatience && (key == nullptr || entry.key == *key);
    if (!is_eligible) continue;
    const bool is_better =
        victim == nullptr || std::pair(is_idle(entry), session->since()) <
                                 std::pair(is_idle(*victim), victim->session->since());
    if (is_better) victim = &entry;
  }
  if (victim == nullptr) return false;
  ++counters_.evicted;
  uncount(*victim);
  victim->session->close();
  return true;
}

void Server::uncount(Entry& entry) {
  if (!std::exchange(entry.is_counted, false)) return;
  if (entry.session->is_probe_only()) {
    --probes_;
    return;
  }
  --counted_;
  const auto found = counted_by_peer_.find(entry.key);
  if (--found->second == 0) counted_by_peer_.erase(found);
}

void Server::ended(Session* session, const std::exception_ptr& error) {
  if (error) note("http.connection_failed peer=" + http::describe(session->peer()));
  session->close();
  const auto found = sessions_.find(session);
  uncount(found->second);
  sessions_.erase(found);
  restore_reserve();
  if (sessions_.empty()) {
    sweep_timer_.cancel();
    sweep_at_ = SteadyTime::max();
  }
}

void Server::watch(SteadyTime deadline) {
  if (deadline >= sweep_at_) return;  // the sweep will come by and see it
  sweep_at_ = deadline;
  sweep_timer_.expires_at(deadline);
  sweep_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) sweep();
  });
}

void Server::sweep() {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (sweep_at_ > now) return;  // it was set anew while this call was on its way
  SteadyTime next = SteadyTime::max();
  for (auto& [session, entry] : sessions_) {
    if (session->deadline() <= now) session->expire();
    next = std::min(next, session->deadline());
  }
  sweep_at_ = SteadyTime::max();
  if (next != SteadyTime::max()) watch(std::max<SteadyTime>(next, now + kSweepPause));
}

std::shared_ptr<const std::string> Server::tail(http::Persistence persistence) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (now != tails_second_) {
    tails_second_ = now;
    tails_ = {};
  }
  auto& tail = tails_[static_cast<std::size_t>(persistence)];
  if (!tail) tail = std::make_shared<const std::string>(http::tail_of(now, persistence));
  return tail;
}

void Server::note(std::string_view what) {
  if (note_) note_(what);
}

void Server::stop(std::chrono::milliseconds grace, std::function<void()> on_stopped) {
  FDBPACK_CHECK(!is_stopping_);
  is_stopping_ = true;
  tls_timer_.cancel();
  for (const auto& listener : listeners_) {
    ::shutdown(listener->socket.fd(), SHUT_RDWR);  // new clients are refused, not left waiting
    boost::system::error_code ignored;
    listener->readiness.cancel(ignored);
    listener->pause.cancel();
  }
  for (auto& [session, entry] : sessions_) {
    if (session->is_waiting_for_client()) session->close();
  }
  stop_timer_.expires_after(grace);
  stop_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    for (auto& [session, entry] : sessions_) {
      session->close();
    }
  });
  tasks_.when_empty([this, on_stopped = std::move(on_stopped)] {
    is_stopped_ = true;
    stop_timer_.cancel();
    sweep_timer_.cancel();
    listeners_.clear();  // the sockets and the name of the unix socket go now
    if (on_stopped) on_stopped();
  });
}

}  // namespace fdbpack::http_server
