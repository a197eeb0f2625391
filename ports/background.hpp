// SPDX-License-Identifier: Apache-2.0
//
// A place for calls that block, away from the loop.
#pragma once

#include <functional>

namespace fdbpack::ports {

class Background {
 public:
  virtual ~Background() = default;

  // Calls `work` on another thread and then `done` on the loop's. Works are done one at a time in
  // the order they came; none may throw.
  virtual void run(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace fdbpack::ports
