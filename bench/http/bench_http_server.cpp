// SPDX-License-Identifier: Apache-2.0
//
// Serves one page of a given size from memory, on loopback, until it is told to end. For
// bench/http/run.
//
//   bench_http_server BYTES     prints its port
#include "adapters/http/server.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/http/router.hpp"

#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>

namespace fdbpack {
namespace {

// One route, looked up for every request as in a daemon.
class PageHandler final : public ports::HttpHandler {
 public:
  explicit PageHandler(std::size_t size)
      : page_(http::Page::make("application/json", std::string(size, 'x'))) {
    router_.add({http::Method::get, "/livez", http::Access::probe, 1});
    router_.add({http::Method::get, "/v1/processes/{id}", http::Access::read, 2});
    router_.add({http::Method::get, "/v1/status", http::Access::read, 3});
  }

  ports::Admission admit(const http::Request& head) override {
    match_ = router_.match(head.method, head.target);
    ports::Admission admission;
    if (match_.route == nullptr) admission.refusal = http::problem(404, "there is no such page");
    return admission;
  }
  void handle(const http::Request&, ports::Reply reply) override { reply.send(page_); }

 private:
  http::Router router_;
  http::RouteMatch match_;
  http::PagePtr page_;
};

int serve(int argc, char** argv) {
  const auto size = text::parse_decimal(argc == 2 ? argv[1] : "2048");
  if (!size) return 64;
  boost::asio::io_context io(1);
  PageHandler handler(*size);
  http::Limits limits;
  limits.connections_per_peer_max = 256;  // the one peer is the whole load
  http_server::Server server(io, handler, limits);
  const auto port = server.listen({}, http_server::Server::Security::plain);
  if (!port) {
    std::fprintf(stderr, "bench_http_server: %s\n", port.error().message.c_str());
    return 69;
  }
  std::printf("%u\n", unsigned{*port});
  std::fflush(stdout);
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code&, int) {
    server.stop(std::chrono::milliseconds(100), [] {});
  });
  io.run();
  return 0;
}

}  // namespace
}  // namespace fdbpack

int main(int argc, char** argv) {
  return fdbpack::serve(argc, argv);
}
