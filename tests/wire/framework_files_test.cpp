// SPDX-License-Identifier: Apache-2.0
// Configurations of frameworks beside Megatron-LM as people have them, and what is wrong with some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/wire/frameworks/differences.h"
#include "engine/wire/frameworks/framework.h"
#include "tests/wire/read_framework.h"

namespace parallelarium {
namespace {

// A search that is to keep to a framework asks about the axes alone, and of a script's settings
// nothing follows.
TEST(Frameworks, SayWhyTheyCannotTrainASetup) {
  auto setup = default_setup();
  setup.mesh.pp = 2;
  const auto why = [&](const char* framework) {
    return (*framework_refusal(framework, {"schedule", "zero", "micro_batch", "mesh.pp"}))(setup);
  };
  EXPECT_FALSE(why("megatron"));
  EXPECT_FALSE(why("deepspeed")) << "its script cuts the pipeline";
  EXPECT_EQ(why("accelerate")->field, "mesh.pp");
  setup.schedule = "zb-v";
  ASSERT_TRUE(why("megatron"));
  EXPECT_THAT(why("megatron")->text, testing::HasSubstr("no flag for zero bubble"));
  EXPECT_FALSE(why("torchtitan"));
  EXPECT_FALSE((*framework_refusal("megatron", {"zero"}))(setup)) << "that is another axis";
  setup.schedule = "1f1b";
  setup.mesh = Mesh();
  setup.micro_batch = 2;
  EXPECT_FALSE(why("accelerate")) << "its script says the micro-batch";
  EXPECT_EQ(framework_refusal("nothing", {}).error().id, "framework-unknown");
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

// Without it nanotron trains with a base of 10000.
TEST(Nanotron, WritesTheRotaryBaseOfAPublishedModel) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  setup.model = *find_model("llama3-8b");
  const std::string text = write_for_framework("nanotron", setup)->text;
  EXPECT_THAT(text, testing::HasSubstr("rope_theta: 500000"));
  EXPECT_TRUE(read_or_fail("nanotron", text).not_understood.empty());
  std::string other = text;
  other.replace(other.find("rope_theta: 500000"), 18, "rope_theta: 250000");
  EXPECT_FALSE(read_or_fail("nanotron", other).not_understood.empty());
  setup.model = *find_model("llama-7b");
  EXPECT_THAT(write_for_framework("nanotron", setup)->text,
              testing::Not(testing::HasSubstr("rope_theta")));
}

// Of nanotron's models Qwen2 alone has ring attention: another with it is refused by its parser.
TEST(Nanotron, WritesAQwen2WhereThereIsContextParallelism) {
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  EXPECT_THAT(write_for_framework("nanotron", setup)->text,
              testing::HasSubstr("is_llama_config: true"));
  setup.mesh = Mesh();
  setup.mesh.cp = 2;
  const std::string text = write_for_framework("nanotron", setup)->text;
  EXPECT_THAT(text, testing::HasSubstr("is_qwen2_config: true"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("is_llama_config")));
}

// YAML 1.1 takes a plain no for false, and accelerate wants a word.
TEST(Accelerate, WritesNoPrecisionAsAWord) {
  auto setup = default_setup();
  setup.precision = *find_precision("fp32");
  EXPECT_THAT(write_for_framework("accelerate", setup)->text,
              testing::HasSubstr("mixed_precision: \"no\"\n"));
}

// Its launcher has context parallelism of FSDP alone: a file that names Ulysses' ranks loses them.
TEST(Accelerate, SaysThatItsFileHasNoUlysses) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  setup.mesh.cp = 2;
  setup.context_parallel = ContextParallel::kUlysses;
  const auto written = write_for_framework("accelerate", setup);
  EXPECT_THAT(written->text, testing::HasSubstr("parallelism_config_cp_size: 2"));
  EXPECT_TRUE(std::any_of(written->not_expressible.begin(), written->not_expressible.end(),
                          [](const Message& why) { return why.field == "context_parallel"; }));
}

// What is scaled by earlier steps (Megatron-LM's default) goes with no recompute of norms.
TEST(Megatron, ScalesFp8ByTheTensorItself) {
  auto setup = default_setup();
  EXPECT_THAT(write_for_framework("megatron", setup)->text,
              testing::Not(testing::HasSubstr("--fp8-recipe")));
  setup.products = ProductType::kFp8;
  EXPECT_THAT(write_for_framework("megatron", setup)->text,
              testing::HasSubstr("--fp8-format hybrid \\\n  --fp8-recipe tensorwise"));
  EXPECT_THAT(write_for_framework("megatron-bridge", setup)->text,
              testing::HasSubstr("cfg.mixed_precision.fp8_recipe = \"tensorwise\""));
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
