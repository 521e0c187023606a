// SPDX-License-Identifier: Apache-2.0
// All axes together: setups drawn at random, by a fixed seed, from everything that can be run on up
// to eight ranks.
#include <gtest/gtest.h>

#include <random>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

TEST(Combinations, TrainAsOneRankAndCountWhatTheProgramSays) {
  std::mt19937 random(20261121);
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  int run = 0;
  for (int drawn = 0; run < 60; ++drawn) {
    ASSERT_LT(drawn, 5000) << "too few of the drawn setups can be run";
    const std::string words =
        one_of({"", "llama "}) + "dp=" + one_of({"1", "2", "3", "4"}) +
        " tp=" + one_of({"1", "1", "2", "4"}) + " pp=" + one_of({"1", "1", "2", "4"}) +
        " cp=" + one_of({"1", "1", "2", "4"}) + " zero=" + one_of({"0", "1", "2", "3"}) +
        " sequence-parallel=" + one_of({"false", "true"}) +
        " context-parallel=" + one_of({"ring", "all-gather", "ulysses"}) +
        " attention=" + one_of({"fused", "unfused"}) +
        " cp-split=" + one_of({"zigzag", "contiguous"}) +
        " sequence-regather=" + one_of({"true", "false"}) + " recompute=" +
        one_of({"none", "selective", "full", "norms,activation", "second-products"}) +
        " zero-reshard=" + one_of({"true", "false"}) +
        " overlap-parameters=" + one_of({"true", "false"}) +
        " overlap-tensor=" + one_of({"true", "false"}) +
        " ring-tensor=" + one_of({"false", "false", "true"}) +
        " overlap-pipeline=" + one_of({"true", "true", "false"}) + " schedule=" +
        one_of({"1f1b", "gpipe", "naive", "interleaved", "zb-h1", "zb-h2", "zb-1p", "zb-2p", "zb-v",
                "v-half", "v-min", "dualpipe", "dualpipe-v"}) +
        " chunks=" + one_of({"1", "2"}) + " layers=" + one_of({"4", "8"}) +
        " micro-batch=" + one_of({"1", "2"}) +
        " microbatches=" + one_of({"1", "2", "3", "5", "8"}) + " clip=" + one_of({"0", "0.05"}) +
        " zero-group=" + one_of({"0", "0", "2"}) + " dropout=" + one_of({"0", "0", "0.1"}) +
        " vocab=" + one_of({"256", "256", "257"});
    const parallelarium::Setup setup = small_model(words);
    const int ranks = setup.mesh.ranks();
    if (ranks == 1 || ranks > 8 || !validate(setup).empty() || !can_execute(setup).ok()) continue;
    SCOPED_TRACE(words);
    expect_real(setup);
    if (HasFailure()) return;
    ++run;
  }
}

}  // namespace
}  // namespace parallelarium
