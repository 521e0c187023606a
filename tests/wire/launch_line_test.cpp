// SPDX-License-Identifier: Apache-2.0
// Launch scripts as people paste them: variables, arrays, and numbers that the shell computes; and
// what the framework of a line needs.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/plan/setup/setup.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {
namespace {

FrameworkSetup script_or_fail(const std::string& text) {
  const Result<FrameworkSetup> read = read_from_framework("megatron", text, default_setup());
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text);
  return read.ok() ? *read : FrameworkSetup{default_setup(), {}, {}};
}

// examples/academic_paper_scripts of Megatron-LM, as a person pastes it.
TEST(LaunchScript, HasVariables) {
  const FrameworkSetup read = script_or_fail(R"(#!/bin/bash
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
    --micro-batch-size 1 --global-batch-size=64 --fp16 --moe-layer-recompute \
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
  EXPECT_EQ(setup.precision.name, "mixed-16") << "gradients of --fp16 are of 16 bits";
  ASSERT_EQ(read.not_understood.size(), 1u);
  EXPECT_EQ(read.not_understood[0].text,
            "--moe-layer-recompute is left out: no setting of a Setup is known to follow from it.");
  EXPECT_TRUE(validate(setup).empty());
}

// Megatron's all-to-all: each TP rank sends its own tokens, and gathers what came where TP cuts
// experts. Without sequence parallelism it trains no experts beside TP.
TEST(MegatronExperts, AreCutAndSentAsItsTextsMean) {
  struct Said {
    const char* flags;
    bool expert_tensor;
    ExpertDispatch dispatch;
  };
  constexpr auto kShares = ExpertDispatch::kTensorShares, kCopies = ExpertDispatch::kCopies;
  for (const auto& [flags, expert_tensor, dispatch] :
       {Said{"--sequence-parallel", true, kShares},
        Said{"--sequence-parallel --expert-tensor-parallel-size 4", true, kShares},
        Said{"--sequence-parallel --expert-tensor-parallel-size 1", false, kCopies},
        Said{"--sequence-parallel --moe-token-dispatcher-type flex", true,
             ExpertDispatch::kOncePerNode},
        Said{"", true, kCopies}}) {
    const std::string line =
        "torchrun --nnodes 16 --nproc-per-node 8 pretrain_gpt.py --num-layers 56 --hidden-size "
        "6144 --num-attention-heads 48 --num-experts 8 --expert-model-parallel-size 4 "
        "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 8 --micro-batch-size 1 "
        "--global-batch-size 64 --bf16 ";
    const Result<FrameworkSetup> read =
        read_from_framework("megatron", line + flags, default_setup());
    ASSERT_TRUE(read.ok()) << read.error().text;
    EXPECT_EQ(read->setup.mesh.expert_tensor, expert_tensor) << flags;
    EXPECT_EQ(read->setup.expert_dispatch, dispatch) << flags;
    EXPECT_TRUE(validate(read->setup).empty()) << flags;
  }
}

// A line that a chat or a mail has joined still has the marks of its line ends. Without a word
// before it the blank behind such a mark is no part of a name.
TEST(LaunchScript, MayBeJoinedWithItsMarksLeft) {
  const FrameworkSetup read = script_or_fail(
      "torchrun --nproc-per-node 8 pretrain_gpt.py \\ --num-layers 4 \\ --hidden-size 64 "
      "\\\t--num-attention-heads \\ 4 --micro-batch-size 1 --global-batch-size 8 --bf16 "
      "--data-path /data/my\\ text");
  EXPECT_EQ(read.setup.model.layers, 4);
  EXPECT_EQ(read.setup.model.hidden, 64);
  EXPECT_EQ(read.setup.model.heads, 4);
  EXPECT_EQ(read.setup.mesh.dp, 8);
  for (const Message& note : read.not_understood) EXPECT_NE(note.id, "framework-unread");
}

// In fp16 Megatron adds gradients up in fp32 only where it is told to, in bf16 always.
TEST(LaunchScript, SaysHowWideGradientsOfFp16Are) {
  const std::string line =
      "pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 ";
  const auto bytes = [&](const char* words) {
    return script_or_fail(line + words).setup.precision.gradient_bytes;
  };
  EXPECT_EQ(bytes("--fp16"), 2);
  EXPECT_EQ(bytes("--fp16 --accumulate-allreduce-grads-in-fp32"), 4);
  EXPECT_EQ(bytes("--bf16"), 4);
}

TEST(LaunchScript, MayHaveAnOptimizerThatIsNotAdam) {
  const std::string line =
      "pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --optimizer ";
  const auto told = [&](const char* optimizer) {
    const FrameworkSetup read = script_or_fail(line + optimizer);
    return std::count_if(
        read.not_understood.begin(), read.not_understood.end(), [&](const Message& note) {
          return note.text == std::string("--optimizer ") + optimizer +
                                  " is left out: Adam's states are counted, not its own.";
        });
  };
  EXPECT_EQ(told("adam"), 0);
  EXPECT_EQ(told("muon"), 1);
}

// Its arrays one behind another, each line without a mark at its end, and numbers that are
// computed.
TEST(LaunchScript, HasArraysThatFollowEachOther) {
  const FrameworkSetup read = script_or_fail(R"(#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
EACH=8
NODES=16  # of the cluster
WORLD_SIZE=$(($EACH*$NODES))
SAVE=$1 #<a path>
LAUNCH_ARGS=(
    --nproc_per_node $EACH
    --nnodes $NODES
    --master_addr localhost
)
SHAPE_ARGS=(
    --num-layers $((90 + 2 * (8 - 5)))
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --vocab-size 51200
    --attention-backend auto # or (flash/fused/unfused/local)
)
STEP_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --bf16
)
CUT_ARGS=(
	--tensor-model-parallel-size 8
	--pipeline-model-parallel-size 16
)
REST_ARGS=(--save $SAVE --split 949,50,1) ; LOG=1
torchrun ${LAUNCH_ARGS[@]} pretrain_gpt.py \
    ${SHAPE_ARGS[@]} \
    ${STEP_ARGS[@]} \
    ${CUT_ARGS[@]} ${REST_ARGS[@]}
)");
  EXPECT_EQ(read.setup.model.layers, 96);
  EXPECT_EQ(read.setup.mesh.tp, 8);
  EXPECT_EQ(read.setup.mesh.pp, 16);
  EXPECT_EQ(read.setup.mesh.dp, 1);
  EXPECT_EQ(read.setup.microbatches, 1536);
  EXPECT_TRUE(read.not_understood.empty()) << read.not_understood.front().text;
}

