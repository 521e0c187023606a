// SPDX-License-Identifier: Apache-2.0
// What is written for a framework and read back is the Setup again, but for what is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/plan/machine/resolve.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/cases.h"
#include "engine/wire/frameworks/differences.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {
namespace {

using frameworks::CompareModels;
using frameworks::differences;

std::set<std::string> named(const FrameworkText& written) {
  std::set<std::string> keys;
  for (const Message& sentence : written.not_expressible) {
    EXPECT_FALSE(sentence.id.empty());
    EXPECT_FALSE(sentence.text.empty());
    keys.insert(sentence.field);
  }
  return keys;
}

// What a framework cannot say of every value, or at all. A row that breaks makes another one.
const std::map<std::string, std::set<std::string>> kUnsaid = {
    {"megatron",
     {"bias_rate", "chunks", "collectives", "context_parallel", "cp_split", "fp8_dispatch",
      "machine", "overlap_experts", "overlap_pipeline", "overlap_tensor", "recompute", "schedule",
      "sequence_regather", "zero_reshard"}},
    {"torchtitan",
     {"attention",
      "balance_loss",
      "sequence_regather",
      "bias_rate",
      "chunks",
      "collectives",
      "context_parallel",
      "dropout",
      "expert_dispatch",
      "fp8_dispatch",
      "machine",
      "mesh.ep",
      "mesh.order",
      "model",
      "overlap_experts",
      "overlap_gradients",
      "overlap_pipeline",
      "precision",
      "products",
      "recompute",
      "recompute_layers",
      "schedule",
      "z_loss",
      "zero",
      "zero_reshard"}},
    {"deepspeed", {"attention",        "balance_loss",     "bias_rate",    "chunks",
                   "collectives",      "context_parallel", "cp_split",     "sequence_regather",
                   "dropout",          "expert_dispatch",  "fp8_dispatch", "machine",
                   "mesh.order",       "mesh.pp",          "model",        "overlap_experts",
                   "overlap_pipeline", "overlap_tensor",   "precision",    "products",
                   "recompute",        "recompute_layers", "schedule",     "sequence_parallel",
                   "stage_layers",     "z_loss",           "zero_group",   "zero_reshard"}},
    {"accelerate",
     {"attention",
      "balance_loss",
      "bias_rate",
      "chunks",
      "collectives",
      "clip",
      "context_parallel",
      "cp_split",
      "dropout",
      "expert_dispatch",
      "fp8_dispatch",
      "learning_rate",
      "machine",
      "mesh.ep",
      "mesh.order",
      "mesh.pp",
      "micro_batch",
      "microbatches",
      "model",
      "overlap_experts",
      "overlap_gradients",
      "overlap_pipeline",
      "overlap_tensor",
      "precision",
      "recompute",
      "recompute_layers",
      "schedule",
      "sequence_parallel",
      "sequence_regather",
      "stage_layers",
      "z_loss",
      "zero",
      "zero_group"}},
    {"nanotron",
     {"attention",
      "bias_rate",
      "chunks",
      "collectives",
      "context_parallel",
      "cp_split",
      "dropout",
      "expert_dispatch",
      "fp8_dispatch",
      "machine",
      "mesh.ep",
      "mesh.order",
      "model.biases",
      "model.experts.capacity",
      "model.experts.group_limit",
      "model.experts.groups",
      "model.experts.router",
      "model.head_dim",
      "model.latent.kv_rank",
      "model.latent.nope_dim",
      "model.latent.q_rank",
      "model.latent.rope_dim",
      "model.latent.value_dim",
      "model.learned_positions",
      "model.mlp",
      "model.norm",
      "overlap_experts",
      "overlap_gradients",
      "overlap_pipeline",
      "precision",
      "products",
      "recompute",
      "recompute_layers",
      "schedule",
      "stage_layers",
      "z_loss",
      "zero",
      "zero_group",
      "zero_reshard"}},
    {"megatron-bridge",
     {"bias_rate", "chunks", "collectives", "context_parallel", "cp_split", "fp8_dispatch",
      "machine", "overlap_experts", "overlap_pipeline", "overlap_tensor", "recompute", "schedule",
      "sequence_regather", "zero_reshard"}},
};

// Read onto the first lesson's Setup, what comes back differs in what is named alone.
void expect_round_trip(const std::string& framework, const Setup& setup) {
  const Result<FrameworkText> written = write_for_framework(framework, setup);
  ASSERT_TRUE(written.ok()) << written.error().text << "\n" << to_json(setup).dump(1);
  const Result<FrameworkSetup> read =
      read_from_framework(framework, written->text, default_setup());
  ASSERT_TRUE(read.ok()) << read.error().text << "\n" << written->text;
  const std::set<std::string> keys = named(*written);
  for (const std::string& key : keys)
    EXPECT_EQ(kUnsaid.at(framework).count(key), 1u) << key << "\n" << written->text;
  for (const auto& difference : differences(setup, read->setup, CompareModels::kByKey)) {
    const bool of_model = difference.key.starts_with("model") && keys.count("model") > 0;
    EXPECT_TRUE(of_model || keys.count(difference.key) > 0)
        << difference.key << " was " << difference.before << " and is " << difference.after << "\n"
        << written->text;
  }
  for (const Message& note : read->not_understood)
    EXPECT_NE(note.id, "framework-unread") << note.text;
}

class Framework : public testing::TestWithParam<std::string> {};

TEST_P(Framework, SaysEveryCaseStudyOrNamesWhatItCannot) {
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok());
  int rows = 0;
  for (const Case& of : *cases)
    for (const CaseRow& row : of.rows) {
      if (!row.impossible.empty()) continue;
      SCOPED_TRACE(of.name + ", " + row.name);
      expect_round_trip(GetParam(), row.setup);
      if (HasFailure()) return;
      ++rows;
    }
  EXPECT_GT(rows, 150);
}

