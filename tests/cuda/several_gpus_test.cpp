// SPDX-License-Identifier: Apache-2.0
// Real runs through NCCL, a GPU for every rank, and what becomes of them when a rank fails or
// stalls. Skips with the reason where there are too few GPUs or no NCCL.
#include <gtest/gtest.h>

#include <optional>

#include "engine/run/gpu/module/module.h"
#include "tests/cuda/disturbed_run.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

[[maybe_unused]] const bool prepared = (prepare_for_gpus(), true);  // as programs begin

// Why so many ranks cannot have a GPU each here.
std::optional<std::string> refusal(int ranks) {
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  if (!gpus) return gpus.error().text;
  if (static_cast<int>(gpus->size()) < ranks)
    return fmt::format("{} ranks need {} GPUs and there are {}", ranks, ranks, gpus->size());
  if (const Result<Nccl*> nccl = (*cuda_module())->nccl(); !nccl) return nccl.error().text;
  return {};
}

class SeveralGpus : public testing::TestWithParam<const char*> {};

TEST_P(SeveralGpus, TrainLikeOneRank) {
  parallelarium::Setup setup = small_model(GetParam());
  if (const auto why = refusal(setup.mesh.ranks())) GTEST_SKIP() << *why;
  setup.run.backend = Backend::kCuda;
  const Result<BackendChoice> choice = choose_backend(setup);
  ASSERT_TRUE(choice.ok()) << choice.error().text;
  EXPECT_EQ(choice->source, Source::kMeasured);
  const Program program = built(setup);
  const Result<RunResult> many = run(setup, program, *choice, {}, {.gradients = true});
  ASSERT_TRUE(many.ok()) << many.error().text;
  const Proof proof = proof_of(*many, setup);
  EXPECT_TRUE(proof.holds()) << proof.loss_difference << ", " << proof.gradient_difference << " in "
                             << proof.worst_parameter.text;
  EXPECT_EQ(many->observation.transport.rfind("NCCL ", 0), 0u) << many->observation.transport;
}
INSTANTIATE_TEST_SUITE_P(
    Meshes, SeveralGpus,
    testing::Values("dp=2", "pp=2 microbatches=4", "tp=2", "dp=2 zero=3 microbatches=3",
                    "cp=2 attention=fused", "tp=2 pp=2", "tp=2 pp=2 dp=2 zero=1",
                    "pp=2 dp=2 zero=1 overlap-parameters=true",
                    "experts=8 top-k=2 expert-ffn=12 dp=2 ep=2", "dp=2 zero=2 collectives=ring",
                    "tp=2 dp=2 collectives=halving-doubling", "precision=mixed-16 tp=2 pp=2",
                    "precision=mixed-16 dp=2 zero=3 clip=0.05"),
    [](const auto& one) { return test_name(one.param); });

// Two stages: rank 1 receives and sends once for each of 12 micro-batches.
TEST(SeveralGpusFailure, NamesTheRankEndsAllInTimeAndTheNextRunWorks) {
  parallelarium::Setup setup = small_model("pp=2 microbatches=12");
  if (const auto why = refusal(setup.mesh.ranks())) GTEST_SKIP() << *why;
  setup.run.backend = Backend::kCuda;
  const Result<BackendChoice> choice = choose_backend(setup);
  ASSERT_TRUE(choice.ok()) << choice.error().text;
  expect_named_and_ended_in_time(setup, *choice);
}

}  // namespace
}  // namespace parallelarium
