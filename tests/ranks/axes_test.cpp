// SPDX-License-Identifier: Apache-2.0
// Every axis of parallelism trains as one rank does.
#include <gtest/gtest.h>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

class Axes : public testing::TestWithParam<const char*> {};

TEST_P(Axes, TrainAsOneRankAndCountWhatTheProgramSays) { expect_real(small_model(GetParam())); }

std::string name_of_case(const testing::TestParamInfo<const char*>& info) {
  return test_name(info.param);
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

}  // namespace
}  // namespace parallelarium