template <class T>
T one_of(std::mt19937& random, std::initializer_list<T> values) {
  return *(values.begin() + static_cast<long>(random() % values.size()));
}

// Of every kind, valid or not: the caller asks.
Setup random_setup(std::mt19937& random) {
  Setup setup = default_setup();
  const std::vector<std::string> names = model_names();
  setup.model = *find_model(names[random() % names.size()]);
  if (random() % 3 == 0) setup.model.layers = one_of(random, {4, 8, 24, 30});
  if (setup.model.layers != find_model(setup.model.name)->layers) setup.model.stage_layers.clear();
  if (random() % 4 == 0) setup.model.tied = !setup.model.tied;
  if (random() % 4 == 0) setup.model.sequence *= 2;
  if (setup.model.experts.count > 0 && random() % 3 == 0) setup.model.experts.capacity = 1.25;
  if (setup.model.experts.count > 0 && random() % 3 == 0) setup.model.experts.shared = 2;
  setup.mesh.dp = one_of(random, {1, 2, 4, 6, 8, 64});
  setup.mesh.tp = one_of(random, {1, 1, 2, 4, 8});
  setup.mesh.pp = one_of(random, {1, 2, 3, 4, 8});
  setup.mesh.cp = one_of(random, {1, 1, 2, 4});
  if (setup.model.experts.count > 0) setup.mesh.ep = one_of(random, {1, 2, 4});
  setup.mesh.order = one_of(random, {RankOrder::kTpCpEpDpPp, RankOrder::kTpCpEpPpDp});
  setup.sequence_parallel = setup.mesh.tp > 1 && random() % 2 == 0;
  setup.zero = static_cast<int>(random() % 4);
  if (random() % 3 == 0) setup.zero_group = one_of(random, {2, 4});
  setup.zero_reshard = random() % 2 == 0;
  setup.schedule = kScheduleRules[random() % kScheduleRules.size()].name;
  if (setup.schedule == "interleaved") setup.chunks = one_of(random, {2, 3, 4});
  setup.micro_batch = one_of(random, {1, 2, 3});
  setup.microbatches = one_of(random, {1, 7, 8, 16, 24});
  setup.precision = one_of(
      random, {Precision{"mixed-16", 2, 2, 4, 8}, Precision{"mixed-16-main-grads", 2, 4, 4, 8},
               Precision{"bf16-states", 2, 2, 4, 4}, Precision{}, Precision{"custom", 2, 4, 4, 4},
               Precision{"custom", 2, 2, 2, 4}});
  setup.recompute = one_of(random, {Recompute::kNone, Recompute::kSelective, Recompute::kFull,
                                    Recompute::kNorms | Recompute::kActivation});
  if (setup.recompute == Recompute::kFull && random() % 2 == 0) setup.recompute_layers = 1;
  setup.context_parallel = one_of(random, {ContextParallel::kRing, ContextParallel::kAllGather,
                                           ContextParallel::kUlysses, ContextParallel::kLocal});
  setup.cp_split = one_of(random, {ContextSplit::kZigzag, ContextSplit::kContiguous});
  setup.sequence_regather = random() % 3 != 0;
  setup.attention = one_of(random, {Attention::kFused, Attention::kUnfused});
  setup.overlap_gradients = random() % 2 == 0;
  setup.overlap_tensor = random() % 2 == 0;
  setup.overlap_pipeline = random() % 2 == 0;
  setup.dropout = one_of(random, {0.0, 0.1});
  setup.clip = one_of(random, {0.0, 1.0, 0.3});
  setup.learning_rate = std::uniform_real_distribution<double>(1e-6, 1e-2)(random);
  setup.balance_loss = one_of(random, {0.0, 0.01});
  setup.z_loss = one_of(random, {0.0, 1e-3});
  setup.bias_rate = one_of(random, {0.0, 1e-3});
  setup.expert_dispatch = one_of(random, {ExpertDispatch::kCopies, ExpertDispatch::kOncePerNode});
  return setup;
}

