// SPDX-License-Identifier: Apache-2.0
//
// Room on disks, and who uses it. A disk that does not answer (a network file system whose server
// is gone) holds up nobody: its directories are reported as such.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fdbpack::ports {

struct DiskRequest {
  std::string path;
  bool measures_use = false;  // adds up the files below it, which takes its time
};

struct DiskReading {
  std::string path;
  bool is_missing = false;
  bool is_unknown = false;  // nobody could look, through no fault of the disk; `error` says why
  bool is_read_only = false;
  std::string error;         // why there is nothing to tell; empty: there is
  std::string file_system;   // "ext4", "xfs", "nfs"; "0x…" where we know no name
  std::uint64_t device = 0;  // the same for all directories on one file system
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // for those who are not root
  bool has_use = false;
  std::uint64_t used_bytes = 0;
  bool is_use_partial = false;  // there were too many files to count them all
};

class DiskGauge {
 public:
  virtual ~DiskGauge() = default;

  // Calls back once, later, on the agent's thread, with one reading for each request, in any order.
  // False, and nothing is done, while an earlier call is not answered yet.
  [[nodiscard]] virtual bool read(std::vector<DiskRequest> requests,
                                  std::function<void(std::vector<DiskReading>)> on_done) = 0;
};

}  // namespace fdbpack::ports
