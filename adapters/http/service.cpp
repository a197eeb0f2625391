// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/service.hpp"

#include "fdbpack/http/peer_rules.hpp"

#include <algorithm>

namespace fdbpack::http_server {

HttpService::HttpService(boost::asio::io_context& io, ports::HttpHandler& handler,
                         http::ServiceSettings settings, Server::Note note,
                         std::function<void()> on_change, Pace pace)
    : settings_(std::move(settings)),
      note_(std::move(note)),
      on_change_(std::move(on_change)),
      pace_(pace),
      timer_(io),
      name_watch_(io, [this] { look_after(); }),
      server_(io, handler, settings_.limits, note_) {
  for (const auto& place : settings_.listen)
    listeners_.push_back({place, false, false, ""});
  if (!settings_.socket_path.empty()) listeners_.push_back({{}, true, false, ""});
}

void HttpService::start() {
  look_after();
}

void HttpService::look_after() {
  if (is_stopping_) return;
  find_lost();
  try_all();
  if (std::exchange(is_changed_, false) && on_change_) on_change_();
  const bool is_done = std::all_of(listeners_.begin(), listeners_.end(),
                                   [](const Listener& one) { return one.is_open; });
  if (is_done && settings_.socket_path.empty()) return;  // nothing that could change
  timer_.expires_after(is_done ? pace_.look : pace_.retry);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) look_after();
  });
}

void HttpService::find_lost() {
  for (Listener& listener : listeners_) {
    if (!listener.is_unix || !listener.is_open || server_.has_name(settings_.socket_path)) continue;
    server_.abandon(settings_.socket_path);
    listener.is_open = false;
    listener.trouble = "somebody removed or replaced it";
    is_changed_ = true;
    if (note_) {
      note_("http.lost place=" + name_of(listener) + " reason=\"" + listener.trouble +
            "\" (it is made again)");
    }
  }
}

void HttpService::try_all() {
  for (Listener& listener : listeners_) {
    if (listener.is_open) continue;
    const Status status = try_one(listener);
    const std::string trouble = status ? "" : status.error().message;
    if (!status && trouble == listener.trouble) continue;
    is_changed_ = true;
    listener.is_open = status.has_value();
    listener.trouble = trouble;
    if (listener.is_unix && listener.is_open) name_watch_.watch(settings_.socket_path);
    if (note_) {
      note_(status ? "http.listening place=" + name_of(listener)
                   : "http.not_listening place=" + name_of(listener) + " reason=\"" + trouble +
                         "\" (it is tried again)");
    }
  }
}

Status HttpService::prepare_tls() {
  if (has_tls_) return {};
  TlsFiles files;
  files.certificate_file = settings_.certificate_file;
  files.key_file = settings_.key_file;
  files.authority_file = settings_.authority_file;
  // Probes come without a certificate; what else one gets without is the rules' matter.
  files.client_certificate = TlsFiles::ClientCertificate::optional;
  const auto accepts = [](bool is_given, const std::string& rules) {
    const auto parsed = http::PeerRules::parse(rules);
    return is_given && parsed && parsed->accepts_unverified();
  };
  files.accepts_unverified = accepts(settings_.has_read_peers, settings_.read_peers) ||
                             accepts(settings_.has_operate_peers, settings_.operate_peers);
  FDBPACK_TRY_VOID(server_.use_tls(std::move(files)));
  has_tls_ = true;
  return {};
}

Status HttpService::try_one(Listener& listener) {
  if (listener.is_unix) {
    UnixPlace place;
    place.path = settings_.socket_path;
    // Who is named an operator must be able to connect; what anybody may do is decided by who it
    // is.
    const bool has_operators = !settings_.operator_uids.empty() || !settings_.operator_gids.empty();
    place.mode = has_operators ? settings_.socket_mode | 0006u : settings_.socket_mode;
    return server_.listen(place);
  }
  const bool is_tls = settings_.uses_tls(listener.place);
  if (is_tls) FDBPACK_TRY_VOID(prepare_tls());
  const TcpPlace place{listener.place.address, listener.place.port};
  FDBPACK_TRY(listener.place.port,
              server_.listen(place, is_tls ? Server::Security::tls : Server::Security::plain));
  return {};
}

std::string HttpService::name_of(const Listener& listener) const {
  if (listener.is_unix) return "unix:" + settings_.socket_path;
  http::ListenPlace place = listener.place;
  place.security = settings_.uses_tls(place) ? http::ListenPlace::Security::tls
                                             : http::ListenPlace::Security::plain;
  return http::to_string(place);
}

std::vector<HttpService::Place> HttpService::places() const {
  std::vector<Place> result;
  for (const Listener& listener : listeners_)
    result.push_back({name_of(listener), listener.is_open, listener.trouble});
  return result;
}

void HttpService::stop(std::chrono::milliseconds grace, std::function<void()> on_stopped) {
  if (std::exchange(is_stopping_, true)) return;
  timer_.cancel();
  name_watch_.stop();
  server_.stop(grace, std::move(on_stopped));
}

}  // namespace fdbpack::http_server