TEST_P(Framework, SaysRandomSetupsOrNamesWhatItCannot) {
  std::mt19937 random(7);
  int tried = 0;
  for (int n = 0; n < 3000 && tried < 150; ++n) {
    const auto setup = random_setup(random);
    if (!validate(setup).empty()) continue;
    ++tried;
    expect_round_trip(GetParam(), setup);
    if (HasFailure()) return;
  }
  EXPECT_EQ(tried, 150);
}

TEST_P(Framework, ReadsNothingOutOfNoise) {
  for (const char* text :
       {"", "\n", "{", "--", "\"", "a: [", "config.x = (", "--num-layers", "a:\n  b\n c",
        "{\"zero_optimization\": {\"stage\": 7}}",
        "config.parallelism.tensor_parallel_degree = -3\n", "cfg.model.num_layers = \"many\"\n",
        "parallelism:\n  dp: 0\n", "distributed_type: TPU\n", "--num-layers x"}) {
    const Result<FrameworkSetup> read = read_from_framework(GetParam(), text, default_setup());
    EXPECT_TRUE(read.ok() || !read.error().text.empty()) << text;
  }
}

// A text with a letter changed, doubled or left out is read or refused, and does neither for long.
TEST_P(Framework, SurvivesBrokenTexts) {
  std::mt19937 random(11);
  auto setup = default_setup();
  setup.model = *find_model("deepseek-v2");
  setup.mesh.pp = 4;
  setup.microbatches = 8;
  const std::string text = write_for_framework(GetParam(), setup)->text;
  const std::string letters = "(){}[]'\"|*=:,-$#\n \\0.e";
  for (int n = 0; n < 400; ++n) {
    std::string broken = text;
    for (int change = 0; change < 3; ++change) {
      const std::size_t at = random() % broken.size();
      switch (random() % 3) {
        case 0:
          broken[at] = letters[random() % letters.size()];
          break;
        case 1:
          broken.erase(at, 1 + random() % 40);
          break;
        default:
          broken.insert(at, 1, letters[random() % letters.size()]);
      }
    }
    const Result<FrameworkSetup> read = read_from_framework(GetParam(), broken, default_setup());
    if (read)
      validate(read->setup);
    else
      EXPECT_FALSE(read.error().text.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Framework,
                         testing::Values("megatron", "megatron-bridge", "torchtitan", "deepspeed",
                                         "accelerate", "nanotron"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

FrameworkSetup read_or_fail(const std::string& framework, const std::string& text) {
  const Result<FrameworkSetup> read = read_from_framework(framework, text, default_setup());
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text);
  return read.ok() ? *read : FrameworkSetup{default_setup(), {}};
}

// examples/academic_paper_scripts of Megatron-LM, as a person pastes it.
TEST(Megatron, ReadsAScriptWithVariables) {
  const FrameworkSetup read = read_or_fail("megatron", R"(#!/bin/bash
GPUS_PER_NODE=8
NUM_NODES=2
TP=4  # inside a node
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes ${NUM_NODES:-1}
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288 \
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${GPT_MODEL_ARGS[@]} \
    --tensor-model-parallel-size "$TP" --pipeline-model-parallel-size 2 \
    --num-layers-per-virtual-pipeline-stage 8 \
    --micro-batch-size 1 --global-batch-size=64 --fp16 --expert-tensor-parallel-size 1 \
    --data-path /data/my text --vocab-size 51200
)");
  const auto& setup = read.setup;
  EXPECT_EQ(setup.model.layers, 96);
  EXPECT_EQ(setup.model.ffn, 4 * 12288);
  EXPECT_EQ(setup.model.vocab, 51200);
  EXPECT_EQ(setup.mesh.tp, 4);
  EXPECT_EQ(setup.mesh.dp, 2);
  EXPECT_EQ(setup.schedule.name(), "interleaved");
  EXPECT_EQ(setup.chunks, 6);
  EXPECT_EQ(setup.microbatches, 32);
  EXPECT_EQ(setup.dropout, 0.1);
  EXPECT_EQ(setup.precision.name, "mixed-16-main-grads");
  ASSERT_EQ(read.not_understood.size(), 1u);
  EXPECT_EQ(read.not_understood[0].text,
            "--expert-tensor-parallel-size is left out: no setting of a Setup is known to follow "
            "from it.");
  EXPECT_TRUE(validate(setup).empty());
}

TEST(Megatron, ReadsALayoutAndAWrongOne) {
  const std::string line =
      "--num-layers 8 --hidden-size 64 --num-attention-heads 4 "
      "--pipeline-model-parallel-size 4 --nproc-per-node 4 ";
  const FrameworkSetup read =
      read_or_fail("megatron", line + "--pipeline-model-parallel-layout 'Et|(ttt|)*2,tL'");
  EXPECT_EQ(read.setup.stage_layers, (std::vector<int>{1, 3, 3, 1}));
  for (const char* layout : {"Ex|L", "(t|", "t*", "*3", "t*99999999", "Et|tL"}) {
    const auto wrong = read_from_framework(
        "megatron", line + "--pipeline-model-parallel-layout '" + layout + "'", default_setup());
    ASSERT_FALSE(wrong.ok()) << layout;
    EXPECT_NE(wrong.error().text.find("layout"), std::string::npos) << wrong.error().text;
  }
}

// Megatron takes groups of PP micro-batches and refuses a rest of fewer than PP.
TEST(Megatron, SaysTheGroupThatItWouldNotChooseItself) {
  auto setup = default_setup();
  setup.mesh.pp = 4;
  setup.schedule = "interleaved";
  setup.chunks = 2;
  const auto text_of = [&](int microbatches) {
    setup.microbatches = microbatches;
    return write_for_framework("megatron", setup)->text;
  };
  const std::string flag = "--microbatch-group-size-per-virtual-pipeline-stage ";
  EXPECT_EQ(text_of(8).find(flag), std::string::npos);
  EXPECT_NE(text_of(7).find(flag + "7"), std::string::npos);
  EXPECT_NE(text_of(3).find("refuses 3"), std::string::npos);
}

TEST(Megatron, SaysOnlyWhatItsChecksTake) {
  auto setup = default_setup();
  setup.mesh.pp = 1;
  setup.mesh.tp = 2;
  setup.overlap_tensor = true;
  EXPECT_EQ(write_for_framework("megatron", setup)->text.find("--tp-comm-overlap"),
            std::string::npos);
  setup.sequence_parallel = true;
  EXPECT_NE(write_for_framework("megatron", setup)->text.find("--tp-comm-overlap"),
            std::string::npos);
}

TEST(Megatron, AWrongValueIsOneSentence) {
  const auto wrong = read_from_framework(
      "megatron", "--num-layers 0 --hidden-size 64 --num-attention-heads 4", default_setup());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().text, "--num-layers is 0; it must be between 1 and 10000.");
}

// docs of Megatron-Bridge: perf_recipes/llama/h100/llama3.py.
TEST(MegatronBridge, ReadsARecipeThatStartsFromAnother) {
  const FrameworkSetup read = read_or_fail("megatron-bridge", R"(
def llama3_70b_pretrain_64gpu_h100_bf16_config() -> ConfigContainer:
    """Llama3 70B pretrain."""
    cfg = llama3_70b_pretrain_config()
    cfg.mixed_precision = _perf_precision("bf16")
    cfg.model.tensor_model_parallel_size = 4
    cfg.model.pipeline_model_parallel_size = 4
    cfg.model.context_parallel_size = 2
    cfg.model.virtual_pipeline_model_parallel_size = 5
    cfg.model.sequence_parallel = True
    cfg.train.global_batch_size = 256
    cfg.train.micro_batch_size = 1
    cfg.comm_overlap.tp_comm_overlap_cfg = userbuffers_bf16_h100
    return cfg
)");
  EXPECT_EQ(read.setup.mesh.tp, 4);
  EXPECT_EQ(read.setup.chunks, 5);
  EXPECT_TRUE(read.setup.sequence_parallel);
  EXPECT_EQ(read.setup.microbatches, 256);  // of one replica, since nothing says how many there are
  EXPECT_TRUE(std::any_of(read.not_understood.begin(), read.not_understood.end(),
                          [](const Message& note) { return note.id == "framework-gpus"; }));
}

TEST(Torchtitan, ReadsACallWithKeywords) {
  const FrameworkSetup read = read_or_fail("torchtitan", R"(
from torchtitan.models.llama3 import model_registry
def llama3_8b_fsdp8_tp2() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B", attn_backend="flex"),
        parallelism=ParallelismConfig(
            data_parallel_shard_degree=8,
            tensor_parallel_degree=2,  # inside a node
        ),
        training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=2 * 8192,
                                max_context_length=8192),
        activation_checkpoint=FullAC.Config(),
    )
)");
  EXPECT_EQ(read.setup.model.name, "llama3-8b");
  EXPECT_EQ(read.setup.mesh.dp, 8);
  EXPECT_EQ(read.setup.mesh.tp, 2);
  EXPECT_EQ(read.setup.zero, 3);
  EXPECT_EQ(read.setup.micro_batch, 2);
  EXPECT_EQ(read.setup.recompute, Recompute::kFull);
}

