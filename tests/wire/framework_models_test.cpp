// SPDX-License-Identifier: Apache-2.0
// What texts of frameworks say of a model beside its shape: rotary positions, norms, and what no
// Setup says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/wire/frameworks/differences.h"
#include "tests/wire/read_framework.h"

namespace parallelarium {
namespace {

// Models have been trained with a base of rotary positions that is not Megatron's 10000.
TEST(Megatron, WritesTheRotaryBaseOfAPublishedModel) {
  auto setup = default_setup();
  const auto has = [&](const char* model, const char* text) {
    setup.model = *find_model(model);
    setup.mesh = Mesh();
    return write_for_framework("megatron", setup)->text.find(text) != std::string::npos;
  };
  EXPECT_TRUE(has("llama3-70b", "--rotary-base 500000"));
  EXPECT_TRUE(has("qwen3-8b", "--rotary-base 1000000"));
  EXPECT_TRUE(has("gpt-oss-20b", "--rotary-base 150000"));
  for (const char* model : {"llama-7b", "deepseek-v3", "llama-tiny", "gpt3-175b"})
    EXPECT_FALSE(has(model, "--rotary-base")) << model;
  for (const std::string& name : model_names()) {  // each name of the table is a preset's
    setup.model = *find_model(name);
    const Result<FrameworkText> written = write_for_framework("megatron-bridge", setup);
    if (name.starts_with("llama3-") || name.starts_with("qwen3-") || name.starts_with("mixtral-") ||
        name.starts_with("gpt-oss-")) {
      EXPECT_THAT(written->text, testing::HasSubstr("rotary_base=")) << name;
    }
  }
}

// Qwen3 normalizes queries and keys. No Setup says so; texts that have a flag for it do, and every
// text of a model says that no figure counts it.
TEST(Frameworks, SayThatAFamilyNormalizesQueriesAndKeys) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  const auto ids = [&](const char* framework) {
    std::vector<std::string> all;
    const Result<FrameworkText> written = write_for_framework(framework, setup);
    for (const Message& each : written->not_expressible) all.push_back(each.id);
    if (written->not_counted) all.push_back(written->not_counted->id);
    return std::pair(written->text, all);
  };
  for (const char* model : {"qwen3-8b", "qwen3-30b-a3b"}) {
    setup.model = *find_model(model);
    const auto [line, of_line] = ids("megatron");
    EXPECT_THAT(line, testing::HasSubstr("--qk-layernorm"));
    EXPECT_THAT(of_line, testing::Contains("framework-norms-said"));
    const auto [recipe, of_recipe] = ids("megatron-bridge");
    EXPECT_THAT(recipe, testing::HasSubstr("qk_layernorm=True"));
    EXPECT_THAT(of_recipe, testing::Contains("framework-norms-said"));
    EXPECT_THAT(ids("nanotron").second, testing::Contains("framework-norms-unsaid"));
    EXPECT_EQ(read_from_framework("megatron", line, default_setup())->setup.model.name, model);
  }
  setup.model = *find_model("llama3-8b");
  EXPECT_THAT(ids("megatron").first, testing::Not(testing::HasSubstr("qk-layernorm")));
  EXPECT_THAT(ids("nanotron").second, testing::Not(testing::Contains("framework-norms-unsaid")));
}

// It stays with another sequence; a base that cannot be kept is told.
TEST(Megatron, KeepsTheRotaryBaseOrSaysThatItDoesNot) {
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.mesh = Mesh();
  ASSERT_TRUE(set_field(setup, "sequence", "4096").ok());
  const std::string text = write_for_framework("megatron", setup)->text;
  EXPECT_THAT(text, testing::HasSubstr("--rotary-base 500000"));
  const auto notes_of = [&](const char* said) {
    std::string changed = text;
    changed.replace(changed.find("--rotary-base 500000"), 20, said);
    const Result<FrameworkSetup> read = read_from_framework("megatron", changed, default_setup());
    EXPECT_TRUE(read.ok()) << said;
    std::vector<std::string> ids;
    for (const Message& note : read->not_understood) ids.push_back(note.id);
    return ids;
  };
  EXPECT_THAT(notes_of("--rotary-base 500000"),
              testing::Not(testing::Contains("framework-rotary-base")));
  EXPECT_THAT(notes_of("--rotary-base 1000000"), testing::Contains("framework-rotary-base"));
  EXPECT_THAT(notes_of("--rotary-base 10000"), testing::Contains("framework-rotary-base"));
  EXPECT_FALSE(read_from_framework("megatron", "pretrain_gpt.py --num-layers 2 --rotary-base x",
                                   default_setup())
                   .ok());
}

// Each is noted, and Megatron's own value is no news.
TEST(Megatron, NotesWhatOfAModelNoSetupSays) {
  const std::string line =
      "torchrun --nproc-per-node 1 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 128 --vocab-size 1000 --micro-batch-size 1 "
      "--global-batch-size 8 --position-embedding-type rope ";
  const auto notes = [&](const std::string& flags) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Message& note : read_or_fail("megatron", line + flags).not_understood)
      all.emplace_back(note.id, note.text);
    return all;
  };
  using testing::ElementsAre;
  using testing::Pair;
  using testing::StartsWith;
  for (const auto& [flags, id] : std::vector<std::pair<std::string, std::string>>{
           {"--qk-layernorm", "framework-norms-read"},
           {"--norm-epsilon 1e-06", "framework-free-of-cost"},
           {"--rotary-percent 0.5", "framework-free-of-cost"},
           {"--rotary-interleaved", "framework-free-of-cost"},
           {"--rotary-seq-len-interpolation-factor 4", "framework-free-of-cost"},
           {"--use-rope-scaling", "framework-free-of-cost"},
           {"--rope-scaling-factor 32", "framework-free-of-cost"},
           {"--rope-type rope", "framework-free-of-cost"},
           {"--fp8-param-gather", "framework-not-counted"},
           {"--dataloader-inter-document-masking", "framework-not-counted"}})
    EXPECT_THAT(notes(flags), ElementsAre(Pair(id, StartsWith(flags + " is not said by a Setup:"))))
        << flags;
  for (const char* usual :
       {"", "--norm-epsilon 1e-5", "--rotary-percent 1.0", "--rope-scaling-factor 8.0"})
    EXPECT_TRUE(notes(usual).empty()) << usual;
  for (const std::string flag :
       {"--apply-layernorm-1p", "--attention-output-gate", "--window-size 128,0",
        "--mtp-num-layers 1", "--moe-shared-expert-gate", "--add-qkv-bias", "--qk-l2-norm",
        "--softmax-type learnable", "--no-rope-freq 4", "--squared-relu", "--mscale 0.7",
        "--experimental-attention-variant dsa", "--linear-attention-freq 4", "--moe-latent-size 8",
        "--fp32-residual-connection", "--use-mup", "--first-last-layers-bf16"})
    EXPECT_THAT(notes(flag),
                ElementsAre(Pair("framework-unread", StartsWith(flag.substr(0, flag.find(' '))))))
        << flag;
  EXPECT_FALSE(read_from_framework("megatron", line + "--norm-epsilon x", default_setup()).ok());
  const FrameworkSetup recipe = read_or_fail(
      "megatron-bridge", "cfg.model.qk_layernorm = True\ncfg.model.layernorm_epsilon = 1e-6\n");
  std::vector<std::string> ids;
  for (const Message& note : recipe.not_understood) ids.push_back(note.id);
  EXPECT_THAT(ids, testing::IsSupersetOf({"framework-norms-read", "framework-free-of-cost"}));
}

// A recipe that names the model has its norms, too.
TEST(Frameworks, NoteNormsOfAModelThatARecipeNames) {
  auto setup = default_setup();
  setup.mesh = Mesh();
  for (const char* framework : {"torchtitan", "nanotron"})
    for (const auto& [model, has] : {std::pair("qwen3-8b", true), {"llama3-8b", false}}) {
      setup.model = *find_model(model);
      const FrameworkSetup read =
          read_or_fail(framework, write_for_framework(framework, setup)->text);
      EXPECT_EQ(read.setup.model.name, model) << framework;
      EXPECT_EQ(std::any_of(read.not_understood.begin(), read.not_understood.end(),
                            [](const Message& note) { return note.id == "framework-norms-said"; }),
                has)
          << framework << " " << model;
    }
}

}  // namespace
}  // namespace parallelarium
