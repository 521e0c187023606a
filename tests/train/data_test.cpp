// SPDX-License-Identifier: Apache-2.0
#include "engine/train/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>

namespace parallelarium {
namespace {

std::string alphabet(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>('a' + at % 26);
  return text;
}

std::uint64_t fingerprint(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char character : text)
    hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211ULL;
  return hash;
}

TEST(DefaultText, IsAMegabyteOfPlainEnglishThatIsTheSameEverywhere) {
  const std::string text = default_text();
  EXPECT_GE(text.size(), 1'000'000U);
  EXPECT_LE(text.size(), 1'002'000U);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char character) {
    return character == '\n' || (character >= ' ' && character <= '~');
  }));
  EXPECT_EQ(fingerprint(text), 2317489686656639451ULL);
}

TEST(Text, TargetsAreTheBytesThatFollow) {
  const auto text = Text::from_bytes(alphabet(1000), "abc", 8);
  ASSERT_TRUE(text);
  for (std::int64_t index = 0; index < 20; ++index) {
    const auto sequence = text->sequence(1, 1, index);
    ASSERT_EQ(sequence.tokens.size(), 8U);
    for (std::size_t t = 0; t + 1 < 8; ++t) EXPECT_EQ(sequence.targets[t], sequence.tokens[t + 1]);
    for (std::size_t t = 0; t < 8; ++t)
      EXPECT_EQ(sequence.targets[t] - 'a', (sequence.tokens[t] - 'a' + 1) % 26);
  }
}

TEST(Text, SequencesFollowFromSeedStepAndIndexAlone) {
  const auto text = Text::load("default", 32);
  ASSERT_TRUE(text);
  const auto tokens = [&](std::uint64_t seed, std::int64_t step, std::int64_t index) {
    return text->sequence(seed, step, index).tokens;
  };
  EXPECT_EQ(tokens(1, 2, 3), tokens(1, 2, 3));
  std::set<std::vector<std::int32_t>> different;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (std::int64_t step = 1; step <= 3; ++step)
      for (std::int64_t index = 0; index < 8; ++index) different.insert(tokens(seed, step, index));
  EXPECT_EQ(different.size(), 3U * 3 * 8);
}

class HeldOut : public testing::TestWithParam<std::size_t> {};

TEST_P(HeldOut, IsATenthAndNoByteOfItIsEverTrainedOn) {
  constexpr std::int64_t kSequence = 16;
  std::string bytes(GetParam(), ' ');  // random letters: every window occurs in one place only
  std::uint32_t state = 1;
  for (char& letter : bytes)
    letter = static_cast<char>('a' + ((state = state * 1664525 + 1013904223) >> 24) % 26);
  const auto text = Text::from_bytes(bytes, "letters", kSequence);
  ASSERT_TRUE(text);
  std::vector<int> use(bytes.size());  // 1: trained on, 2: held out
  const auto mark = [&](const Text::Sequence& sequence, int as) {
    std::string letters(1, static_cast<char>(sequence.tokens.front()));
    for (const std::int32_t target : sequence.targets) letters += static_cast<char>(target);
    const std::size_t at = bytes.find(letters);
    ASSERT_NE(at, std::string::npos) << "not a window of the text";
    for (std::size_t next = at; next <= at + kSequence; ++next) {
      ASSERT_TRUE(use[next] == 0 || use[next] == as) << "byte " << next << " is in both parts";
      use[next] = as;
    }
  };
  for (std::int64_t index = 0; index < text->held_out_count(); ++index)
    mark(text->held_out(index), 2);
  const auto draws = static_cast<std::int64_t>(15 * bytes.size());
  for (std::int64_t index = 0; index < draws; ++index) mark(text->sequence(1, 1, index), 1);
  EXPECT_NEAR(static_cast<double>(text->held_out_bytes()), static_cast<double>(bytes.size()) / 10,
              10);
  EXPECT_EQ(text->held_out_bytes() + text->training_bytes(),
            static_cast<std::int64_t>(bytes.size()));
  // Every byte for training is reached, and of every held-out part at most one window is wasted.
  EXPECT_EQ(std::count(use.begin(), use.end(), 1), text->training_bytes());
  EXPECT_GE(std::count(use.begin(), use.end(), 2), text->held_out_bytes() - 10 * kSequence);
}

INSTANTIATE_TEST_SUITE_P(Sizes, HeldOut, testing::Values(170, 171, 1000, 1359, 1360, 3001, 9999));

TEST(Text, EntropyIsThatOfTheByteFrequencies) {
  const auto even = Text::from_bytes(alphabet(26 * 40), "even", 8);
  EXPECT_NEAR(even->unigram_entropy(), std::log(26.0), 1e-12);
  const auto one = Text::from_bytes(std::string(1000, 'x'), "one", 8);
  EXPECT_NEAR(one->unigram_entropy(), 0.0, 1e-12);
}

TEST(Text, ReadsAUtf8FileAsItsBytes) {
  const std::string path = testing::TempDir() + "parallelarium_text_test.txt";
  std::string content;
  while (content.size() < 400) content += "Grüße, 世界 😀. ";
  std::ofstream(path, std::ios::binary) << content;
  const auto text = Text::load(path, 8);
  std::remove(path.c_str());
  ASSERT_TRUE(text);
  EXPECT_EQ(text->training_bytes() + text->held_out_bytes(),
            static_cast<std::int64_t>(content.size()));
}

TEST(Text, SaysInOneSentenceWhatIsWrong) {
  const auto error = [](const Result<Text>& text) { return text.ok() ? "" : text.error().kind; };
  EXPECT_EQ(error(Text::load("/nowhere/at/all.txt", 8)), "text-unreadable");
  EXPECT_EQ(error(Text::load("/", 8)), "text-unreadable");
  EXPECT_EQ(error(Text::load("/dev/zero", 8)), "text-unreadable");
  EXPECT_EQ(error(Text::from_bytes("", "empty", 8)), "text-short");
  EXPECT_EQ(error(Text::from_bytes(alphabet(80), "short", 8)), "text-short");
  EXPECT_EQ(error(Text::from_bytes(alphabet(90), "long enough", 8)), "");
  EXPECT_EQ(Text::from_bytes(alphabet(80), "short", 8).error().text,
            "The text file short has 80 bytes; a sequence of 8 needs at least 90, because a tenth "
            "is held out.");
}

TEST(Text, FindsWhatIsNotUtf8) {
  const std::string valid[] = {
      "\x7f",         "\xc2\x80",         "\xe0\xa0\x80",    "\xed\x9f\xbf",
      "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
  // A lone continuation, a cut sequence, overlong forms, a surrogate, beyond U+10FFFF, never used.
  const std::string invalid[] = {"\x80",
                                 "\xc3",
                                 "\xc3(",
                                 "\xc0\xaf",
                                 "\xe0\x9f\xbf",
                                 "\xed\xa0\x80",
                                 "\xf0\x8f\xbf\xbf",
                                 "\xf4\x90\x80\x80",
                                 "\xff",
                                 "\xe4\xb8",
                                 "\xe4\xb8("};
  for (const std::string& bytes : valid)
    EXPECT_TRUE(Text::from_bytes(alphabet(100) + bytes, "text", 8)) << bytes;
  for (const std::string& bytes : invalid) {
    const auto text = Text::from_bytes(alphabet(100) + bytes, "text", 8);
    ASSERT_FALSE(text) << bytes;
    EXPECT_EQ(text.error().id, "text-not-utf8");
    EXPECT_EQ(text.error().arguments[1].text, "100");
  }
}

}  // namespace
}  // namespace parallelarium
