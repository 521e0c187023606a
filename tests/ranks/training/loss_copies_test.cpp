// SPDX-License-Identifier: Apache-2.0
// What the loss holds beside the logits changes memory, and no bit.
#include <gtest/gtest.h>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

struct Trained {
  std::vector<double> losses;
  std::vector<NamedTensor> parameters;
};

// Trains in poisoned memory and holds what is counted to the Program.
Trained trained_with(const std::string& words, const char* copies) {
  const Setup setup = small_model(words + " loss-copies=" + copies);
  const Program program = built(setup);
  LaunchOptions options;
  options.poison = true;
  const Result<RunResult> result = run_now(setup, program, {.parameters = true}, options);
  EXPECT_TRUE(result.ok()) << result.error().text;
  if (!result) return {};
  expect_counted(program, result->observation);
  return {result->observation.losses, result->parameters};
}

class CopiesOfLogits : public testing::TestWithParam<const char*> {};

TEST_P(CopiesOfLogits, ChangeNoBit) {
  const Trained plain = trained_with(GetParam(), "none");
  EXPECT_GE(plain.losses.size(), 5u);
  for (const char* copies : {"gradient", "fp32"}) {
    const Trained other = trained_with(GetParam(), copies);
    EXPECT_EQ(other.losses, plain.losses) << copies;
    ASSERT_EQ(other.parameters.size(), plain.parameters.size());
    for (std::size_t at = 0; at < plain.parameters.size(); ++at)
      EXPECT_EQ(other.parameters[at].values, plain.parameters[at].values)
          << copies << " " << name_of(plain.parameters[at].parameter);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, CopiesOfLogits,
    testing::Values("", "precision=mixed-16", "vocab=257 tp=2", "llama vocab=263 micro-batch=3",
                    "llama vocab=257 tp=4 sequence-parallel=true precision=mixed-16-main-grads",
                    "pp=2 dp=2 zero=3 precision=mixed-16 microbatches=4",
                    "pp=2 schedule=zb-h1 microbatches=4 precision=mixed-16",
                    "dp=2 pp=2 schedule=dualpipe microbatches=4", "cp=2 attention=fused vocab=257"),
    [](const auto& c) { return test_name(c.param); });

}  // namespace
}  // namespace parallelarium