// YAML 1.1, which PyYAML reads, takes 1e-08 for a text.
TEST(Nanotron, WritesNumbersThatPyYamlTakesForNumbers) {
  auto setup = default_setup();
  setup.learning_rate = 1e-5;
  const std::string text = write_for_framework("nanotron", setup)->text;
  EXPECT_NE(text.find("adam_eps: 1.0e-08"), std::string::npos) << text;
  EXPECT_NE(text.find("learning_rate: 1.0e-05"), std::string::npos) << text;
}

// examples/config_tiny_llama.yaml of nanotron, shortened.
TEST(Nanotron, ReadsAnExample) {
  const FrameworkSetup read = read_or_fail("nanotron", R"(checkpoints:
  checkpoint_interval: 1000
data_stages:
- data:
    dataset: null
    seed: 42
  name: Stable Training Stage
  start_training_step: 1
model:
  dtype: bfloat16
  init_method:
    std: 0.025
  model_config:
    hidden_size: 2048  # a Llama
    intermediate_size: 11008
    is_llama_config: true
    max_position_embeddings: 4096
    num_attention_heads: 16
    num_hidden_layers: 28
    num_key_value_heads: 2
    tie_word_embeddings: true
    vocab_size: 128256
optimizer:
  accumulate_grad_in_fp32: true
  clip_grad: 1.0
  learning_rate_scheduler:
    learning_rate: 0.0003
  zero_stage: 0
parallelism:
  dp: 4
  pp: 1
  pp_engine: 1f1b
  tp: 2
  tp_linear_async_communication: true
  tp_mode: REDUCE_SCATTER
tokens:
  batch_accumulation_per_replica: 1
  micro_batch_size: 3
  sequence_length: 4096
)");
  EXPECT_EQ(read.setup.model.kv_heads, 2);
  EXPECT_TRUE(read.setup.model.tied);
  EXPECT_EQ(read.setup.mesh.ranks(), 8);
  EXPECT_TRUE(read.setup.sequence_parallel);
  EXPECT_TRUE(read.setup.overlap_tensor);
  EXPECT_EQ(read.setup.micro_batch, 3);
  EXPECT_EQ(read.setup.learning_rate, 3e-4);
  EXPECT_TRUE(read.not_understood.empty()) << read.not_understood.front().text;
}