// Older scripts keep flags in quotes, and name them without braces.
TEST(LaunchScript, HasFlagsThatAVariableHolds) {
  const FrameworkSetup read = script_or_fail(R"(
TP=2
CUT_ARGS="
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size 2
"
torchrun --nproc-per-node 8 pretrain_gpt.py $CUT_ARGS $OTHER_ARGS --num-layers 4 --hidden-size 64 \
  --num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 --vocab-size 512 \
  --micro-batch-size 1 --global-batch-size 8 2>&1 | tee log.txt
)");
  EXPECT_EQ(read.setup.mesh.tp, 2);
  EXPECT_EQ(read.setup.mesh.pp, 2);
  EXPECT_EQ(read.setup.mesh.dp, 2);
  EXPECT_EQ(read.setup.microbatches, 4);
}

TEST(LaunchScript, BlamesNoOptionThatNobodyWrote) {
  const std::string line =
      "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 --vocab-size 512 "
      "--micro-batch-size 1 --global-batch-size 8";
  for (const char* world : {"$((A*B))", "$(nproc)", "0", "many", "$((1/0))", "99999999999999999999",
                            "$((999999999999*999999999999))"})
    EXPECT_EQ(script_or_fail(fmt::format("WORLD_SIZE={}\n{}", world, line)).setup.mesh.dp, 8)
        << world;
  const auto asked = read_from_framework(
      "megatron", line + " --tensor-model-parallel-size $((A*2))", default_setup());
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().text,
            "The text does not say what stands for --tensor-model-parallel-size $((A*2)); put it "
            "in.");
}

TEST(LaunchScript, AsksForAllVariablesThatASettingNeedsAndForNoOthers) {
  const std::string others = " --node_rank $RANK --master_addr $MASTER_ADDR --save ${OUT}";
  const std::string line =
      "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 --vocab-size 512 "
      "--micro-batch-size 1 --global-batch-size 8";
  EXPECT_EQ(framework_of_text(line + others), "megatron");
  EXPECT_EQ(script_or_fail(line + others).setup.mesh.dp, 8);
  const auto asked = read_from_framework(
      "megatron", line + others + " --tensor-model-parallel-size $TP --nnodes ${NODES}",
      default_setup());
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().text,
            "The text does not say what stands for --tensor-model-parallel-size $TP and --nnodes "
            "$NODES; put it in.");
}

// What is needed beside the usual trainer is what the text has then, and has not otherwise.
TEST(Frameworks, SayWhatAPlanNeeds) {
  auto setup = new_setup();
  setup.mesh.dp = 8;
  for (const auto& [framework, name] : {std::pair("megatron", "use-megatron-fsdp"),
                                        {"megatron-bridge", "use_megatron_fsdp = True"}})
    for (int zero = 0; zero <= 3; ++zero) {
      setup.zero = zero;
      const std::optional<Message> needs = framework_needs(framework, setup);
      EXPECT_EQ(needs.has_value(), zero >= 2) << zero;
      const Result<FrameworkText> written = write_for_framework(framework, setup);
      ASSERT_TRUE(written.ok());
      EXPECT_EQ(written->text.find(name) != std::string::npos, zero >= 2) << written->text;
      if (needs) {
        EXPECT_NE(needs->text.find("fsdp_dtensor"), std::string::npos) << needs->text;
      }
    }
  EXPECT_FALSE(framework_needs("torchtitan", setup));
  EXPECT_FALSE(framework_needs("", setup));
}

}  // namespace
}  // namespace parallelarium
