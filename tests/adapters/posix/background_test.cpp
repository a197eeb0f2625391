// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/background.hpp"

#include <gmock/gmock.h>

#include <future>
#include <stdexcept>
#include <vector>

namespace fdbpack::posix {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

class Worker : public testing::Test {
 protected:
  // Turns the loop until `count` ends were told.
  bool turn_until_done(int count) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (done_ < count && std::chrono::steady_clock::now() < deadline) {
      io_.restart();
      io_.run_one_for(100ms);
    }
    return done_ >= count;
  }
  std::function<void()> done() {
    return [this] { ++done_; };
  }

  boost::asio::io_context io_{1};
  std::vector<std::string> failures_;
  int done_ = 0;
  WorkerThread worker_{io_, [this](const std::string& what) { failures_.push_back(what); }};
};

TEST_F(Worker, DoesOneAfterTheOther) {
  std::vector<int> order;
  for (int i = 0; i < 5; ++i)
    worker_.run([&order, i] { order.push_back(i); }, done());
  ASSERT_TRUE(turn_until_done(5));
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(worker_.stop(20s));
}

TEST_F(Worker, WhatAWorkThrowsIsSaidAndTheNextOneRuns) {
  bool has_run = false;
  worker_.run([] { throw std::runtime_error("out of something"); }, done());
  worker_.run([&] { has_run = true; }, done());
  ASSERT_TRUE(turn_until_done(2));
  EXPECT_TRUE(has_run);
  EXPECT_THAT(failures_, testing::ElementsAre("out of something"));
}

TEST_F(Worker, DoesNotWaitForEverForAWorkThatHangs) {
  std::promise<void> begun, end;
  bool has_run = false;
  worker_.run(
      [&] {
        begun.set_value();
        end.get_future().wait();
      },
      done());
  worker_.run([&] { has_run = true; }, done());
  begun.get_future().wait();
  EXPECT_FALSE(worker_.stop(10ms));
  end.set_value();
  EXPECT_TRUE(worker_.stop(20s));
  EXPECT_FALSE(has_run) << "what had not begun is forgotten";
}

}  // namespace
}  // namespace fdbpack::posix
