// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/log_sink.hpp"

#include "tests/adapters/posix/support.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>

#include <array>

namespace fdbpack::posix {
namespace {

using supervise::Severity;

class LogSinkTo : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader_ = UniqueFd(ends[0]);
    writer_ = UniqueFd(ends[1]);
    ::fcntl(reader_.get(), F_SETFL, O_NONBLOCK);
    ::signal(SIGPIPE, SIG_IGN);
  }
  std::string read_some() {
    std::string text(1 << 20, '\0');
    const ssize_t size = ::read(reader_.get(), text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

  boost::asio::io_context io_{1};
  SteadyClock clock_{io_};
  UniqueFd reader_;
  UniqueFd writer_;
};

TEST_F(LogSinkTo, WritesSidecarPysFormat) {
  LogSink log(io_, clock_, {LogFormat::sidecar, "g", false}, writer_.get());
  log.write(Severity::info, "not named", "Listening\non");
  log.write(Severity::warning, "x", "w");
  log.write(Severity::error, "x", "e");
  log.flush();
  const std::string time = "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}";
  EXPECT_THAT(read_some(), testing::MatchesRegex(time + " INFO Listening on\n" + time +
                                                 " WARNING w\n" + time + " ERROR e\n"));
}

TEST_F(LogSinkTo, WritesFdbmonitorsFormat) {
  LogSink log(io_, clock_, {LogFormat::fdbmonitor, "g1", false}, writer_.get());
  log.write(Severity::error, "fdbserver.1", std::string_view("a\0b", 3));
  log.flush();
  EXPECT_THAT(read_some(),
              testing::MatchesRegex("Time=\"[0-9]+\\.[0-9]{6}\" Severity=\"40\" LogGroup=\"g1\" "
                                    "Process=\"fdbserver.1\": a\\\\0b\n"));
}

TEST_F(LogSinkTo, WritesJson) {
  LogSink log(io_, clock_, {LogFormat::json, "g", false}, writer_.get());
  log.write(Severity::info, "p", "say \"hi\"\xff");
  log.flush();
  EXPECT_THAT(read_some(),
              testing::EndsWith("\"process\":\"p\",\"message\":\"say \\\"hi\\\"\xEF\xBF\xBD\"}\n"));
}

TEST_F(LogSinkTo, AReaderThatDoesNotReadCostsLinesButNoTime) {
  LogSink log(io_, clock_, {}, writer_.get());
  const std::string line(1000, 'x');
  for (int i = 0; i < 1000; ++i)
    log.write(Severity::info, "p", line);
  EXPECT_GT(log.dropped(), 0u);
  std::string all;
  ASSERT_TRUE(test::run_until(io_, [&] {
    all += read_some();
    return all.find("log lines were dropped") != std::string::npos;
  }));
}

TEST_F(LogSinkTo, AReaderThatIsGoneIsSurvived) {
  LogSink log(io_, clock_, {}, writer_.get());
  reader_.reset();
  log.write(Severity::info, "p", "text");
  log.flush();
  EXPECT_EQ(log.dropped(), 1u);
}

}  // namespace
}  // namespace fdbpack::posix
