// SPDX-License-Identifier: Apache-2.0
// The default model learns real text: its loss on bytes that it never saw falls from ln 256 to half
// a nat below what a guesser reaches that knows how often each byte occurs.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "engine/train/data.h"
#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

constexpr const char* kText = "/usr/share/common-licenses/GPL-3";

TEST(Training, DefaultModelLearnsTheLicenceText) {
  if (!std::filesystem::exists(kText)) GTEST_SKIP() << "this system does not ship " << kText;
  parallelarium::Setup setup = default_setup();
  setup.run.backend = Backend::kCpu;
  setup.run.text = kText;
  setup.run.warmup = 0;
  setup.run.steps = 150;
  const Result<RunResult> result = run_now(setup, built(setup), {.held_out_loss = true});
  ASSERT_TRUE(result.ok()) << result.error().text;
  const Result<Text> text = Text::load(kText, setup.model.sequence);
  ASSERT_TRUE(text.ok());
  const std::vector<double>& losses = result->observation.losses;
  EXPECT_NEAR(losses.front(), std::log(256.0), 0.1);
  EXPECT_LT(losses.back(), losses[20]);
  EXPECT_LE(result->held_out_loss, text->unigram_entropy() - 0.5)
      << "after training losses " << losses.front() << " to " << losses.back();
  RecordProperty("held_out_loss", fmt::format("{:.3f}", result->held_out_loss));
  RecordProperty("unigram_entropy", fmt::format("{:.3f}", text->unigram_entropy()));
}

}  // namespace
}  // namespace parallelarium
