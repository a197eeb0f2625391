// SPDX-License-Identifier: Apache-2.0
//
// A place for calls that block, away from the loop.
#pragma once

#include <functional>

namespace fdbpack::ports {

class Background {
 public:
  virtual ~Background() = default;

  // Calls `work` on another thread and then `done` on the loop's, also after a work that threw:
  // who needs to know sees that it left no outcome. Works are done one at a time in the order they
  // came.
  virtual void run(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace fdbpack::ports
