// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/document.hpp"

#include "fdbpack/base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace fdbpack::conf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> messages(const ParsedDocument& parsed) {
  std::vector<std::string> result;
  for (const auto& diagnostic : parsed.diagnostics)
    result.push_back(to_string(diagnostic));
  return result;
}

TEST(Document, ReadsSectionsKeysAndValues) {
  const auto parsed = parse("[a]\nk = v\n\n# note\n ; note\n[ b.1 ] rest\nx=1=2\ny =\n");
  EXPECT_THAT(parsed.diagnostics, IsEmpty());
  ASSERT_THAT(parsed.document.sections, SizeIs(2));
  EXPECT_EQ(parsed.document.find("A")->find("K")->value, "v");
  const Section* second = parsed.document.find("b.1");
  EXPECT_EQ(second->find("x")->value, "1=2");
  EXPECT_EQ(second->find("y")->value, "");
  EXPECT_EQ(second->find("z"), nullptr);
}

TEST(Document, TakesEveryLineEndAndAByteOrderMark) {
  for (const char* text :
       {"[a]\nk=v\nl=w", "[a]\r\nk=v\r\nl=w\r\n", "[a]\rk=v\rl=w", "\xEF\xBB\xBF[a]\nk=v\nl=w"}) {
    const auto parsed = parse(text);
    ASSERT_THAT(parsed.document.sections, SizeIs(1)) << text;
    EXPECT_EQ(parsed.document.sections[0].find("l")->value, "w") << text;
  }
  EXPECT_EQ(parse("[a]\r\nk=v\r\nl=w\r\n").document.sections[0].find("l")->at, (Position{3, 1}));
  EXPECT_EQ(parse("[a]\rk=v\rl=w").document.sections[0].find("l")->at, (Position{3, 1}));
}

TEST(Document, SaysWhatFdbmonitorWouldSwallow) {
  EXPECT_THAT(
      messages(parse("k=1\n[a]\njust words\n  = v\nb=1\nB=2\n[A]\nc=3\n")),
      ElementsAre(
          "1:1: warning: key 'k' stands before any section and is ignored",
          "3:1: warning: this line has no = and is ignored; remove it or put a # in front",
          "4:3: warning: this line has no key before its = and is ignored",
          "6:1: warning: key 'B' was given before, on line 5; the last value counts",
          "7:1: warning: section [A] was opened before, on line 2; both are taken together"));
}

TEST(Document, RefusesAnUnclosedHeaderAndANulByte) {
  EXPECT_THAT(messages(parse("[general]\na=1\n  [fdbserver.1\ncommand = x\n")),
              ElementsAre("3:3: error: the section header is not closed; put a ] at its end"));
  const std::string with_nul("[a]\nk=v\n\0[b]\n", 13);
  EXPECT_THAT(
      messages(parse(with_nul)),
      ElementsAre(
          "3:1: error: there is a NUL byte here, and fdbmonitor would ignore the rest of the file; "
          "remove it"));
  EXPECT_THAT(parse(with_nul).document.sections, SizeIs(1));
}

TEST(Document, KeepsTheFirstSpellingAndTheLastValue) {
  const auto document = parse("[a]\nKey=1\nother=x\nkEY=2\n").document;
  ASSERT_THAT(document.sections[0].entries, SizeIs(2));
  EXPECT_EQ(document.sections[0].entries[0].key, "Key");
  EXPECT_EQ(document.sections[0].entries[0].value, "2");
}

TEST(Document, PrintsSectionsWithoutANameAndStrayByteOrderMarks) {
  for (const char* text : {"[a]\nx = 1\n[]\ny = 2\n", "y = 2\n[a]\n", "\n\xEF\xBB\xBF = 1\n"}) {
    EXPECT_EQ(print(parse(text).document), text);
  }
}

std::uint64_t seed() {
  const char* given = std::getenv("FDBPACK_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20260101;
}

std::string random_word(Random& random, std::string_view alphabet, std::size_t least) {
  std::string word;
  const std::size_t length = least + random.below(8);
  for (std::size_t i = 0; i < length; ++i)
    word += alphabet[random.below(alphabet.size())];
  return word;
}

// Names and values that survive trimming, as every parsed document holds.
Document random_document(Random& random) {
  Document document;
  for (std::uint64_t s = random.below(5); s-- > 0;) {
    const std::string name = random_word(random, "abzAZ.09-_ $\xC3\xA9", 0);
    Section section{"s" + name + "e", {}, {}};
    if (document.find(section.name) != nullptr) continue;
    for (std::uint64_t k = random.below(6); k-- > 0;) {
      const Entry entry{
          "k" + random_word(random, "abzAZ09-_.] [#;", 0) + "e",
          random.chance(0.2) ? "" : "v" + random_word(random, "abz =[];#\"'$<\t\\", 0) + "e",
          {}};
      if (section.find(entry.key) == nullptr) section.entries.push_back(entry);
    }
    document.sections.push_back(std::move(section));
  }
  return document;
}

TEST(Document, WhatWasPrintedIsReadBackTheSame) {
  const std::uint64_t first = seed();
  for (std::uint64_t i = 0; i < 2000; ++i) {
    SCOPED_TRACE("replay with FDBPACK_SEED=" + std::to_string(first + i));
    Random random(first + i);
    const Document document = random_document(random);
    const ParsedDocument parsed = parse(print(document));
    ASSERT_THAT(parsed.diagnostics, IsEmpty()) << print(document);
    ASSERT_EQ(print(parsed.document), print(document));
    ASSERT_EQ(parsed.document.sections.size(), document.sections.size());
  }
}

TEST(Document, ReadsAnyBytesWithoutHarmAndStaysTheSameOnceRead) {
  const std::uint64_t first = seed();
  for (std::uint64_t i = 0; i < 2000; ++i) {
    SCOPED_TRACE("replay with FDBPACK_SEED=" + std::to_string(first + i));
    Random random(first + i);
    const std::string text =
        random_word(random, std::string_view("[]=\n\r ;#ab.\0\xFF", 13), random.below(60));
    const ParsedDocument parsed = parse(text);
    const bool is_broken =
        std::any_of(parsed.diagnostics.begin(), parsed.diagnostics.end(),
                    [](const auto& found) { return found.severity == Severity::error; });
    if (is_broken) continue;  // an unclosed header gives a name that cannot be written back
    const std::string once = print(parsed.document);
    ASSERT_EQ(print(parse(once).document), once) << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace fdbpack::conf
