// SPDX-License-Identifier: Apache-2.0
//
// Tells when the conf may have changed.
//
//   inotify event --> quiet for 50 ms (at most 1 s) --> nobody writes to it --> on_change
//   every 10 s: the file's identity, size or time is another ---^
//
// inotify sees everything at once; looking every ten seconds is for what it does not: network
// filesystems, exhausted limits, overflows. A file that somebody still has open for writing is left
// alone until it is closed or has not changed for five seconds.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/clock.hpp"
#include "ports/files.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace fdbpack::posix {

class ConfWatch final : public ports::FileWatch {
 public:
  ConfWatch(boost::asio::io_context& io, ports::Clock& clock, std::string path,
            ports::OnFileChange on_change);
  ~ConfWatch() override;

  [[nodiscard]] bool is_degraded() const override { return is_degraded_; }

 private:
  // What tells one content from another without reading it.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  void arm();
  void wait_for_events();
  void read_events();
  void note_event();
  void settle();
  void look();
  [[nodiscard]] std::optional<Stamp> stamp() const;
  [[nodiscard]] bool is_being_written() const;

  ports::Clock& clock_;
  std::string path_;
  ports::OnFileChange on_change_;
  boost::asio::posix::stream_descriptor events_;
  std::unique_ptr<ports::Alarm> settle_;
  std::unique_ptr<ports::Alarm> look_;
  std::unordered_map<int, std::set<std::string>> names_;  // by watch
  std::optional<Stamp> told_;                             // the content that was told of
  std::optional<Instant> first_event_;
  bool is_degraded_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fdbpack::posix
