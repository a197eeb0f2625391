// SPDX-License-Identifier: Apache-2.0
//
// Log lines to a descriptor, written once per turn of the loop, after what was urgent. Nothing
// blocks: what the reader does not take waits in a bounded buffer; what does not fit there is
// dropped, and a line says how many were as soon as there is room again.
#pragma once

#include "adapters/posix/fd.hpp"
#include "adapters/posix/log_output.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <memory>
#include <string>

namespace fdbpack::posix {

class StreamLog final : public LogOutput {
 public:
  StreamLog(boost::asio::io_context& io, int fd, std::unique_ptr<spdlog::formatter> formatter,
            std::function<void(std::string_view line)> copy);
  ~StreamLog() override;

  void log(const spdlog::details::log_msg& message) override;
  void flush() override;

 private:
  enum class Kind { file, socket, other };

  void append(const spdlog::details::log_msg& message);
  void announce();
  void flush_soon();
  void wait_for_room();
  [[nodiscard]] ssize_t write_some(std::string_view text);

  boost::asio::io_context& io_;
  int fd_;        // the one given
  UniqueFd own_;  // the same file, opened again so that it can be made non-blocking
  Kind kind_ = Kind::other;
  std::function<void(std::string_view line)> copy_;
  boost::asio::posix::stream_descriptor room_;
  std::string pending_;
  bool is_flush_posted_ = false;
  bool is_waiting_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fdbpack::posix
