// SPDX-License-Identifier: Apache-2.0
// The critical batch against what Kaplan et al. 2020 print, and against steps counted one by one.
#include "engine/predict/formulas/critical_batch.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

// Figure 10: a line through 2.1e8 at a loss of 1, and about a million tokens at a loss of 3.
TEST(CriticalBatch, IsThePrintedLine) {
  EXPECT_DOUBLE_EQ(critical_tokens(1), 2.1e8);
  EXPECT_NEAR(critical_tokens(3), 1.1e6, 0.05e6);
  // "L^-4.8"
  EXPECT_NEAR(critical_tokens(2) / critical_tokens(4), 27.9, 1);
}

// 12 layers · hidden², as the paper counts what is no embedding; figure 1 has the losses.
TEST(CriticalBatch, CountsParametersAsThePaperDoes) {
  const CriticalBatch gpt3 = critical_batch(*find_model("gpt3-175b"));
  EXPECT_NEAR(gpt3.parameters / (12.0 * 96 * 12288 * 12288), 1, 1e-3);
  EXPECT_NEAR(gpt3.loss, 1.6, 0.02);
  EXPECT_DOUBLE_EQ(gpt3.tokens, critical_tokens(gpt3.loss));
  const CriticalBatch gpt2 = critical_batch(*find_model("gpt2-124m"));
  EXPECT_NEAR(gpt2.parameters, 85e6, 1e6);
  EXPECT_LT(gpt2.tokens, gpt3.tokens) << "a lower loss has the larger one";
  // Of experts, those that a token meets: about 13 billion of 47.
  EXPECT_LT(critical_batch(*find_model("mixtral-8x7b")).parameters, 14e9);
}

// Steps are S (1 + Bc / B).
TEST(CriticalBatch, SavesWhatTheStepsSay) {
  const CriticalBatch critical{1e9, 2, 4e6};
  for (const double batch : {1e3, 1e6, 4e6, 3e7, 1e10}) {
    const auto steps = [&](double of) { return 1e4 * (1 + critical.tokens / of); };
    EXPECT_NEAR(critical.saved_by_twice(batch), 1 - steps(2 * batch) / steps(batch), 1e-12);
  }
  EXPECT_NEAR(critical.saved_by_twice(1), 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(critical.saved_by_twice(4e6), 0.25);
}

}  // namespace
}  // namespace parallelarium
