// SPDX-License-Identifier: Apache-2.0
//
// Calls to the Kubernetes API server. Each call answers exactly once, later and on the caller's
// thread, within its deadline whatever the server does.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/result.hpp"
#include "fdbpack/http/message.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace fdbpack::ports {

struct ApiRequest {
  http::Method method = http::Method::get;
  std::string target;
  std::string content_type;  // empty: there is no body
  std::string body;
  Duration deadline = std::chrono::seconds(10);
};

struct ApiReply {
  int status = 0;
  std::string body;  // of a watch that was granted: nothing
};

class ApiServer {
 public:
  virtual ~ApiServer() = default;

  using OnReply = std::function<void(Result<ApiReply> reply)>;
  using OnLine = std::function<void(std::string_view line)>;

  virtual void send(ApiRequest request, OnReply on_reply) = 0;
  // The lines of the body as they come; `on_end` when there will be no more.
  virtual void watch(ApiRequest request, OnLine on_line, OnReply on_end) = 0;
};

}  // namespace fdbpack::ports
