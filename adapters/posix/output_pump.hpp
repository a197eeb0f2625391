// SPDX-License-Identifier: Apache-2.0
//
// Child output through files in memory; why not pipes: docs/design/0002-child-output.md.
//
// One stream, as bytes of an anonymous file that the process appends to:
//
//      0            released          offset                 size
//      | freed .... | read, not freed | to be read ......... |
//                                         ^ boundary: here one process ended and the next began
//
// A line is delivered when its newline is there, when it is longer than kLineBytesMax (in pieces),
// or when its process has ended. Bytes that were delivered are freed at once, which leaves zeros:
// so the next agent finds by itself where to go on. When more than kBacklogBytesMax wait to be read
// the oldest are dropped and counted.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/clock.hpp"
#include "ports/output.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace fdbpack::posix {

class MemoryOutputPump final : public ports::OutputPump {
 public:
  static constexpr std::size_t kLineBytesMax = 64 * 1024;
  static constexpr std::uint64_t kBacklogBytesMax = 8 * 1024 * 1024;

  MemoryOutputPump(boost::asio::io_context& io, ports::Clock& clock, ports::OnLine on_line);
  ~MemoryOutputPump() override;

  [[nodiscard]] Result<ports::OutputId> open(std::string_view name) override;
  [[nodiscard]] Result<ports::OutputId> adopt(std::string_view name, int pid) override;
  [[nodiscard]] Result<ports::OutputId> take(std::string_view name, ports::OutputFds fds) override;
  [[nodiscard]] ports::OutputFds fds(ports::OutputId id) const override;
  void end_of_process(ports::OutputId id) override;
  void drain(ports::OutputId id) override;
  void close(ports::OutputId id) override;
  [[nodiscard]] ports::OutputCounters counters(ports::OutputId id) const override;
  [[nodiscard]] bool is_degraded() const override { return is_degraded_; }

 private:
  struct File {
    UniqueFd fd;
    int watch = -1;
    std::uint64_t offset = 0;
    std::uint64_t released = 0;
    bool skips_zeros = false;  // begins where an earlier agent stopped
    bool is_dirty = false;     // in dirty_
    std::vector<std::uint64_t> boundaries;
  };
  struct Pair {
    std::array<File, 2> files;
    ports::OutputCounters counters;
  };
  struct Place {
    ports::OutputId id;
    ports::Stream stream;
  };

  Result<ports::OutputId> add(std::array<UniqueFd, 2> fds, bool skips_zeros);
  void watch(ports::OutputId id, ports::Stream stream);
  void wait_for_events();
  void read_events();
  void look_at_all();
  void mark_dirty(Place place);
  void drain_dirty();
  bool drain_some(Place place);
  void skip_backlog(Pair& pair, File& file);
  std::size_t deliver(Place place, Pair& pair, File& file, std::string_view text, bool is_end);
  static void release(File& file);

  boost::asio::io_context& io_;
  ports::OnLine on_line_;
  boost::asio::posix::stream_descriptor events_;
  std::unique_ptr<ports::Alarm> look_;  // only while degraded
  ports::Clock& clock_;
  bool is_degraded_ = false;
  bool is_drain_posted_ = false;
  ports::OutputId next_id_ = 1;
  std::unordered_map<ports::OutputId, std::unique_ptr<Pair>> pairs_;
  std::unordered_map<int, Place> watches_;
  std::deque<Place> dirty_;
  std::unique_ptr<char[]> buffer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fdbpack::posix
