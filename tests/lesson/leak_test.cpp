// SPDX-License-Identifier: Apache-2.0
// What counts as giving an answer away.
#include "engine/lesson/leak.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

constexpr double kMiB = 1 << 20;

TEST(Leak, IsTheNumberInAnyUnitThatItMayBeTypedIn) {
  const double answer = 2.43 * kMiB;
  for (const char* text : {"2.43 MiB", "sent: 2.43 MiB.", "2,43 MiB", "2488 KiB", "2.548 MB",
                           "2,548,040 bytes", "2.548.040 B", "2.43\u00a0MiB"})
    EXPECT_TRUE(tells_number(text, answer, "bytes", "")) << text;
  for (const char* text : {"2.44 MiB", "2.43 GiB", "2.43 MiB/s", "12.43 MiB", "2.432 MiB", "2.43",
                           "2.4 MiB", "GPT2.43 MiB", "1.2.43 MiB"})
    EXPECT_FALSE(tells_number(text, answer, "bytes", "")) << text;
  EXPECT_TRUE(tells_number("0.287 s, or 287 ms", 0.28749, "seconds", ""));
  EXPECT_TRUE(tells_number("the bubble is 27.3 %", 3.0 / 11, "share", ""));
  EXPECT_FALSE(tells_number("the bubble is 27 %", 3.0 / 11, "share", "")) << "by chance";
  EXPECT_TRUE(tells_number("12.5 GB/s", 12.5e9, "bytes_per_second", ""));
}

TEST(Leak, ReadsTimesInParts) {
  EXPECT_TRUE(tells_number("it takes 1 min 20 s.", 80, "seconds", ""));
  EXPECT_TRUE(tells_number("2\u00a0h\u00a05\u00a0min", 125 * 60, "seconds", ""));
  EXPECT_TRUE(tells_number("2 h 5 min", 125 * 60 + 20, "seconds", "")) << "as it is rounded";
  EXPECT_TRUE(tells_number("1 min 20,5 s", 80.5, "seconds", ""));
  EXPECT_TRUE(tells_number("1 h 0 min 20 s", 3620, "seconds", ""));
  EXPECT_TRUE(tells_number("1 Tage 4 h", 28 * 3600, "seconds", ""));
  for (const char* text : {"1 min 21 s", "1 min and 20 s", "20 s 1 min", "1 min 20", "1 h 20 s",
                           "1 min 20 s/step", "11 min 20 s"})
    EXPECT_FALSE(tells_number(text, 80, "seconds", "")) << text;
  EXPECT_FALSE(tells_number("1 min 20 s", 80, "1", "s"));
}

TEST(Leak, OfAWholePlainNumberNeedsWhatItCounts) {
  EXPECT_TRUE(tells_number("each holds 8 layers", 8, "1", "layers"));
  EXPECT_FALSE(tells_number("each holds 18 layers", 8, "1", "layers"));
  EXPECT_FALSE(tells_number("8 ranks hold layers", 8, "1", "layers"));
  EXPECT_FALSE(tells_number("8 layers", 8, "1", ""));
  EXPECT_TRUE(tells_number("2.67 times as much", 8.0 / 3, "1", "times"));
}

TEST(Leak, IsTheFormulaHoweverItIsWritten) {
  const char* const formula = "(p - 1) / (m + p - 1)";
  for (const char* text : {"(p − 1) ÷ (m + p − 1)", "bubble: (p-1)/(m+p-1)."})
    EXPECT_TRUE(tells_formula(text, formula)) << text;
  EXPECT_FALSE(tells_formula("(p − 1) ÷ m", formula));
  EXPECT_TRUE(tells_formula("it is 2 · b · s · h bytes", "2 * b * s * h"));
  EXPECT_FALSE(tells_formula("12 b s h2", "2 * b * s * h"));
  EXPECT_FALSE(tells_formula("2 (n − 1) ÷ n · S", "2 * (n - 1)")) << "a factor of another one";
  EXPECT_FALSE(tells_formula("L layers", "L")) << "a symbol is no formula";
  EXPECT_FALSE(tells_formula("2 × 3", "2 * 3")) << "numbers are not either";
}

TEST(Leak, FormulasOfWhatIsHiddenAreHidden) {
  EXPECT_TRUE(hides_formulas({"bubble.of_total"}, "bubble"));
  EXPECT_TRUE(hides_formulas({"formulas"}, "memory"));
  EXPECT_TRUE(hides_formulas({"memory"}, "memory.peak"));
  EXPECT_FALSE(hides_formulas({"bubble"}, "memory"));
}

}  // namespace
}  // namespace parallelarium
