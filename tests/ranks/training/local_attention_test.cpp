// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

// A counter-example: ranks that attend to their own tokens only train another function, do as their
// Program says, and no proof of them holds.
class LocalAttention : public testing::TestWithParam<const char*> {};

TEST_P(LocalAttention, IsAnotherFunctionThatTheProofRefuses) {
  const auto setup = small_model(std::string("context-parallel=local ") + GetParam());
  const Program program = built(setup);
  for (const Message& wrong : check(program)) ADD_FAILURE() << wrong.text;
  const Result<RunResult> result =
      run_now(setup, program, {.gradients = true, .last_gradients = true});
  ASSERT_TRUE(result.ok()) << result.error().text;
  expect_counted(program, result->observation);
  const Proof proof = compare(*result, one_rank(setup));
  EXPECT_FALSE(proof.losses_hold());
  EXPECT_FALSE(proof.gradients_hold());
  EXPECT_GT(proof.gradient_difference, 1e3 * proof.gradient_bound) << "no matter of rounding";
}
INSTANTIATE_TEST_SUITE_P(Kinds, LocalAttention,
                         testing::Values("cp=2", "cp=4 attention=fused micro-batch=2",
                                         "cp=2 pp=2 attention=fused cp-split=contiguous "
                                         "microbatches=4 dropout=0.1",
                                         "llama cp=2 tp=2 sequence-parallel=true",
                                         "llama cp=4 dp=2 attention=fused"),
                         name_of_case);

}  // namespace
}  // namespace parallelarium
