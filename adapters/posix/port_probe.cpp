// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/port_probe.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace fdbpack::posix {

namespace asio = boost::asio;

namespace {

constexpr auto kRetry = std::chrono::milliseconds(250);

}  // namespace

class ConnectProbe::Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(ConnectProbe& owner, asio::io_context& io, ports::Clock& clock,
          asio::ip::tcp::endpoint endpoint, Instant give_up_at, std::function<void(bool)> on_answer)
      : owner_(owner),
        clock_(clock),
        endpoint_(std::move(endpoint)),
        give_up_at_(give_up_at),
        on_answer_(std::move(on_answer)),
        socket_(io),
        alarm_(clock.make_alarm([this] { on_alarm(); })) {}

  void connect() {
    is_connecting_ = true;
    alarm_->set(std::min<Instant>(give_up_at_, clock_.now() + std::chrono::seconds(2)));
    socket_.async_connect(endpoint_, [weak = weak_from_this()](boost::system::error_code error) {
      if (const auto self = weak.lock()) self->on_connected(!error);
    });
  }

 private:
  void on_connected(bool accepts) {
    is_connecting_ = false;
    boost::system::error_code ignored;
    socket_.close(ignored);
    if (accepts || clock_.now() >= give_up_at_) return answer(accepts);
    alarm_->set(clock_.now() + kRetry);
  }

  void on_alarm() {
    boost::system::error_code ignored;
    if (is_connecting_) {
      socket_.close(ignored);  // on_connected follows
    } else {
      connect();
    }
  }

  void answer(bool accepts) {
    alarm_->clear();
    const auto keep = shared_from_this();
    owner_.attempts_.erase(keep);
    on_answer_(accepts);
  }

  ConnectProbe& owner_;
  ports::Clock& clock_;
  asio::ip::tcp::endpoint endpoint_;
  Instant give_up_at_;
  std::function<void(bool)> on_answer_;
  asio::ip::tcp::socket socket_;
  std::unique_ptr<ports::Alarm> alarm_;
  bool is_connecting_ = false;
};

ConnectProbe::ConnectProbe(asio::io_context& io, ports::Clock& clock) : io_(io), clock_(clock) {}

ConnectProbe::~ConnectProbe() = default;

void ConnectProbe::wait_for_listener(std::string address, std::uint16_t port, Duration patience,
                                     std::function<void(bool accepts)> on_answer) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) {
    asio::post(io_, [on_answer = std::move(on_answer)] { on_answer(false); });
    return;
  }
  const auto attempt =
      std::make_shared<Attempt>(*this, io_, clock_, asio::ip::tcp::endpoint(ip, port),
                                clock_.now() + patience, std::move(on_answer));
  attempts_.insert(attempt);
  attempt->connect();
}

}  // namespace fdbpack::posix
