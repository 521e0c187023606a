// SPDX-License-Identifier: Apache-2.0
// Launch lines of Megatron-LM as people have them, and what is wrong with some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/wire/frameworks/differences.h"
#include "tests/wire/read_framework.h"

namespace parallelarium {
namespace {

// A plan for a V has few layers on the rank of its last stage, which is the first one's rank: 1F1B,
// which is written in its place, has the head elsewhere, and does not take the cut over.
TEST(Megatron, DoesNotCarryTheCutOfAVOverTo1F1B) {
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.mesh.pp = 4;
  setup.microbatches = 16;
  setup.schedule = "zb-v";
  setup.stage_layers = {4, 4, 4, 4, 5, 5, 4, 2};
  ASSERT_TRUE(validate(setup).empty());
  for (const char* framework : {"megatron", "megatron-bridge"}) {
    const Result<FrameworkText> written = write_for_framework(framework, setup);
    ASSERT_TRUE(written.ok());
    EXPECT_THAT(written->text, testing::Not(testing::HasSubstr("layout")));
    const FrameworkSetup read = read_or_fail(framework, written->text);
    EXPECT_EQ(read.setup.schedule.name(), "1f1b");
    EXPECT_TRUE(read.setup.stage_layers.empty());
    std::vector<std::string> named;
    for (const Message& unsaid : written->not_expressible) named.push_back(unsaid.field);
    EXPECT_THAT(named, testing::IsSupersetOf({"schedule", "stage_layers"}));
  }
  // What does not divide is spread, with the fewest where the head is.
  setup.model.layers = 30;
  setup.stage_layers = {4, 4, 4, 4, 4, 4, 4, 2};
  EXPECT_EQ(
      read_or_fail("megatron", write_for_framework("megatron", setup)->text).setup.stage_layers,
      (std::vector<int>{7, 8, 8, 7}));
}

// One stage has no schedule: it is no lack of Megatron's interleaving.
TEST(Megatron, SaysOfOneStageThatAScheduleNeedsMore) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  setup.schedule = "interleaved";
  setup.chunks = 2;
  const Result<FrameworkText> written = write_for_framework("megatron", setup);
  ASSERT_FALSE(written->not_expressible.empty());
  for (const Message& sentence : written->not_expressible)
    if (sentence.field == "schedule" || sentence.field == "chunks") {
      EXPECT_THAT(sentence.text, testing::HasSubstr("With PP 1 there is no pipeline"));
      EXPECT_THAT(sentence.text, testing::Not(testing::HasSubstr("runs 1F1B and interleaved")));
    }
}

// What Megatron-LM's text warns of, Megatron-Bridge's does.
TEST(Megatron, WarnsInBothTexts) {
  auto setup = default_setup();
  setup.machine = "dgx-h100";
  setup.model = *find_model("llama3-8b");
  setup.mesh = Mesh();
  setup.mesh.tp = 8;
  setup.mesh.dp = 2;
  for (const char* framework : {"megatron", "megatron-bridge"}) {
    const std::string text = write_for_framework(framework, setup)->text;
    for (const char* said : {"on each of the 2 nodes", "CUDA_DEVICE_MAX_CONNECTIONS=1",
                             "0 limits nothing", "checkpoints"})
      EXPECT_THAT(text, testing::HasSubstr(said)) << framework;
    EXPECT_EQ(read_from_framework(framework, text, default_setup())->setup.mesh, setup.mesh);
  }
}

// A line that leaves out flags is told which of the framework's defaults stand for them.
TEST(Frameworks, NameTheDefaultsThatATextLeavesOut) {
  auto base = default_setup();
  base.model = *find_model("llama3-8b");
  base.mesh = Mesh();
  base.recompute = Recompute::kFull;
  const std::string line =
      "torchrun --nproc-per-node 2 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --seq-length 8192 --micro-batch-size 1 --global-batch-size 4 "
      "--bf16 --untie-embeddings-and-output-weights";
  const Result<FrameworkSetup> read = read_from_framework("megatron", line, base);
  ASSERT_TRUE(read.ok() && read->by_default);
  const std::string& said = read->by_default->text;
  for (const char* unsaid : {"Norm layer", "Biases on", "Recompute none", "Dropout 0.1"})
    EXPECT_THAT(said, testing::HasSubstr(unsaid));
  for (const char* known : {"Layers", "Hidden", "Tied", "Micro-batch size"})
    EXPECT_THAT(said, testing::Not(testing::HasSubstr(known)));
  // All that a whole text leaves out is as the Setup has it.
  const Result<FrameworkText> whole = write_for_framework("megatron", base);
  EXPECT_FALSE(read_from_framework("megatron", whole->text, base)->by_default);
}

// As megatron/training/arguments.py asks: ahead with the reduction alone, and what its FSDP does
// anyway is what is read.
TEST(Megatron, GathersParametersAheadBesideReductions) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  setup.mesh.dp = 4;
  const auto has = [&](const char* flag) {
    return write_for_framework("megatron", setup)->text.find(flag) != std::string::npos;
  };
  for (const bool ahead : {false, true}) {
    setup.overlap_parameters = ahead;
    for (const int zero : {0, 1, 2, 3}) {
      setup.zero = zero;
      EXPECT_EQ(has("--overlap-param-gather"), zero == 3 || (ahead && zero > 0)) << zero;
      setup.overlap_gradients = false;
      EXPECT_EQ(has("--overlap-grad-reduce"), zero >= 2) << zero;
      EXPECT_EQ(has("--overlap-param-gather"), zero == 3 || (ahead && zero == 2)) << zero;
      setup.overlap_gradients = true;
      EXPECT_TRUE(has("--overlap-grad-reduce"));
    }
  }
  const std::string line =
      "torchrun --nproc-per-node 4 pretrain_gpt.py --num-layers 4 "
      "--hidden-size 64 --num-attention-heads 4 --seq-length 128 --vocab-size 1000 "
      "--micro-batch-size 1 --global-batch-size 8 --overlap-grad-reduce --overlap-param-gather ";
  for (const auto& [flags, zero] :
       {std::pair{"--use-distributed-optimizer", 1},
        {"--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads", 2},
        {"--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params", 3}}) {
    const FrameworkSetup read = read_or_fail("megatron", line + flags);
    EXPECT_EQ(read.setup.zero, zero);
    EXPECT_EQ(read.setup.overlap_parameters, zero < 3);
    EXPECT_TRUE(read.not_understood.empty());
  }
}

