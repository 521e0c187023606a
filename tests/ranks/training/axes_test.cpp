// SPDX-License-Identifier: Apache-2.0
// Every axis of parallelism trains as one rank does.
#include <gtest/gtest.h>

#include "tests/ranks/proof.h"
#include "tests/ranks/views.h"

namespace parallelarium {
namespace {

class Axes : public testing::TestWithParam<const char*> {};

TEST_P(Axes, TrainAsOneRankAndCountWhatProgramAndViewsSay) {
  const auto setup = small_model(GetParam());
  Observation seen;
  expect_real(setup, &seen);
  if (!HasFailure()) expect_views_add_up(setup, built(setup), seen);
}

INSTANTIATE_TEST_SUITE_P(Llama, Axes,
                         testing::Values("llama", "llama pp=2 dp=2",
                                         "llama pp=4 microbatches=5 micro-batch=2",
                                         "llama dp=4 microbatches=1 schedule=gpipe"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Recompute, Axes,
                         testing::Values("recompute=selective", "recompute=full",
                                         "llama recompute=full pp=2 microbatches=4",
                                         "recompute=selective pp=2 dp=2 micro-batch=2",
                                         "recompute=full pp=4 microbatches=6"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    SomeLayersAgain, Axes,
    testing::Values("recompute=full recompute-layers=1",
                    "llama pp=2 recompute=full recompute-layers=1 microbatches=3",
                    "pp=2 schedule=zb-h1 recompute=full recompute-layers=1 microbatches=4",
                    "tp=2 sequence-parallel=true recompute=full recompute-layers=2"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    SomePartsAgain, Axes,
    testing::Values("recompute=norms", "llama recompute=activation micro-batch=2",
                    "recompute=selective,norms,activation dropout=0.1",
                    "llama tp=2 sequence-parallel=true recompute=norms,activation",
                    "pp=2 dp=2 zero=3 schedule=zb-h1 recompute=norms,activation microbatches=4",
                    "cp=2 attention=fused recompute=selective,norms"),
    name_of_case);
// The forward is the same to the bit. What is computed again has the bits of a product of its own,
// and so have SwiGLU's halves.
TEST(EverySecondProduct, ComputedAgainChangesNothing) {
  for (const char* words : {"", "dropout=0.1 attention=fused", "llama"}) {
    parallelarium::Setup setup = small_model(words);
    const Result<RunResult> kept = run_now(setup, built(setup));
    setup.recompute = Recompute::kNorms | Recompute::kActivation | Recompute::kSecondProducts;
    const Result<RunResult> again = run_now(setup, built(setup));
    ASSERT_TRUE(kept.ok() && again.ok());
    const std::vector<double>& losses = kept->observation.losses;
    ASSERT_EQ(again->observation.losses.size(), losses.size());
    if (std::string(words) != "llama") {
      EXPECT_EQ(again->observation.losses[0], losses[0]) << words;
    }
    for (std::size_t step = 0; step < losses.size(); ++step)
      EXPECT_NEAR(again->observation.losses[step] / losses[step], 1, 1e-6) << words;
  }
}
INSTANTIATE_TEST_SUITE_P(
    EverySecondProductAgain, Axes,
    testing::Values("recompute=second-products", "llama recompute=second-products micro-batch=2",
                    "recompute=selective,norms,activation,second-products dropout=0.1",
                    "tp=2 recompute=second-products", "llama tp=2 recompute=norms,second-products",
                    "llama tp=2 sequence-parallel=true recompute=norms,activation,second-products",
                    "llama tp=4 sequence-parallel=true sequence-regather=false "
                    "recompute=norms,activation,second-products",
                    "llama cp=2 attention=fused recompute=norms,second-products",
                    "llama pp=2 dp=2 zero=3 schedule=zb-h1 microbatches=4 "
                    "recompute=norms,activation,second-products",
                    "llama experts=4 top-k=2 expert-ffn=12 shared-experts=1 first-dense=1 "
                    "recompute=norms,activation,second-products"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    KeptParameters, Axes,
    testing::Values("dp=2 zero=3 overlap-gradients=false microbatches=2",
                    "dp=2 zero=3 zero-reshard=false microbatches=3",
                    "dp=4 zero=3 zero-group=2 zero-reshard=false clip=0.05",
                    "llama dp=3 pp=2 zero=3 zero-reshard=false microbatches=4",
                    "dp=2 pp=2 zero=3 zero-reshard=false schedule=zb-h1 microbatches=4",
                    "dp=2 pp=2 zero=3 zero-reshard=false schedule=gpipe zero-prefetch=0",
                    "dp=2 pp=2 zero=3 zero-reshard=false schedule=interleaved chunks=2 "
                    "microbatches=4 zero-prefetch=3",
                    "dp=2 tp=2 zero=3 zero-reshard=false recompute=full sequence-parallel=true"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    OtherOverlaps, Axes,
    testing::Values("tp=2 overlap-tensor=true", "llama tp=4 dp=2 overlap-tensor=true zero=3",
                    "tp=2 pp=2 sequence-parallel=true overlap-tensor=true microbatches=4",
                    "tp=2 pp=4 overlap-tensor=true microbatches=6",
                    "tp=2 pp=2 schedule=zb-h1 overlap-tensor=true microbatches=4",
                    "pp=4 overlap-pipeline=false microbatches=6",
                    "pp=2 dp=2 schedule=zb-h2 overlap-pipeline=false microbatches=4",
                    "pp=2 tp=2 overlap-pipeline=false overlap-tensor=true microbatches=4",
                    "pp=4 schedule=zb-v layers=8 overlap-pipeline=false microbatches=7",
                    "pp=2 schedule=interleaved chunks=2 overlap-pipeline=false microbatches=4",
                    "pp=2 schedule=dualpipe overlap-pipeline=false microbatches=6",
                    "llama pp=2 tp=2 dp=2 schedule=dualpipe overlap-pipeline=false microbatches=4"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    ScatterAndGather, Axes,
    testing::Values(
        "tp=2 pp=2 scatter-gather=true microbatches=4",
        "llama tp=4 pp=2 scatter-gather=true microbatches=3 micro-batch=3",
        "tp=2 pp=4 scatter-gather=true microbatches=6 recompute=full",
        "tp=2 pp=2 scatter-gather=true overlap-pipeline=false microbatches=4",
        "tp=2 pp=2 dp=2 zero=3 scatter-gather=true schedule=zb-h1 microbatches=4",
        "llama tp=2 pp=2 scatter-gather=true schedule=zb-2p microbatches=4",
        "tp=2 pp=2 cp=2 attention=fused scatter-gather=true schedule=gpipe microbatches=3",
        "tp=2 pp=2 scatter-gather=true schedule=interleaved chunks=2 microbatches=4",
        "tp=2 pp=2 scatter-gather=true schedule=dualpipe microbatches=4",
        "llama tp=2 pp=2 dp=2 ep=2 experts=4 top-k=2 expert-ffn=12 "
        "scatter-gather=true schedule=dualpipe microbatches=4",
        "tp=2 pp=2 scatter-gather=true collectives=ring microbatches=3",
        "tp=2 pp=2 scatter-gather=true sequence-parallel=true microbatches=3",
        "tp=2 scatter-gather=true"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    AutomaticAndControlled, Axes,
    testing::Values("pp=4 schedule=zb-1p microbatches=8", "pp=4 schedule=zb-2p microbatches=8",
                    "llama pp=3 layers=3 schedule=zb-2p microbatches=2",
                    "pp=2 dp=2 schedule=v-half microbatches=5 zero=2",
                    "pp=4 layers=8 schedule=v-half microbatches=7",
                    "pp=4 layers=8 schedule=v-min microbatches=6",
                    "llama pp=3 layers=6 schedule=v-min microbatches=5 clip=0.05",
                    "pp=2 schedule=interleaved chunks=2 microbatches=5 microbatch-group=3"),
    name_of_case);
// The first stage holds the tables alone, the last the head.
INSTANTIATE_TEST_SUITE_P(
    EmptyEnds, Axes,
    testing::Values("pp=3 stage-layers=0,4,0 microbatches=4",
                    "pp=2 stage-layers=0,4 microbatches=3",
                    "llama pp=2 stage-layers=4,0 microbatches=3",
                    "pp=4 stage-layers=0,2,2,0 schedule=zb-h1 microbatches=6",
                    "llama pp=4 stage-layers=0,2,2,0 schedule=zb-h2 microbatches=8",
                    "pp=2 schedule=interleaved chunks=3 stage-layers=0,1,1,1,1,0 microbatches=4",
                    "pp=2 tp=2 dp=2 stage-layers=0,4 sequence-parallel=true zero=3",
                    "pp=3 stage-layers=0,4,0 dp=2 zero=2 microbatches=3",
                    "pp=2 schedule=zb-v stage-layers=0,2,2,0 microbatches=4"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(LateReduction, Axes,
                         testing::Values("dp=4 zero=2 zero-accumulate=true microbatches=3",
                                         "pp=2 dp=2 zero=2 zero-accumulate=true clip=0.05",
                                         "dp=4 overlap-gradients=false microbatches=3",
                                         "pp=2 dp=2 overlap-gradients=false zero=1 clip=0.05",
                                         "llama tp=2 dp=2 overlap-gradients=false "
                                         "sequence-parallel=true"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Tensor, Axes,
                         testing::Values("tp=2", "tp=4", "tp=2 pp=2 dp=2",
                                         "tp=2 microbatches=5 micro-batch=3", "tp=4 pp=2 clip=0.05",
                                         "tp=2 recompute=full", "llama tp=2", "llama tp=4",
                                         "llama tp=4 pp=2 dp=2 microbatches=3",
                                         "llama tp=2 dp=2 recompute=selective",
                                         "llama tp=4 clip=0.05"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Sequence, Axes,
    testing::Values("tp=2 sequence-parallel=true", "tp=4 sequence-parallel=true micro-batch=2",
                    "tp=2 pp=2 dp=2 sequence-parallel=true microbatches=4",
                    "tp=4 pp=2 sequence-parallel=true clip=0.05",
                    "tp=2 sequence-parallel=true recompute=full dp=2",
                    "llama tp=2 sequence-parallel=true", "llama tp=4 dp=2 sequence-parallel=true",
                    "llama tp=4 pp=2 sequence-parallel=true recompute=selective"),
    name_of_case);
// Products are cut, and tokens and sums go round.
INSTANTIATE_TEST_SUITE_P(
    RingOfProducts, Axes,
    testing::Values(
        "tp=2 sequence-parallel=true ring-tensor=true",
        "tp=4 sequence-parallel=true ring-tensor=true micro-batch=2",
        "llama tp=2 sequence-parallel=true ring-tensor=true dropout=0.1",
        "llama tp=4 dp=2 zero=2 sequence-parallel=true ring-tensor=true clip=0.05",
        "llama tp=2 dp=2 zero=3 sequence-parallel=true ring-tensor=true recompute=full",
        "tp=4 sequence-parallel=true ring-tensor=true sequence-regather=false",
        "llama tp=2 pp=2 schedule=zb-h1 sequence-parallel=true ring-tensor=true microbatches=4",
        "llama tp=2 pp=2 schedule=dualpipe sequence-parallel=true ring-tensor=true "
        "sequence-regather=false microbatches=4",
        "tp=2 pp=2 schedule=interleaved chunks=2 sequence-parallel=true ring-tensor=true "
        "overlap-tensor=true microbatches=4",
        "llama tp=4 pp=2 sequence-parallel=true ring-tensor=true overlap-tensor=true "
        "microbatches=3",
        "llama tp=2 cp=2 attention=fused sequence-parallel=true ring-tensor=true",
        "llama tp=4 cp=2 attention=fused sequence-parallel=true ring-tensor=true micro-batch=2",
        "llama tp=4 sequence-parallel=true ring-tensor=true sequence-regather=false "
        "recompute=norms,activation,second-products micro-batch=2",
        "llama experts=4 top-k=2 expert-ffn=12 shared-experts=1 first-dense=1 tp=2 "
        "sequence-parallel=true ring-tensor=true"),
    name_of_case);
// What a weight gradient needs is still there from the forward.
INSTANTIATE_TEST_SUITE_P(
    SequenceKept, Axes,
    testing::Values("tp=2 sequence-parallel=true sequence-regather=false",
                    "tp=4 sequence-parallel=true sequence-regather=false micro-batch=2",
                    "tp=2 pp=2 dp=2 sequence-parallel=true sequence-regather=false microbatches=4",
                    "tp=2 dp=2 sequence-parallel=true sequence-regather=false recompute=full",
                    "tp=2 pp=2 schedule=zb-h1 sequence-parallel=true sequence-regather=false "
                    "microbatches=4 recompute=full",
                    "tp=2 cp=2 attention=fused sequence-parallel=true sequence-regather=false",
                    "llama tp=2 sequence-parallel=true sequence-regather=false overlap-tensor=true",
                    "llama tp=4 pp=2 sequence-parallel=true sequence-regather=false zero=1 "
                    "recompute=selective",
                    "llama tp=2 pp=2 schedule=dualpipe sequence-parallel=true "
                    "sequence-regather=false microbatches=4"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Zero, Axes,
    testing::Values("dp=2 zero=1", "dp=2 zero=2", "dp=2 zero=3", "dp=3 zero=1 microbatches=4",
                    "dp=3 zero=2 microbatches=4", "dp=3 zero=3 microbatches=4",
                    "dp=4 zero=1 clip=0.05", "dp=4 zero=2 clip=0.05", "dp=4 zero=3 clip=0.05",
                    "dp=2 pp=2 zero=1", "dp=2 pp=2 zero=2 microbatches=4",
                    "dp=2 pp=2 zero=3 microbatches=4", "dp=4 zero=1 zero-group=2",
                    "dp=4 zero=2 zero-group=2 microbatches=3", "dp=4 zero=3 zero-group=2 clip=0.05",
                    "llama dp=3 zero=3", "llama dp=2 pp=2 zero=3", "dp=2 tp=2 zero=1",
                    "dp=2 tp=2 zero=2", "dp=2 tp=2 zero=3",
                    "dp=2 tp=2 pp=2 zero=3 sequence-parallel=true microbatches=4",
                    "llama dp=2 tp=4 zero=1 clip=0.05", "llama dp=2 tp=4 zero=2",
                    "llama dp=2 tp=4 zero=3 sequence-parallel=true", "dp=2 zero=3 recompute=full",
                    "dp=3 pp=2 zero=3 schedule=gpipe microbatches=3"),
    name_of_case);
// Parameters that come beside the step's first forwards.
INSTANTIATE_TEST_SUITE_P(
    GatheredAhead, Axes,
    testing::Values("dp=2 zero=1 overlap-parameters=true microbatches=3",
                    "dp=3 pp=2 zero=2 overlap-parameters=true clip=0.05",
                    "dp=4 zero=1 zero-group=2 overlap-parameters=true",
                    "llama dp=2 tp=2 pp=2 zero=1 overlap-parameters=true sequence-parallel=true",
                    "llama tp=2 pp=2 dp=2 zero=1 overlap-parameters=true sequence-parallel=true "
                    "ring-tensor=true",
                    "pp=2 cp=2 dp=2 zero=2 overlap-parameters=true attention=fused",
                    "pp=2 dp=2 zero=1 overlap-parameters=true schedule=interleaved chunks=2",
                    "pp=2 dp=2 zero=2 overlap-parameters=true schedule=zb-h1 microbatches=4",
                    "pp=2 dp=2 zero=1 overlap-parameters=true schedule=zb-v microbatches=4",
                    "pp=2 dp=2 zero=1 overlap-parameters=true schedule=dualpipe microbatches=4",
                    "dp=4 zero=1 overlap-parameters=true collectives=ring",
                    "dp=2 pp=2 zero=2 zero-accumulate=true overlap-parameters=true"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(Fused, Axes,
                         testing::Values("attention=fused",
                                         "llama attention=fused pp=2 micro-batch=2",
                                         "attention=fused tp=2 recompute=selective",
                                         "llama attention=fused recompute=full dp=2"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    ContextByAllGather, Axes,
    testing::Values("cp=2 attention=fused context-parallel=all-gather",
                    "cp=4 attention=fused context-parallel=all-gather micro-batch=3",
                    "cp=2 pp=2 dp=2 attention=fused context-parallel=all-gather microbatches=4",
                    "cp=2 tp=2 attention=fused context-parallel=all-gather sequence-parallel=true",
                    "cp=2 dp=2 zero=3 attention=fused context-parallel=all-gather",
                    "cp=2 zero=2 attention=fused context-parallel=all-gather microbatches=3",
                    "cp=2 attention=fused context-parallel=all-gather recompute=full",
                    "llama cp=2 attention=fused context-parallel=all-gather micro-batch=2",
                    "llama cp=4 pp=2 attention=fused context-parallel=all-gather clip=0.05",
                    "llama cp=2 tp=4 attention=fused context-parallel=all-gather zero=1"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(ContextByRing, Axes,
                         testing::Values("cp=2 attention=fused",
                                         "cp=4 attention=fused micro-batch=3",
                                         "cp=2 pp=2 dp=2 attention=fused microbatches=4",
                                         "cp=2 tp=2 attention=fused sequence-parallel=true",
                                         "cp=2 dp=2 zero=3 attention=fused",
                                         "cp=4 pp=2 attention=fused recompute=full",
                                         "cp=2 attention=fused recompute=selective microbatches=3",
                                         "llama cp=2 attention=fused micro-batch=2",
                                         "llama cp=4 pp=2 attention=fused clip=0.05 microbatches=4",
                                         "llama cp=2 tp=4 attention=fused zero=1"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    ContextByUlysses, Axes,
    testing::Values(
        "cp=2 context-parallel=ulysses", "cp=4 context-parallel=ulysses micro-batch=3",
        "cp=2 pp=2 dp=2 context-parallel=ulysses microbatches=4",
        "cp=2 tp=2 context-parallel=ulysses sequence-parallel=true micro-batch=2",
        "cp=2 context-parallel=ulysses attention=fused micro-batch=2",
        "cp=4 context-parallel=ulysses attention=fused",
        "cp=2 context-parallel=ulysses recompute=selective",
        "cp=2 context-parallel=ulysses recompute=selective attention=fused micro-batch=2",
        "cp=2 dp=2 context-parallel=ulysses recompute=full zero=3",
        "llama cp=2 context-parallel=ulysses micro-batch=2", "llama cp=4 context-parallel=ulysses",
        "llama cp=4 context-parallel=ulysses attention=fused micro-batch=2 zero=2",
        "llama cp=2 tp=2 pp=2 context-parallel=ulysses clip=0.05"),
    name_of_case);
// One run of tokens for each rank, so that some blocks are seen whole and some not at all.
INSTANTIATE_TEST_SUITE_P(
    ContextContiguous, Axes,
    testing::Values(
        "cp=2 attention=fused cp-split=contiguous",
        "cp=4 attention=fused cp-split=contiguous micro-batch=3",
        "cp=2 pp=2 dp=2 attention=fused cp-split=contiguous microbatches=4",
        "cp=2 tp=2 attention=fused cp-split=contiguous sequence-parallel=true",
        "cp=4 pp=2 attention=fused cp-split=contiguous recompute=full "
        "context-parallel=all-gather",
        "cp=2 dp=2 zero=3 attention=fused cp-split=contiguous recompute=selective",
        "cp=2 pp=2 schedule=zb-h1 attention=fused cp-split=contiguous microbatches=4",
        "dropout=0.1 cp=4 attention=fused cp-split=contiguous",
        "cp=4 context-parallel=ulysses cp-split=contiguous",
        "llama cp=4 attention=fused cp-split=contiguous micro-batch=2 clip=0.05",
        "llama cp=4 attention=fused cp-split=contiguous context-parallel=all-gather dropout=0.1",
        "llama cp=2 tp=4 attention=fused cp-split=contiguous context-parallel=all-gather zero=1"),
    name_of_case);
// Every axis at once, on 16 ranks.
INSTANTIATE_TEST_SUITE_P(
    AllAxes, Axes,
    testing::Values("dp=2 tp=2 pp=2 cp=2 attention=fused microbatches=2",
                    "dp=2 tp=2 pp=2 cp=2 attention=fused microbatches=3 zero=3 "
                    "sequence-parallel=true recompute=full clip=0.05",
                    "dp=2 tp=2 pp=2 cp=2 context-parallel=ulysses zero=1 schedule=zb-h1 "
                    "microbatches=4 dropout=0.1",
                    "llama dp=2 tp=2 pp=2 cp=2 attention=fused context-parallel=all-gather zero=2 "
                    "sequence-parallel=true"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Chunks, Axes,
    testing::Values(
        "pp=2 schedule=interleaved chunks=2", "pp=2 schedule=interleaved chunks=2 microbatches=5",
        "pp=4 layers=8 schedule=interleaved chunks=2 microbatches=6",
        "layers=6 pp=2 schedule=interleaved chunks=3 microbatches=3 micro-batch=2",
        "schedule=interleaved chunks=2 microbatches=3",
        "llama pp=2 schedule=interleaved chunks=2 microbatches=4",
        "pp=2 dp=2 schedule=interleaved chunks=2 zero=1 microbatches=3",
        "pp=2 dp=2 schedule=interleaved chunks=2 zero=2 clip=0.05",
        "pp=2 dp=2 schedule=interleaved chunks=2 zero=3 microbatches=4",
        "pp=2 dp=4 schedule=interleaved chunks=2 zero=3 zero-group=2",
        "llama pp=2 tp=4 schedule=interleaved chunks=2 clip=0.05",
        "pp=2 tp=2 dp=2 schedule=interleaved chunks=2 sequence-parallel=true recompute=full",
        "pp=2 cp=2 schedule=interleaved chunks=2 attention=fused microbatches=4",
        "llama pp=2 cp=2 schedule=interleaved chunks=2 context-parallel=ulysses zero=2"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Split, Axes,
    testing::Values(
        "schedule=zb-h1 microbatches=3", "pp=2 schedule=zb-h1",
        "pp=4 schedule=zb-h1 microbatches=8", "pp=4 schedule=zb-h2 microbatches=9 clip=0.05",
        "pp=3 layers=3 schedule=zb-h2 microbatches=4 micro-batch=2",
        "llama pp=2 schedule=zb-h1 microbatches=5", "llama pp=4 schedule=zb-h2 microbatches=8",
        "pp=2 dp=2 schedule=zb-h1 zero=1", "pp=2 dp=2 schedule=zb-h1 zero=2",
        "pp=2 dp=2 schedule=zb-h2 zero=3 microbatches=4",
        "llama pp=2 dp=4 schedule=zb-h1 zero=3 zero-group=2",
        "pp=2 schedule=zb-h1 recompute=full microbatches=4",
        "pp=2 schedule=zb-h2 recompute=selective microbatches=4",
        "pp=2 tp=2 schedule=zb-h1 microbatches=4", "llama pp=2 tp=4 schedule=zb-h1 clip=0.05",
        "pp=2 tp=2 dp=2 schedule=zb-h1 sequence-parallel=true zero=1",
        "llama pp=2 tp=4 schedule=zb-h2 sequence-parallel=true microbatches=4",
        "pp=2 cp=2 schedule=zb-h1 attention=fused microbatches=4",
        "pp=2 cp=2 schedule=zb-h2 attention=fused context-parallel=all-gather",
        "llama pp=2 cp=2 schedule=zb-h1 context-parallel=ulysses micro-batch=2",
        "pp=2 schedule=zb-v microbatches=4", "schedule=zb-v microbatches=3",
        "layers=8 pp=4 schedule=zb-v microbatches=8",
        "llama pp=2 dp=2 schedule=zb-v zero=3 microbatches=5",
        "pp=2 tp=2 dp=2 schedule=zb-v sequence-parallel=true clip=0.05",
        "pp=2 schedule=zb-v recompute=full microbatches=4"),
    name_of_case);
// Collectives by the steps of engine/collectives: the same training.
INSTANTIATE_TEST_SUITE_P(
    Collectives, Axes,
    testing::Values("dp=2 collectives=ring", "dp=3 collectives=ring microbatches=4",
                    "dp=3 collectives=all_reduce=double-tree clip=0.05",
                    "dp=4 collectives=recursive-doubling", "dp=4 collectives=torus",
                    "dp=4 zero=1 collectives=ring clip=0.05",
                    "dp=3 zero=2 collectives=ring microbatches=4",
                    "dp=4 zero=3 collectives=all_gather=bruck,reduce_scatter=recursive-halving",
                    "dp=2 zero=3 recompute=full collectives=direct,all_reduce=tree",
                    "tp=4 collectives=ring", "tp=2 pp=2 dp=2 collectives=halving-doubling",
                    "llama tp=4 dp=2 sequence-parallel=true collectives=ring",
                    "cp=2 dp=2 context-parallel=ulysses collectives=pairwise",
                    "cp=4 context-parallel=ulysses collectives=bruck",
                    "cp=2 context-parallel=ulysses collectives=ring",
                    "cp=2 context-parallel=ulysses collectives=bruck",
                    "dp=2 pp=2 zero=3 microbatches=4 collectives=ring"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    BothEnds, Axes,
    testing::Values(
        "pp=2 schedule=dualpipe microbatches=4", "pp=4 schedule=dualpipe microbatches=8",
        "tp=2 pp=2 overlap-tensor=true schedule=dualpipe microbatches=4",
        "llama tp=2 pp=4 overlap-tensor=true schedule=dualpipe microbatches=8",
        "pp=4 schedule=dualpipe microbatches=10 clip=0.05",
        "llama pp=2 schedule=dualpipe microbatches=6",
        "llama pp=4 dp=2 schedule=dualpipe microbatches=8 clip=0.05",
        "pp=2 dp=2 schedule=dualpipe microbatches=4 zero=1",
        "pp=2 dp=2 schedule=dualpipe microbatches=4 zero=2",
        "pp=2 dp=2 schedule=dualpipe microbatches=4 zero=3 clip=0.05",
        "pp=2 dp=4 schedule=dualpipe microbatches=4 zero=2 zero-group=2",
        "pp=2 tp=2 dp=2 schedule=dualpipe microbatches=4 sequence-parallel=true",
        "llama pp=2 tp=4 schedule=dualpipe microbatches=4 clip=0.05",
        "pp=2 cp=2 schedule=dualpipe microbatches=4 attention=fused",
        "pp=2 schedule=dualpipe microbatches=4 recompute=full",
        "pp=2 schedule=dualpipe-v microbatches=4", "schedule=dualpipe-v microbatches=2",
        "layers=8 pp=4 schedule=dualpipe-v microbatches=8",
        "llama pp=2 dp=2 schedule=dualpipe-v microbatches=5 zero=3",
        "pp=2 tp=2 schedule=dualpipe-v microbatches=4 sequence-parallel=true recompute=selective"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(PaddedVocabulary, Axes,
                         testing::Values("vocab=257 tp=2", "vocab=257 tp=4 clip=0.05",
                                         "llama vocab=261 tp=4 dp=2 sequence-parallel=true zero=3",
                                         "vocab=259 tp=2 pp=2 dp=2 zero=1",
                                         "llama vocab=257 tp=2 pp=2 schedule=zb-h1"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Dropout, Axes,
    testing::Values(
        "dropout=0.1 dp=2", "dropout=0.5 dp=3 microbatches=3 micro-batch=2",
        "dropout=0.1 pp=4 microbatches=3", "llama dropout=0.1 dp=2 pp=2 zero=3", "dropout=0.1 tp=2",
        "dropout=0.1 tp=4 sequence-parallel=true micro-batch=2",
        "llama dropout=0.2 tp=4 sequence-parallel=true dp=2",
        "dropout=0.1 dp=2 recompute=selective", "dropout=0.1 pp=2 recompute=full microbatches=3",
        "dropout=0.1 attention=fused dp=2", "dropout=0.1 attention=fused tp=2 recompute=full",
        "dropout=0.1 cp=2 attention=fused", "dropout=0.1 cp=4 dp=2 attention=fused micro-batch=2",
        "llama dropout=0.1 cp=2 attention=fused context-parallel=all-gather",
        "dropout=0.1 cp=2 tp=2 attention=fused sequence-parallel=true",
        "dropout=0.1 cp=2 tp=2 context-parallel=ulysses micro-batch=2",
        "llama dropout=0.1 cp=4 context-parallel=ulysses attention=fused",
        "dropout=0.1 cp=2 context-parallel=ulysses recompute=selective",
        "dropout=0.1 pp=2 schedule=zb-h1 microbatches=4 recompute=full",
        "dropout=0.1 pp=2 tp=2 schedule=zb-v microbatches=4 sequence-parallel=true",
        "dropout=0.1 pp=2 schedule=interleaved chunks=2 microbatches=3",
        "dropout=0.1 pp=2 dp=2 schedule=dualpipe microbatches=4 clip=0.05"),
    name_of_case);

}  // namespace
}  // namespace parallelarium
