// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/output_pump.hpp"

#include "tests/adapters/posix/support.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace fdbpack::posix {
namespace {

using test::run_until;

class OutputPump : public testing::Test {
 protected:
  struct Line {
    ports::Stream stream;
    std::string text;
    bool operator==(const Line&) const = default;
  };

  std::unique_ptr<MemoryOutputPump> make_pump() {
    return std::make_unique<MemoryOutputPump>(
        io_, clock_, [this](ports::OutputId, ports::Stream stream, std::string_view line) {
          lines_.push_back({stream, std::string(line)});
        });
  }
  void write(int fd, std::string_view text) {
    ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    for (const auto& line : lines_)
      result.push_back(line.text);
    return result;
  }
  [[nodiscard]] bool wait_for_lines(std::size_t count) {
    return run_until(io_, [&] { return lines_.size() >= count; });
  }

  boost::asio::io_context io_{1};
  SteadyClock clock_{io_};
  std::vector<Line> lines_;
  std::unique_ptr<MemoryOutputPump> pump_ = make_pump();
  ports::OutputId id_ = *pump_->open("test");
};

TEST_F(OutputPump, DeliversLinesAsTheyAreWritten) {
  EXPECT_FALSE(pump_->is_degraded());
  write(pump_->fds(id_).out, "one\ntwo\nthr");
  write(pump_->fds(id_).err, "bad\n");
  ASSERT_TRUE(wait_for_lines(3));
  EXPECT_THAT(lines_, testing::UnorderedElementsAre(Line{ports::Stream::out, "one"},
                                                    Line{ports::Stream::out, "two"},
                                                    Line{ports::Stream::err, "bad"}));
  write(pump_->fds(id_).out, "ee\n");
  ASSERT_TRUE(wait_for_lines(4));
  EXPECT_EQ(lines_.back().text, "three");
}

TEST_F(OutputPump, ALineJustUnderTheLimitIsNotSplit) {
  const std::string line(MemoryOutputPump::kLineBytesMax, 'x');
  write(pump_->fds(id_).out, line);
  test::run_for(io_, std::chrono::milliseconds(20));
  EXPECT_TRUE(lines_.empty());
  write(pump_->fds(id_).out, "\n");
  ASSERT_TRUE(wait_for_lines(1));
  EXPECT_EQ(lines_.front().text, line);
  EXPECT_EQ(pump_->counters(id_).lines_cut, 0u);
}

TEST_F(OutputPump, ATenMegabyteLineComesInPiecesOrIsCounted) {
  const std::string part(1024 * 1024, 'y');
  for (int i = 0; i < 10; ++i)
    write(pump_->fds(id_).out, part);
  write(pump_->fds(id_).out, "\nend\n");
  ASSERT_TRUE(run_until(io_, [&] { return !lines_.empty() && lines_.back().text == "end"; }));
  std::uint64_t bytes = 0;
  for (const auto& line : lines_)
    bytes += line.text.size();
  EXPECT_EQ(bytes + pump_->counters(id_).bytes_dropped, 10 * part.size() + 3);
  EXPECT_GT(pump_->counters(id_).lines_cut + pump_->counters(id_).bytes_dropped, 0u);
}

TEST_F(OutputPump, NulAndInvalidUtf8ComeThrough) {
  const std::string odd("a\0b\xff\xfe", 5);
  write(pump_->fds(id_).out, odd + "\n");
  ASSERT_TRUE(wait_for_lines(1));
  EXPECT_EQ(lines_.front().text, odd);
}

TEST_F(OutputPump, TheLastWordsOfAProcessNeedNoNewline) {
  write(pump_->fds(id_).err, "dying");
  pump_->end_of_process(id_);
  write(pump_->fds(id_).err, "born\n");
  ASSERT_TRUE(wait_for_lines(2));
  EXPECT_THAT(texts(), testing::ElementsAre("dying", "born"));
}

TEST_F(OutputPump, AFloodDoesNotBlockTheWriterNorGrowForever) {
  const std::string part(1024 * 1024, '\n');
  for (int i = 0; i < 20; ++i)
    write(pump_->fds(id_).out, part);  // nobody reads meanwhile
  write(pump_->fds(id_).out, "end\n");
  ASSERT_TRUE(run_until(io_, [&] { return !lines_.empty() && lines_.back().text == "end"; }));
  EXPECT_GT(pump_->counters(id_).bytes_dropped, 0u);
  struct stat info {};
  ASSERT_EQ(::fstat(pump_->fds(id_).out, &info), 0);
  EXPECT_LE(info.st_blocks * 512, 64 * 1024);
}

TEST_F(OutputPump, TheNextReaderGoesOnWhereTheLastStopped) {
  const int out = ::dup(pump_->fds(id_).out);
  const int err = ::dup(pump_->fds(id_).err);
  write(out, "first\n");
  ASSERT_TRUE(wait_for_lines(1));
  pump_.reset();
  write(out, "while nobody reads\n");
  pump_ = make_pump();
  const auto id = pump_->take("test", {out, err});
  ASSERT_TRUE(id);
  ASSERT_TRUE(wait_for_lines(2));
  write(out, "third\n");
  ASSERT_TRUE(wait_for_lines(3));
  EXPECT_THAT(texts(), testing::ElementsAre("first", "while nobody reads", "third"));
}

TEST_F(OutputPump, AdoptsOnlyWhatItsKindMade) {
  EXPECT_FALSE(pump_->adopt("test", ::getpid()));
}

}  // namespace
}  // namespace fdbpack::posix