// Its CommOverlapConfig decides in place of the fields of ddp, and overlaps unless told not to
// (training/comm_overlap.py, _get_optimizer_overlap_cfgs).
TEST(MegatronBridge, OverlapsBesideADistributedOptimizerUnlessToldNotTo) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  setup.mesh.dp = 4;
  setup.zero = 1;
  for (const bool gradients : {false, true}) {
    for (const bool parameters : {false, true}) {
      setup.overlap_gradients = gradients;
      setup.overlap_parameters = parameters;
      const std::string text = write_for_framework("megatron-bridge", setup)->text;
      const FrameworkSetup said = read_or_fail("megatron-bridge", text);
      EXPECT_EQ(said.setup.overlap_gradients, gradients);
      EXPECT_EQ(said.setup.overlap_parameters, parameters);
      std::string unsaid = text;
      for (const char* name : {"        overlap_grad_reduce=", "        overlap_param_gather="}) {
        const std::size_t at = unsaid.find(name);
        ASSERT_NE(at, std::string::npos) << text;
        unsaid.erase(at, unsaid.find('\n', at) + 1 - at);
      }
      const FrameworkSetup usual = read_or_fail("megatron-bridge", unsaid);
      EXPECT_TRUE(usual.setup.overlap_gradients && usual.setup.overlap_parameters);
    }
  }
}

// Megatron-FSDP shares out a model that no rank has held whole (docs/user-guide/features/
// megatron_fsdp.md), but for tied embeddings on two stages, whose copies would differ
// (language_module.py, setup_embeddings_and_output_layer).
TEST(Megatron, BuildsTheModelInPartsWithFsdp) {
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.mesh = Mesh();
  setup.mesh.dp = 4;
  setup.microbatches = 4;
  const std::vector<std::string> flags = {"--init-model-with-meta-device",
                                          "--no-gradient-accumulation-fusion",
                                          "--calculate-per-token-loss"};
  for (const int zero : {0, 1, 2, 3}) {
    setup.zero = zero;
    const FrameworkText written = *write_for_framework("megatron", setup);
    for (const std::string& flag : flags)
      EXPECT_EQ(written.text.find(flag) != std::string::npos, zero >= 2) << flag << zero;
    const FrameworkSetup read = read_or_fail("megatron", written.text);
    EXPECT_EQ(read.setup.zero, zero);
    EXPECT_TRUE(read.not_understood.empty()) << read.not_understood.front().text;
    const std::string recipe = write_for_framework("megatron-bridge", setup)->text;
    EXPECT_EQ(recipe.find("init_model_with_meta_device=True") != std::string::npos, zero >= 2);
    EXPECT_TRUE(read_or_fail("megatron-bridge", recipe).not_understood.empty());
  }
  const auto ids = [&] {
    std::vector<std::string> all;
    const FrameworkText written = *write_for_framework("megatron", setup);
    for (const Message& each : written.not_expressible) all.push_back(each.id);
    return all;
  };
  EXPECT_THAT(ids(), testing::Not(testing::Contains("framework-megatron-builds-whole")));
  setup.model.tied = true;
  EXPECT_THAT(write_for_framework("megatron", setup)->text, testing::HasSubstr(flags[0]));
  setup.mesh.pp = 2;
  EXPECT_THAT(write_for_framework("megatron", setup)->text,
              testing::Not(testing::HasSubstr(flags[0])));
  EXPECT_THAT(ids(), testing::Contains("framework-megatron-builds-whole"));
  setup.model = *find_model("gpt3-175b");
  setup.mesh.pp = 1;
  EXPECT_THAT(ids(), testing::Contains("framework-megatron-positions"));
}