TEST(DeepSpeed, ReadsAConfigurationOfTheTrainer) {
  auto base = default_setup();
  base.mesh.pp = 1;
  base.micro_batch = 3;
  const auto read = read_from_framework("deepspeed", R"({
    "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto", "gradient_clipping": "auto",
    "zero_optimization": {"stage": 2, "overlap_comm": true, "reduce_bucket_size": 5e8,
                          "offload_optimizer": {"device": "cpu", "pin_memory": true}},
    "bf16": {"enabled": true}})",
                                        base);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->setup.zero, 2);
  EXPECT_TRUE(read->setup.offload_optimizer);
  EXPECT_EQ(read->setup.micro_batch, 3);
  EXPECT_EQ(read->setup.precision.name, "mixed-16");
  ASSERT_EQ(read->not_understood.size(), 1u);
  EXPECT_EQ(read->not_understood[0].id, "framework-auto");
}

TEST(DeepSpeed, ABatchThatDoesNotMultiplyIsOneSentence) {
  const auto wrong = read_from_framework(
      "deepspeed", R"({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 4})",
      default_setup());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().text,
            "train_batch_size 10 is no multiple of train_micro_batch_size_per_gpu 4 times "
            "gradient_accumulation_steps 1.");
}

}  // namespace
}  // namespace parallelarium
