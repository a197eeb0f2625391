// SPDX-License-Identifier: Apache-2.0
//
// What an HTTP server asks of those who answer.
//
//   admit(head)      before the body is read: may it come, and how large?
//   handle(request)  the answer, at once or later, through a Reply
//
// Everything runs on the thread of the server.
#pragma once

#include "fdbpack/http/answer.hpp"
#include "fdbpack/http/message.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace fdbpack::ports {

// True when nobody waits for an answer any more, as far as can be told: a client that ended its
// sending long ago counts as gone, and may yet read. Read on any thread.
using ClientGone = std::shared_ptr<const std::atomic<bool>>;

// Where a server waits for an answer.
class ReplySlot {
 public:
  virtual ~ReplySlot() = default;
  virtual void put(http::Answer answer) = 0;
  [[nodiscard]] virtual ClientGone gone() = 0;
};

// The right to answer one request, once. A Reply that is dropped answers with 500, so that no
// client waits for nothing. Answering a client that has gone is harmless.
class Reply {
 public:
  explicit Reply(std::shared_ptr<ReplySlot> slot) : slot_(std::move(slot)) {}
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&&) = delete;
  ~Reply() {
    if (slot_) send(http::problem(500, "the request was dropped without an answer"));
  }

  // For work that takes long: it may stop when the client has gone. Before send().
  [[nodiscard]] ClientGone gone() const { return slot_->gone(); }

  void send(http::Answer answer) {
    if (const auto slot = std::exchange(slot_, nullptr)) slot->put(std::move(answer));
  }

 private:
  std::shared_ptr<ReplySlot> slot_;
};

struct Admission {
  std::size_t body_bytes_max = 0;
  bool is_probe = false;  // answered even by a server that is full
  std::optional<http::Response> refusal;
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  [[nodiscard]] virtual Admission admit(const http::Request& head) = 0;
  // The request is the server's and is gone after the call: who answers later keeps a copy.
  virtual void handle(const http::Request& request, Reply reply) = 0;
};

}  // namespace fdbpack::ports