// As validate_args of arguments.py asserts, whatever the shell has from another training.
TEST(Megatron, SetsConnectionsAsItsChecksAskForIt) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  const auto first = [&] {
    const std::string text = write_for_framework("megatron", setup)->text;
    const std::size_t launch = text.find("\ntorchrun ");
    const std::size_t begin = text.rfind('\n', launch - 1) + 1;
    const std::string line = text.substr(begin, launch - begin);
    return line.starts_with('#') ? std::string() : line;
  };
  EXPECT_EQ(first(), "");
  setup.mesh.tp = 2;
  EXPECT_EQ(first(), "export CUDA_DEVICE_MAX_CONNECTIONS=1");
  setup.mesh = Mesh();
  setup.mesh.cp = 2;
  EXPECT_EQ(first(), "export CUDA_DEVICE_MAX_CONNECTIONS=1");
  setup.mesh.dp = 2;
  setup.zero = 3;
  EXPECT_EQ(first(), "unset CUDA_DEVICE_MAX_CONNECTIONS") << "Megatron's FSDP refuses 1";
  EXPECT_THAT(write_for_framework("megatron-bridge", setup)->text,
              testing::HasSubstr("# Before the launch, run: unset CUDA_DEVICE_MAX_CONNECTIONS\n"));
}

// Megatron-LM prints times every 100 steps, and evaluates after training, unless it is told
// otherwise (training_config.py).
TEST(Megatron, TellsTheTimeOfEachOfItsSteps) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  for (const auto& [steps, said] : {std::pair(1, "for 1 step,"), {500'000, "for 500000 steps,"}}) {
    setup.run.steps = steps;
    const std::string text = write_for_framework("megatron", setup)->text;
    for (const std::string& part :
         {std::string(said),
          "there are " + std::to_string(setup.model.vocab) +
              ".\n# Left at Megatron-LM's own values",
          "--vocab-size " + std::to_string(setup.model.vocab - 1) + " ",
          "--train-iters " + std::to_string(steps) + " ", std::string("--log-interval 1 "),
          std::string("--log-throughput "), std::string("--eval-iters 0\n")})
      EXPECT_THAT(text, testing::HasSubstr(part));
    EXPECT_EQ(read_or_fail("megatron", text).setup.run.steps, steps);
  }
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

// With EP 1 there is nothing that CP could be taken into.
TEST(Megatron, ReadsExpertsAsCutWhereEpIsOne) {
  const std::string line =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --num-experts 8 "
      "--context-parallel-size 2 --expert-model-parallel-size ";
  for (const bool apart : {false, true}) {
    const auto read = read_from_framework("megatron", line + (apart ? "2" : "1"), default_setup());
    ASSERT_TRUE(read.ok()) << read.error().text;
    EXPECT_EQ(read->setup.mesh.expert_tensor, !apart);
  }
}

TEST(Megatron, RefusesExpertsBesideTpWithoutSequenceParallelism) {
  auto setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh.pp = 1;
  setup.mesh.tp = 2;
  const auto refused = [&] {
    return write_for_framework("megatron", setup)->text.find("refuses TP 2") != std::string::npos;
  };
  EXPECT_TRUE(refused());
  setup.sequence_parallel = true;
  EXPECT_FALSE(refused());
  setup.model = *find_model("llama-tiny");
  setup.sequence_parallel = false;
  EXPECT_FALSE(refused());
}

TEST(Megatron, SaysOnlyWhatItsChecksTake) {
  auto setup = default_setup();
  setup.mesh.pp = 1;
  setup.mesh.tp = 2;
  setup.sequence_parallel = setup.overlap_tensor = true;
  EXPECT_EQ(write_for_framework("megatron", setup)->text.find("--tp-comm-overlap"),
            std::string::npos);
  setup.ring_tensor = true;
  EXPECT_NE(write_for_framework("megatron", setup)->text.find("--tp-comm-overlap"),
            std::string::npos);
}

TEST(Megatron, AWrongValueIsOneSentence) {
  const auto wrong = read_from_framework(
      "megatron", "--num-layers 0 --hidden-size 64 --num-attention-heads 4", default_setup());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().text, "--num-layers is 0; it must be between 1 and 10000.");
}

}  // namespace
}  // namespace parallelarium
