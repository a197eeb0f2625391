// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/name_watch.hpp"

#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace fdbpack::http_server {
namespace {

class NameWatchTest : public testing::Test {
 protected:
  // Lets everything happen that can happen now.
  void turn() {
    io_.restart();
    io_.poll();
  }
  void touch(const std::string& path) {
    mode_ ^= 0100;
    ASSERT_EQ(::chmod(path.c_str(), mode_), 0);
  }

  support::TempDir dir_;
  const std::string first_ = dir_.write("first", "");
  const std::string second_ = dir_.write("second", "");
  boost::asio::io_context io_{1};
  int calls_ = 0;
  NameWatch watch_{io_, [this] { ++calls_; }};
  ::mode_t mode_ = 0600;
};

TEST_F(NameWatchTest, TellsOfEachChangeOnceUntilItIsStopped) {
  watch_.watch(first_);
  turn();
  EXPECT_EQ(calls_, 0);
  for (int changes = 1; changes <= 3; ++changes) {
    touch(first_);
    turn();
    EXPECT_EQ(calls_, changes);
  }
  ASSERT_EQ(::unlink(first_.c_str()), 0);
  turn();
  EXPECT_EQ(calls_, 4);
  watch_.stop();
  turn();
  EXPECT_EQ(calls_, 4);
}

// The change of the first file and the handler that turns to the second one are ready in the same
// turn of the loop, in both orders. Whichever comes first, one wait is left.
TEST_F(NameWatchTest, AChangeThatIsOnItsWayDoesNotWaitForTheNextFile) {
  boost::asio::posix::stream_descriptor bell(io_);
  for (const bool rings_first : {true, false}) {
    SCOPED_TRACE(rings_first);
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    bell.assign(pipe[0]);
    watch_.watch(first_);
    bell.async_wait(boost::asio::posix::descriptor_base::wait_read,
                    [&](const boost::system::error_code&) { watch_.watch(second_); });
    turn();
    if (!rings_first) touch(first_);
    EXPECT_EQ(::write(pipe[1], "!", 1), 1);
    if (rings_first) touch(first_);
    turn();
    for (int changes = 1; changes <= 3; ++changes) {
      calls_ = 0;
      touch(second_);
      turn();
      EXPECT_EQ(calls_, 1);
    }
    calls_ = 0;
    touch(first_);
    turn();
    EXPECT_EQ(calls_, 0) << "the first one is nobody's business any more";
    bell.close();
    ::close(pipe[1]);
  }
}

}  // namespace
}  // namespace fdbpack::http_server
