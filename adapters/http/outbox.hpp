// SPDX-License-Identifier: Apache-2.0
//
// The two buffers of a connection.
//
//   Input    bytes that came and are not yet read; grows as needed, up to a limit
//   Outbox   answers that are not yet sent, as one list of buffers for one gathered write:
//            |lead|tail|body|lead|tail|body|…
#pragma once

#include "fdbpack/http/answer.hpp"

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http_server {

class Input {
 public:
  struct Room {
    char* data;
    std::size_t size;
  };

  explicit Input(std::size_t size_first) : bytes_(size_first) {}

  [[nodiscard]] std::string_view view() const { return {bytes_.data() + begin_, end_ - begin_}; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // A place for the next bytes. Doubles when it is full, but not beyond `size_max`, which the
  // parser refuses to see unread anyway.
  [[nodiscard]] Room room(std::size_t size_max) {
    if (begin_ > 0) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == bytes_.size()) {
      bytes_.resize(std::max(std::min(bytes_.size() * 2, size_max), bytes_.size() + 1));
    }
    return {bytes_.data() + end_, bytes_.size() - end_};
  }
  void commit(std::size_t count) { end_ += count; }

 private:
  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

class Outbox {
 public:
  using Buffers = std::vector<boost::asio::const_buffer>;

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

  void push(http::Outgoing answer, std::shared_ptr<const std::string> tail) {
    items_.push_back({std::move(answer), std::move(tail)});
  }

  // What is still to be sent, as of now. Views of what the outbox holds.
  [[nodiscard]] const Buffers& buffers() {
    buffers_.clear();
    std::size_t skip = sent_;
    const auto add = [&](std::string_view part) {
      const std::size_t skipped = std::min(skip, part.size());
      skip -= skipped;
      part.remove_prefix(skipped);
      if (!part.empty()) buffers_.emplace_back(part.data(), part.size());
    };
    for (const Item& item : items_) {
      add(item.answer.lead());
      add(*item.tail);
      add(item.answer.body());
    }
    return buffers_;
  }

  // The next bytes as one buffer, for streams that send each buffer on its own: small parts are
  // put together, large ones are not copied.
  [[nodiscard]] boost::asio::const_buffer window() {
    const Buffers& parts = buffers();
    if (parts.front().size() >= kWindowSize) return parts.front();
    window_.clear();
    for (const auto& part : parts) {
      const std::size_t count = std::min(part.size(), kWindowSize - window_.size());
      window_.append(static_cast<const char*>(part.data()), count);
    }
    return boost::asio::buffer(window_);
  }

  void consume(std::size_t count) {
    sent_ += count;
    std::size_t total = 0;
    for (const Item& item : items_) {
      total += item.answer.lead().size() + item.tail->size() + item.answer.body().size();
    }
    if (sent_ < total) return;
    sent_ = 0;
    items_.clear();
  }

 private:
  static constexpr std::size_t kWindowSize = 16 * 1024;
  struct Item {
    http::Outgoing answer;
    std::shared_ptr<const std::string> tail;
  };

  std::vector<Item> items_;
  Buffers buffers_;
  std::string window_;
  std::size_t sent_ = 0;
};

}  // namespace fdbpack::http_server
