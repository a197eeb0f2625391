// SPDX-License-Identifier: Apache-2.0
//
// What the processes write to stdout and stderr, line by line.
//
// Each process has two streams that outlive its restarts and the agent. Writing to them never
// blocks and never fails for want of a reader; what cannot be kept is dropped and counted. See
// docs/design/0002-child-output.md.
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace fdbpack::ports {

enum class Stream { out, err };

// Names the two streams of one process within one OutputPump.
using OutputId = std::uint32_t;

struct OutputFds {
  int out = -1;
  int err = -1;
};

struct OutputCounters {
  std::uint64_t lines = 0;
  std::uint64_t bytes_dropped = 0;
  std::uint64_t lines_cut = 0;  // longer than the longest line that is kept whole
};

// The line is without its newline, may hold any byte, and is valid during the call only.
using OnLine = std::function<void(OutputId id, Stream stream, std::string_view line)>;

class OutputPump {
 public:
  virtual ~OutputPump() = default;

  [[nodiscard]] virtual Result<OutputId> open(std::string_view name) = 0;
  // The streams that a live process already writes to. Fails when they are not of our making.
  [[nodiscard]] virtual Result<OutputId> adopt(std::string_view name, int pid) = 0;
  // Streams that were handed over as descriptors by a re-exec; takes them over.
  [[nodiscard]] virtual Result<OutputId> take(std::string_view name, OutputFds fds) = 0;
  // The descriptors to give to a child as its stdout and stderr.
  [[nodiscard]] virtual OutputFds fds(OutputId id) const = 0;

  // The process is gone: what it wrote last is delivered even without a newline, and is not joined
  // with what the next one writes. Returns at once; the lines come later.
  virtual void end_of_process(OutputId id) = 0;
  // Delivers all that is there now.
  virtual void drain(OutputId id) = 0;
  virtual void close(OutputId id) = 0;

  [[nodiscard]] virtual OutputCounters counters(OutputId id) const = 0;
  // Nothing tells us of new output; it is looked for once a second.
  [[nodiscard]] virtual bool is_degraded() const = 0;
};

}  // namespace fdbpack::ports
