// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/log_sink.hpp"

#include "adapters/posix/fd.hpp"
#include "tests/adapters/posix/support.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

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
  LogSink log(io_, clock_, {LogFormat::sidecar, "g"}, writer_.get());
  log.write(Severity::info, "not named", "Listening\non");
  log.write(Severity::warning, "x", "w");
  log.write(Severity::error, "x", "e");
  log.flush();
  const std::string time = "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}";
  EXPECT_THAT(read_some(), testing::MatchesRegex(time + " INFO Listening on\n" + time +
                                                 " WARNING w\n" + time + " ERROR e\n"));
}

TEST_F(LogSinkTo, WritesFdbmonitorsFormat) {
  LogSink log(io_, clock_, {LogFormat::fdbmonitor, "g1"}, writer_.get());
  log.write(Severity::error, "fdbserver.1", std::string_view("a\0b", 3));
  log.flush();
  EXPECT_THAT(read_some(),
              testing::MatchesRegex("Time=\"[0-9]+\\.[0-9]{6}\" Severity=\"40\" LogGroup=\"g1\" "
                                    "Process=\"fdbserver.1\": a\\\\0b\n"));
}

TEST_F(LogSinkTo, WritesJson) {
  LogSink log(io_, clock_, {LogFormat::json, "g"}, writer_.get());
  log.write(Severity::info, "p", "say \"hi\"\xff");
  log.flush();
  EXPECT_THAT(read_some(),
              testing::EndsWith("\"process\":\"p\",\"message\":\"say \\\"hi\\\"\xEF\xBF\xBD\"}\n"));
}

TEST_F(LogSinkTo, WritesText) {
  LogSink log(io_, clock_, {LogFormat::text, "g"}, writer_.get());
  log.write(Severity::warning_always, "p", "one\ntwo");
  log.flush();
  EXPECT_THAT(read_some(), testing::MatchesRegex("20[0-9-]+T[0-9:]+\\.[0-9]{3}[+-][0-9:]{5} "
                                                 "warning p: one two\n"));
}

TEST_F(LogSinkTo, WritesWhatTheDropInsWrite) {
  std::string copied;
  const auto copy = [&](std::string_view line) { copied += line; };
  LogSink sidecar(io_, clock_, {LogFormat::sidecar, ""}, writer_.get());
  LogSink zap(io_, clock_, {LogFormat::zap, "", LogTarget::stream, copy}, writer_.get());
  sidecar.write(Severity::warning, "p", "text");
  sidecar.flush();
  EXPECT_THAT(read_some(), testing::MatchesRegex("20[0-9-]+ [0-9:]+,[0-9]{3} WARNING text\n"));
  zap.write(Severity::error, "p", "te\"xt");
  zap.write(Severity::info, "fdbmonitor", "own");
  zap.flush();
  const std::string zapped = read_some();
  EXPECT_THAT(zapped, testing::MatchesRegex(
                          "\\{\"level\":\"error\",\"ts\":[0-9]+\\.[0-9]{6},\"process\":\"p\","
                          "\"msg\":\"te\\\\\"xt\"\\}\n"
                          "\\{\"level\":\"info\",\"ts\":[0-9.]+,\"msg\":\"own\"\\}\n"));
  EXPECT_EQ(copied, zapped);
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

// Whoever reads the datagrams: syslog or the journal.
class LogSinkToSocket : public testing::Test {
 protected:
  void listen() {
    reader_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(reader_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  std::string path() const { return dir_.file("socket"); }
  std::string read_one() {
    std::string text(1 << 17, '\0');
    const ssize_t size = ::recv(reader_.get(), text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }
  LogSink sink(LogTarget target) {
    return LogSink(io_, clock_, {LogFormat::fdbmonitor, "g", target, {}, path()});
  }

  support::TempDir dir_;
  boost::asio::io_context io_{1};
  SteadyClock clock_{io_};
  UniqueFd reader_;
};

TEST_F(LogSinkToSocket, SyslogGetsFdbmonitorsLine) {
  listen();
  auto log = sink(LogTarget::syslog);
  log.write(Severity::error, "p", "a\nb");
  EXPECT_THAT(read_one(), testing::MatchesRegex("<27>[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} "
                                                "fdbmonitor\\[[0-9]+\\]: LogGroup=\"g\" "
                                                "Process=\"p\": a b"));
}

TEST_F(LogSinkToSocket, TheJournalGetsFields) {
  listen();
  auto log = sink(LogTarget::journal);
  log.write(Severity::warning_always, "fdbserver.1", "text");
  EXPECT_EQ(read_one(),
            "MESSAGE=fdbserver.1: text\nPRIORITY=4\nSYSLOG_FACILITY=3\n"
            "SYSLOG_IDENTIFIER=fdbpack-agent\nFDBPACK_PROCESS=fdbserver.1\n"
            "FDBPACK_SEVERITY=30\nFDBPACK_LOG_GROUP=g\n");
  log.write(Severity::info, "fdbmonitor", "one\ntwo");
  EXPECT_THAT(read_one(), testing::StartsWith(std::string(
                              "MESSAGE\n\x07\0\0\0\0\0\0\0one\ntwo\nPRIORITY=6\n", 35)));
  log.write(Severity::info, "p", std::string(64 * 1024, 'x'));
  EXPECT_GT(read_one().size(), 64u * 1024);
}

TEST_F(LogSinkToSocket, AJournalThatComesLateIsToldWhatItMissed) {
  auto log = sink(LogTarget::journal);
  log.write(Severity::info, "p", "nobody hears it");
  EXPECT_EQ(log.dropped(), 1u);
  listen();
  log.write(Severity::info, "p", "text");
  EXPECT_THAT(read_one(), testing::StartsWith("MESSAGE=p: text\n"));
  EXPECT_THAT(read_one(), testing::StartsWith("MESSAGE=1 log lines were dropped"));
}

TEST_F(LogSinkToSocket, AJournalThatDoesNotReadCostsLinesButNoTime) {
  listen();
  auto log = sink(LogTarget::journal);
  for (int i = 0; i < 10000 && log.dropped() == 0; ++i)
    log.write(Severity::info, "p", "text");
  EXPECT_GT(log.dropped(), 0u);
}

}  // namespace
}  // namespace fdbpack::posix
