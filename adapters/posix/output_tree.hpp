// SPDX-License-Identifier: Apache-2.0
//
// A directory whose names the kernel keeps inside (openat2, RESOLVE_BENEATH). Where that call is
// missing or forbidden, names are followed step by step and symbolic links not at all.
//
//   write:  .fdbpack-tmp.<random> ── bytes, mode, fsync ── rename ── fsync of the folder
//
// A temporary file is locked while somebody writes to it. Those of writers that were killed are
// taken for what they are by the next start (sweep) and removed.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/output_tree.hpp"

#include <atomic>
#include <functional>

namespace fdbpack::posix {

class PosixOutputTree final : public ports::OutputTree {
 public:
  explicit PosixOutputTree(std::string root) : root_(std::move(root)) {}

  [[nodiscard]] Result<std::string> hash(const std::string& path,
                                         const std::atomic<bool>& is_unwanted) override;
  [[nodiscard]] Result<bool> exists(const std::string& path) override;
  [[nodiscard]] Status copy(const ports::CopyRequest& request) override;
  [[nodiscard]] Status write(const std::string& path, std::string_view text,
                             unsigned mode) override;

  // Ends calls that are under way with an error, and all that come.
  void cancel() { is_cancelled_ = true; }
  // Removes what killed writers left in a folder below the root; "." is the root itself.
  void sweep(const std::string& folder);

 private:
  using Fill = std::function<Status(int fd)>;

  [[nodiscard]] Result<UniqueFd> open_root() const;
  [[nodiscard]] Result<UniqueFd> open_below(const std::string& path, int flags) const;
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& path) const;
  [[nodiscard]] Result<UniqueFd> make_folder(const std::string& path) const;
  [[nodiscard]] Result<bool> is_same(int source, const ports::CopyRequest& request,
                                     unsigned mode) const;
  [[nodiscard]] Status replace(const std::string& path, unsigned mode, const Fill& fill) const;

  std::string root_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace fdbpack::posix
