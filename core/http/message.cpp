// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/message.hpp"

#include <array>
#include <utility>

namespace fdbpack::http {
namespace {

constexpr std::array<std::pair<std::string_view, Method>, 7> kMethods{{
    {"GET", Method::get},
    {"HEAD", Method::head},
    {"POST", Method::post},
    {"PUT", Method::put},
    {"PATCH", Method::patch},
    {"DELETE", Method::delete_},
    {"OPTIONS", Method::options},
}};

}  // namespace

Method method_of(std::string_view name) {
  for (const auto& [text, method] : kMethods) {
    if (text == name) return method;
  }
  return Method::unknown;
}

std::string_view to_string(Method method) {
  for (const auto& [text, known] : kMethods) {
    if (known == method) return text;
  }
  return "unknown";
}

std::string to_string(const NameAttributes& name) {
  std::string result;
  for (const auto& [attribute, value] : name) {
    if (!result.empty()) result += ',';
    result += attribute + '=' + value;
  }
  return result;
}

std::string describe(const Peer& peer) {
  std::string result;
  if (peer.credentials) {
    result = "unix uid=" + std::to_string(peer.credentials->uid) +
             " pid=" + std::to_string(peer.credentials->pid);
  } else if (peer.address.find(':') != std::string::npos) {
    result = '[' + peer.address + "]:" + std::to_string(peer.port);
  } else {
    result = peer.address + ':' + std::to_string(peer.port);
  }
  if (peer.certificate) result += " (" + to_string(peer.certificate->subject) + ')';
  return result;
}

}  // namespace fdbpack::http
