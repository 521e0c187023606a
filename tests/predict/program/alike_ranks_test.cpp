// SPDX-License-Identifier: Apache-2.0
// One rank that stands for those of its stage against all of them.
#include "engine/predict/network/alike_ranks.h"

#include <gtest/gtest.h>

#include <sstream>

#include "engine/passes/build.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

auto said_setup(const std::string& words) {
  auto setup = default_setup();
  std::istringstream in("model=llama3-8b machine=dgx-h100 attention=fused microbatches=8 " + words);
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    const Result<void> set = set_field(setup, word.substr(0, equals), word.substr(equals + 1));
    EXPECT_TRUE(set.ok()) << set.error().text;
  }
  return setup;
}

class AlikeRanks : public testing::TestWithParam<const char*> {};

TEST_P(AlikeRanks, HaveTheFiguresOfAll) {
  const auto setup = said_setup(GetParam());
  const Result<Machine> machine = machine_of(setup.machine);
  ASSERT_TRUE(machine.ok());
  ASSERT_TRUE(ranks_are_alike(setup, *machine));
  const Result<Prediction> one = predict(setup, *machine, BuildOptions{.stage_level = true});
  const Result<Prediction> all =
      predict(setup, *machine, BuildOptions{.all_ranks = true, .stage_level = true});
  ASSERT_TRUE(one.ok()) << one.error().text;
  ASSERT_TRUE(all.ok()) << all.error().text;
  EXPECT_EQ(one->program.ranks.size(), static_cast<std::size_t>(setup.mesh.pp));
  EXPECT_EQ(all->program.ranks.size(), static_cast<std::size_t>(setup.mesh.ranks()));
  EXPECT_NEAR(one->step.seconds, all->step.seconds, 1e-9 * all->step.seconds);
  EXPECT_NEAR(one->step.mfu, all->step.mfu, 1e-9);
  EXPECT_NEAR(one->bubble.of_total, all->bubble.of_total, 1e-9);
  ASSERT_EQ(one->bubble.ranks.size(), all->bubble.ranks.size());
  for (std::size_t rank = 0; rank < all->bubble.ranks.size(); ++rank)
    EXPECT_NEAR(one->bubble.ranks[rank], all->bubble.ranks[rank], 1e-9);
  EXPECT_EQ(one->needed_bytes, all->needed_bytes);
  ASSERT_EQ(one->memory.size(), all->memory.size());
  for (std::size_t stage = 0; stage < all->memory.size(); ++stage)
    EXPECT_EQ(one->memory[stage].peak_bytes, all->memory[stage].peak_bytes);
  ASSERT_EQ(one->traffic.size(), all->traffic.size());
  for (std::size_t row = 0; row < all->traffic.size(); ++row)
    EXPECT_EQ(one->traffic[row].sent_bytes, all->traffic[row].sent_bytes);
}

INSTANTIATE_TEST_SUITE_P(Meshes, AlikeRanks,
                         testing::Values("pp=4 tp=8 dp=2", "pp=2 tp=4 dp=8 zero=1",
                                         "pp=1 tp=8 dp=6 zero=3", "pp=4 tp=2 cp=4 dp=2",
                                         "pp=2 tp=8 dp=4 zero=2 schedule=zb-h1",
                                         "pp=4 tp=4 dp=2 order=tp-cp-ep-pp-dp",
                                         "pp=2 model=mixtral-8x7b tp=4 dp=8 ep=8",
                                         "pp=2 model=mixtral-8x7b tp=4 dp=8 ep=8 zero=1 "
                                         "sequence-parallel=true expert-tensor=false",
                                         "pp=2 model=mixtral-8x7b tp=4 dp=4 ep=2 zero=2 "
                                         "sequence-parallel=true expert-tensor=false",
                                         "pp=2 model=qwen3-30b-a3b tp=4 dp=8 ep=16 "
                                         "sequence-parallel=true expert-tensor=false "
                                         "order=tp-cp-ep-pp-dp"));

