// SPDX-License-Identifier: Apache-2.0
// Which Setups can be predicted, which can be executed, and what is said of the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/setup/schedule_rules.h"
#include "tests/plan/changed.h"

namespace parallelarium {
namespace {

struct Invalid {
  Fields fields;
  const char* id;
  const char* field;
  const char* words;
};

// A fused attention keeps no scores, and CP shares out the tokens: a long sequence is valid then.
TEST(Validate, LetsLongSequencesThrough) {
  Fields fields = {{"model", "llama3-8b"},
                   {"machine", "dgx-h100"},
                   {"pp", "1"},
                   {"dp", "1"},
                   {"tp", "8"},
                   {"cp", "8"},
                   {"sequence", "1000000"},
                   {"microbatches", "64"},
                   {"attention", "fused"}};
  EXPECT_TRUE(validate(changed(fields)).empty());
  fields.push_back({"attention", "unfused"});
  fields.push_back({"cp", "1"});
  fields.push_back({"tp", "1"});
  fields.push_back({"sequence", "2000000"});
  const std::vector<Message> wrong = validate(changed(fields));
  ASSERT_FALSE(wrong.empty());
  EXPECT_EQ(wrong.front().kind, "bytes-many");
}

// Every rule once, with its sentence; and every alternative it offers mends that rule.
TEST(Validate, SaysWhatToChangeAndItsAlternativesWork) {
  const Invalid cases[] = {
      {{{"heads", "8"}, {"tp", "3"}},
       "tp-heads",
       "mesh.tp",
       "TP 3 does not divide 8 heads; 2 or 4 would."},
      {{{"model", "llama3-8b"}, {"tp", "12"}}, "tp-heads", "mesh.tp", "TP 12 does not divide"},
      {{{"model", "llama-tiny"}, {"ffn", "90"}, {"tp", "4"}},
       "tp-heads",
       "mesh.tp",
       "the MLP's inner width 90"},
      {{{"pp", "3"}},
       "pp-layers",
       "mesh.pp",
       "8 layers cannot be cut evenly for PP 3; PP 2, 4 or 8 would do, or layers given stage by "
       "stage (“Stage layers”)."},
      {{{"pp", "16"}}, "pp-layers-few", "mesh.pp", "more than the 8 layers"},
      {{{"model", "llama3-405b"}, {"pp", "17"}}, "pp-layers", "mesh.pp", "126 layers"},
      {{{"stage-layers", "4,4"}},
       "stage-layers-count",
       "stage_layers",
       "2 stages, but there are 4"},
      {{{"stage-layers", "1,1,1,1"}},
       "stage-layers-sum",
       "stage_layers",
       "“Stage layers” must add up to 8 layers; it adds up to 4"},
      {{{"stage-layers", "4,0,2,2"}},
       "stage-layers-empty",
       "stage_layers",
       "leaves stage 1 without a layer"},
      {{{"heads", "7"}}, "heads-hidden", "model.heads", "7 heads do not divide hidden 64"},
      {{{"kv-heads", "3"}}, "kv-heads", "model.kv_heads", "3 key/value heads"},
      {{{"ep", "2"}}, "ep-dense", "mesh.ep", "needs a model with experts"},
      {{{"model", "moe-tiny"}, {"ep", "4"}, {"dp", "2"}}, "ep-dp", "mesh.ep", "must divide DP 2"},
      {{{"model", "moe-tiny"}, {"ep", "3"}, {"dp", "6"}}, "ep-experts", "mesh.ep", "8 experts"},
      {{{"model", "moe-tiny"}, {"tp", "2"}, {"ep", "2"}, {"expert-tensor", "false"}},
       "whole-experts-sp",
       "sequence_parallel",
       "turn it on, or let TP cut experts"},
      {{{"model", "moe-tiny"},
        {"tp", "2"},
        {"dp", "2"},
        {"sequence-parallel", "true"},
        {"ep", "8"},
        {"expert-tensor", "false"}},
       "ep-stage",
       "mesh.ep",
       "must divide the 4 ranks of a stage"},
      {{{"model", "moe-tiny"},
        {"tp", "2"},
        {"dp", "6"},
        {"sequence-parallel", "true"},
        {"ep", "4"},
        {"expert-tensor", "false"},
        {"zero", "1"},
        {"zero-group", "3"}},
       "zero-group-ep",
       "zero_group",
       "2 or 6 would not"},
      {{{"sequence-parallel", "true"}}, "sp-tp", "sequence_parallel", "needs TP above 1"},
      {{{"sequence-parallel", "true"}, {"tp", "4"}, {"sequence", "126"}},
       "sp-sequence",
       "sequence_parallel",
       "126 tokens"},
      {{{"sequence-parallel", "true"},
        {"tp", "2"},
        {"sequence-regather", "false"},
        {"recompute", "norms"}},
       "sp-kept-norms",
       "sequence_regather",
       "not both"},
      {{{"scatter-gather", "true"}, {"tp", "2"}, {"pp", "2"}, {"schedule", "zb-v"}},
       "scatter-gather-v",
       "scatter_gather",
       "hands a whole micro-batch on to itself"},
      {{{"ring-tensor", "true"}}, "ring-tensor-tp", "ring_tensor", "needs TP above 1"},
      {{{"ring-tensor", "true"}, {"tp", "2"}},
       "ring-tensor",
       "sequence_parallel",
       "sequence parallelism gives each rank"},
      {{{"model", "deepseek-v3"}, {"recompute", "second-products"}},
       "second-products-latent",
       "recompute",
       "queries, keys and values are several products each"},
      {{{"cp", "2"}, {"context-parallel", "ulysses"}, {"recompute", "second-products"}},
       "second-products-ulysses",
       "recompute",
       "would save nothing"},
      {{{"cp", "3"}}, "cp-sequence", "mesh.cp", "128 tokens"},
      {{{"cp", "8"}, {"context-parallel", "ulysses"}}, "cp-heads", "mesh.cp", "shares out heads"},
      {{{"zero", "1"}, {"zero-group", "3"}, {"dp", "4"}}, "zero-group", "zero_group", "DP 4"},
      {{{"model", "moe-tiny"}, {"dp", "6"}, {"ep", "2"}, {"zero", "1"}, {"zero-group", "3"}},
       "zero-group-ep",
       "zero_group",
       "A ZeRO group of 3 would cut across EP groups of 2; 0, 2 or 6 would not."},
      {{{"schedule", "2f2b"}}, "schedule-unknown", "schedule", "naive, gpipe, 1f1b"},
      {{{"chunks", "2"}}, "schedule-chunks", "chunks", "1 chunk per rank"},
      {{{"schedule", "interleaved"}}, "schedule-chunks", "chunks", "2 or more chunks"},
      {{{"schedule", "zb-v"}, {"chunks", "4"}}, "schedule-chunks", "chunks", "2 chunks per rank"},
      {{{"schedule", "dualpipe"}, {"layers", "6"}, {"pp", "3"}},
       "schedule-ranks",
       "mesh.pp",
       "even number of stages"},
      {{{"schedule", "dualpipe"}, {"microbatches", "9"}},
       "schedule-microbatches",
       "microbatches",
       "even number of them"},
      {{{"schedule", "dualpipe-v"}, {"microbatches", "7"}},
       "schedule-microbatches",
       "microbatches",
       "8 or more"},
      {{{"schedule", "zb-v"}, {"layers", "7"}, {"pp", "1"}},
       "schedule-layers",
       "schedule",
       "two stages on each rank"},
      {{{"schedule", "interleaved"},
        {"chunks", "2"},
        {"pp", "4"},
        {"microbatches", "9"},
        {"microbatch-group", "3"}},
       "microbatch-group",
       "microbatch_group",
       "Groups of 3 micro-batches leave ranks without work"},
      {{{"offload-optimizer", "true"}},
       "offload-host",
       "offload_optimizer",
       "has no memory of a host beside"},
      {{{"machine", "dgx-h100"}, {"nodes", "2"}, {"pp", "4"}, {"dp", "8"}},
       "nodes-few",
       "nodes",
       "32 ranks need 4 nodes"},
      {{{"dp", "65536"}, {"pp", "8"}, {"cp", "64"}}, "ranks-many", "mesh.dp", "ranks"},
      {{{"microbatches", "1e6"}}, "actions-many", "microbatches", "micro-batches are too many"},
      {{{"sequence", "16777216"}, {"micro-batch", "65536"}, {"microbatches", "100000"}},
       "tokens-many",
       "microbatches",
       "10^15 tokens"},
  };
  for (const Invalid& invalid : cases) {
    const parallelarium::Setup setup = changed(invalid.fields);
    const std::vector<Message> wrong = validate(setup);
    ASSERT_FALSE(wrong.empty()) << invalid.id;
    EXPECT_EQ(wrong.front().kind, invalid.id) << wrong.front().text;
    EXPECT_EQ(wrong.front().field, invalid.field);
    EXPECT_NE(wrong.front().text.find(invalid.words), std::string::npos) << wrong.front().text;
    EXPECT_FALSE(wrong.front().alternatives.empty()) << invalid.id;
    for (const std::string& value : wrong.front().alternatives) {
      parallelarium::Setup mended = setup;
      ASSERT_TRUE(set_field(mended, wrong.front().field, value).ok()) << invalid.id << " " << value;
      for (const Message& left : validate(mended))
        EXPECT_NE(left.id, invalid.id) << value << " does not help: " << left.text;
    }
  }
}

// A number of stages that a refusal names is one that no rule refuses.
TEST(Validate, SaysStagesThatEveryScheduleTakes) {
  for (const ScheduleRule& rule : kScheduleRules) {
    const parallelarium::Setup setup = changed({{"model", "llama3-405b"},
                                                {"machine", "dgx-h100"},
                                                {"pp", "4"},
                                                {"schedule", rule.name.data()},
                                                {"microbatches", "256"}});
    const std::vector<Message> wrong = validate(setup);
    if (wrong.empty() || wrong.front().field != "mesh.pp") continue;
    const std::vector<std::string>& stages = wrong.front().alternatives;
    EXPECT_TRUE(std::is_sorted(stages.begin(), stages.end(), [](const auto& a, const auto& b) {
      return std::stoi(a) < std::stoi(b);
    })) << wrong.front().text;
    for (const std::string& value : stages) {
      parallelarium::Setup mended = setup;
      ASSERT_TRUE(set_field(mended, "mesh.pp", value).ok());
      for (const Message& left : validate(mended))
        EXPECT_NE(left.field, "mesh.pp") << value << ": " << left.text;
    }
  }
}

TEST(Validate, AcceptsPublishedSetups) {
  EXPECT_TRUE(validate(changed({{"model", "megatron-1t"},
                                {"machine", "dgx-a100-80g"},
                                {"tp", "8"},
                                {"pp", "64"},
                                {"microbatches", "512"},
                                {"dp", "6"},
                                {"precision", "mixed-16-main-grads"}}))
                  .empty());
  EXPECT_TRUE(validate(changed({{"model", "llama3-405b"},
                                {"machine", "dgx-h100"},
                                {"tp", "8"},
                                {"cp", "16"},
                                {"pp", "16"},
                                {"dp", "8"},
                                {"sequence", "131072"},
                                {"microbatches", "16"},
                                {"zero", "1"},
                                {"precision", "mixed-16"}}))
                  .empty());
  EXPECT_TRUE(validate(changed({{"model", "gpt3-175b"}, {"pp", "8"}, {"tp", "8"}})).empty());
}

TEST(Validate, RefusesNumbersThatNoFileCanHold) {
  parallelarium::Setup setup = default_setup();
  setup.mesh.tp = 0;
  EXPECT_EQ(validate(setup).front().field, "mesh.tp");
  setup = default_setup();
  setup.micro_batch = -1;
  EXPECT_EQ(validate(setup).front().field, "micro_batch");
  setup = default_setup();
  setup.dropout = std::nan("");
  EXPECT_EQ(validate(setup).front().field, "dropout");
  setup = default_setup();
  setup.precision.parameter_bytes = 3;
  EXPECT_EQ(validate(setup).front().field, "precision.parameter_bytes");
}

TEST(CanExecute, NamesTheRuleThatIsMissing) {
  const std::pair<Fields, const char*> cases[] = {
      {{{"cp", "2"}, {"context-parallel", "all-gather"}}, "run-cp-attention"},
      {{{"model", "moe-tiny"}, {"cp", "2"}, {"attention", "fused"}}, "run-experts-cp"},
      {{{"model", "moe-tiny"},
        {"tp", "2"},
        {"sequence-parallel", "true"},
        {"expert-tensor", "false"}},
       "run-whole-capacity"},
      {{{"vocab", "64"}}, "run-vocab"},
      {{{"dp", "5"}}, "run-ranks"}};
  for (const auto& [fields, id] : cases) {
    const parallelarium::Setup setup = changed(fields);
    ASSERT_TRUE(validate(setup).empty()) << id << ": " << validate(setup).front().text;
    const Result<void> can = can_execute(setup);
    ASSERT_FALSE(can.ok()) << id;
    EXPECT_EQ(can.error().kind, id);
  }
  EXPECT_TRUE(can_execute(changed({{"dp", "4"}})).ok());
  // Bytes that no kernel has: fp32 parameters with a master, one moment's bytes for both.
  for (const Precision& precision : {Precision{"custom", 4, 4, 4, 8}, {"custom", 2, 2, 4, 2}}) {
    parallelarium::Setup setup = default_setup();
    setup.precision = precision;
    const Result<void> can = can_execute(setup);
    ASSERT_FALSE(can.ok());
    EXPECT_EQ(can.error().id, "run-precision");
  }
  for (const Precision& precision : precision_recipes()) {
    parallelarium::Setup setup = default_setup();
    setup.precision = precision;
    EXPECT_TRUE(can_execute(setup).ok()) << precision.name;
  }
  EXPECT_TRUE(can_execute(changed({{"model", "moe-tiny"}, {"dp", "4"}, {"ep", "4"}})).ok());
  EXPECT_TRUE(can_execute(changed({{"model", "llama-tiny"}, {"recompute", "full"}})).ok());
  for (const char* schedule : {"interleaved", "zb-h1", "zb-h2", "zb-1p", "zb-2p", "zb-v", "v-half",
                               "v-min", "dualpipe", "dualpipe-v"}) {
    const bool chunks = std::string(schedule) == "interleaved";
    EXPECT_TRUE(can_execute(changed({{"schedule", schedule}, {"chunks", chunks ? "2" : "1"}})).ok())
        << schedule;
  }
  EXPECT_TRUE(can_execute(changed({{"model", "gpt2-124m"}, {"pp", "3"}})).ok());
}

// What is computed again is a set: its words come in any order, and stand in one.
TEST(RecomputedParts, AreASetOfWords) {
  for (const auto& [typed, kept] : {std::pair{"none", "none"},
                                    {"selective", "selective"},
                                    {"norms,selective", "selective,norms"},
                                    {"experts,norms,experts", "norms,experts"},
                                    {"up-projection", "up-projection"},
                                    {"second-products,activation", "activation,second-products"},
                                    {"full", "full"}}) {
    const parallelarium::Setup setup = changed({{"recompute", typed}});
    EXPECT_EQ(text_of(setup.recompute), kept);
    EXPECT_EQ(*setup_from_json(to_json(setup)), setup);
  }
  parallelarium::Setup setup = default_setup();
  for (const auto& [typed, kind] : {std::pair{"none,norms", "recompute-alone"},
                                    {"selective,full", "recompute-alone"},
                                    {"norms,,experts", "unknown-choice"},
                                    {"attention", "unknown-choice"}}) {
    const Result<void> set = set_field(setup, "recompute", typed);
    ASSERT_FALSE(set.ok()) << typed;
    EXPECT_EQ(set.error().kind, kind) << typed;
    EXPECT_EQ(setup, default_setup());
  }
}

}  // namespace
}  // namespace parallelarium