// Pods of an oversubscribed network: replicas lie alike on them though the last is not full.
TEST(AlikeRanks, HaveTheFiguresOfAllOnLeafGroups) {
  for (const char* const words :
       {"pp=2 tp=8 dp=3 order=tp-cp-ep-pp-dp", "pp=2 tp=4 dp=7 zero=1 order=tp-cp-ep-pp-dp",
        "pp=1 tp=8 dp=7 zero=3", "pp=4 tp=8 dp=2", "pp=1 model=mixtral-8x7b tp=4 dp=16 ep=8"}) {
    const auto setup = said_setup(words);
    Machine machine = *machine_of(setup.machine);
    const Result<Prediction> flat = predict(setup, machine, BuildOptions{.stage_level = true});
    machine.nodes_per_leaf.value = 4;
    machine.oversubscription.value = 32;
    ASSERT_TRUE(ranks_are_alike(setup, machine)) << words;
    const Result<Prediction> one = predict(setup, machine, BuildOptions{.stage_level = true});
    const Result<Prediction> all =
        predict(setup, machine, BuildOptions{.all_ranks = true, .stage_level = true});
    ASSERT_TRUE(one.ok() && all.ok() && flat.ok()) << words;
    EXPECT_NEAR(one->step.seconds, all->step.seconds, 1e-9 * all->step.seconds) << words;
    EXPECT_GT(one->step.seconds, flat->step.seconds) << words;
  }
  // Some replicas lie across the border of two leaf groups, others do not.
  const auto setup = said_setup("pp=2 tp=8 dp=4");
  Machine machine = *machine_of(setup.machine);
  machine.nodes_per_leaf.value = 3;
  EXPECT_TRUE(ranks_are_alike(setup, machine)) << "all of the network is as fast";
  machine.oversubscription.value = 2;
  EXPECT_FALSE(ranks_are_alike(setup, machine));
}

// Groups that straddle nodes, a slow rank, uneven attention, uneven experts: however many
// micro-batches there are, no rank stands for others that do other things.
TEST(AlikeRanks, AreNotTakenToBeWhereThereAreManyMicroBatches) {
  for (const char* const words :
       {"tp=3 dp=5 hidden=96 heads=6 kv-heads=6 ffn=384",
        "dp=16 slow-rank=3 slow-factor=2 schedule=gpipe",
        "dp=6 cp=3 machine=hgx-mi300x schedule=gpipe", "dp=16 experts=8 ep=8 skew=0.5"}) {
    for (const char* const many : {" microbatches=20", " microbatches=130"}) {
      const auto setup =
          said_setup("model=gpt-tiny sequence=24 micro-batch=1 pp=1 " + std::string(words) + many);
      const Machine machine = *machine_of(setup.machine);
      ASSERT_FALSE(ranks_are_alike(setup, machine)) << words;
      const Result<Prediction> usual = predict(setup, machine);
      const Result<Prediction> all =
          predict(setup, machine, BuildOptions{.all_ranks = true, .stage_level = true});
      ASSERT_TRUE(usual.ok()) << words << usual.error().text;
      ASSERT_TRUE(all.ok()) << words << all.error().text;
      EXPECT_EQ(usual->program.ranks.size(), static_cast<std::size_t>(setup.mesh.ranks()));
      EXPECT_NEAR(usual->step.seconds, all->step.seconds, 1e-9 * all->step.seconds)
          << words << many;
      EXPECT_NEAR(usual->bubble.of_total, all->bubble.of_total, 1e-9) << words << many;
      EXPECT_GT(usual->bubble.of_total, 0) << words << many;
    }
  }
}

// Half of a group on another node, a slow rank, or experts with unequal loads.
TEST(AlikeRanks, AreNotWhereSomeDoOtherThings) {
  for (const char* const words : {"pp=1 tp=2 dp=6 cp=3", "pp=2 tp=8 dp=2 slow-rank=3 slow-factor=2",
                                  "pp=1 model=mixtral-8x7b tp=8 dp=8 ep=8 skew=0.3"}) {
    const auto setup = said_setup(words);
    EXPECT_FALSE(ranks_are_alike(setup, *machine_of(setup.machine))) << words;
  }
}

}  // namespace
}  // namespace parallelarium
