// SPDX-License-Identifier: Apache-2.0
// What is written for a framework and read back is the Setup again, but for what is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/cases/cases.h"
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
    if (!sentence.field.empty()) keys.insert(sentence.field);
  }
  return keys;
}

const std::set<std::string> kUnsaidByMegatron = {"bias_rate",         "chunks",
                                                 "collectives",       "context_parallel",
                                                 "cp_split",          "expert_dispatch",
                                                 "expert_gates",      "fp8_dispatch",
                                                 "kept_activations",  "loss_copies",
                                                 "mesh.ep",           "mesh.expert_tensor",
                                                 "mesh.order",        "machine",
                                                 "microbatches",      "overlap_experts",
                                                 "overlap_gradients", "overlap_parameters",
                                                 "overlap_pipeline",  "overlap_tensor",
                                                 "recompute",         "scatter_gather",
                                                 "schedule",          "sequence_parallel",
                                                 "sequence_regather", "stage_layers",
                                                 "zero_accumulate",   "zero_prefetch",
                                                 "zero_reshard"};
// What a framework cannot say of every value, or at all. A row that breaks makes another one.
const std::map<std::string, std::set<std::string>> kUnsaid = {
    {"megatron", kUnsaidByMegatron},
    {"torchtitan",
     {"attention",
      "balance_loss",
      "bias_rate",
      "chunks",
      "collectives",
      "context_parallel",
      "dropout",
      "expert_dispatch",
      "expert_gates",
      "fp8_dispatch",
      "kept_activations",
      "loss_copies",
      "mesh.expert_tensor",
      "machine",
      "mesh.order",
      "model",
      "overlap_experts",
      "overlap_gradients",
      "overlap_parameters",
      "overlap_pipeline",
      "overlap_tensor",
      "precision",
      "products",
      "recompute",
      "recompute_layers",
      "scatter_gather",
      "schedule",
      "sequence_regather",
      "stage_layers",
      "z_loss",
      "zero",
      "zero_accumulate",
      "zero_group",
      "zero_prefetch",
      "zero_reshard"}},
    {"deepspeed",
     {"attention",
      "balance_loss",
      "bias_rate",
      "chunks",
      "collectives",
      "context_parallel",
      "cp_split",
      "dropout",
      "expert_dispatch",
      "expert_gates",
      "fp8_dispatch",
      "kept_activations",
      "loss_copies",
      "mesh.expert_tensor",
      "machine",
      "mesh.order",
      "mesh.pp",
      "model",
      "overlap_experts",
      "overlap_parameters",
      "overlap_pipeline",
      "overlap_tensor",
      "precision",
      "products",
      "recompute",
      "recompute_layers",
      "ring_tensor",
      "scatter_gather",
      "schedule",
      "sequence_parallel",
      "sequence_regather",
      "stage_layers",
      "z_loss",
      "zero_group",
      "zero_accumulate",
      "zero_prefetch",
      "zero_reshard"}},
    {"accelerate",
     {"attention",
      "balance_loss",
      "bias_rate",
      "chunks",
      "clip",
      "collectives",
      "context_parallel",
      "cp_split",
      "dropout",
      "expert_dispatch",
      "expert_gates",
      "fp8_dispatch",
      "kept_activations",
      "loss_copies",
      "learning_rate",
      "mesh.expert_tensor",
      "machine",
      "mesh.ep",
      "mesh.order",
      "mesh.pp",
      "micro_batch",
      "microbatches",
      "model",
      "overlap_experts",
      "overlap_gradients",
      "overlap_parameters",
      "overlap_pipeline",
      "overlap_tensor",
      "precision",
      "recompute",
      "recompute_layers",
      "ring_tensor",
      "scatter_gather",
      "schedule",
      "sequence_parallel",
      "sequence_regather",
      "stage_layers",
      "z_loss",
      "zero",
      "zero_group",
      "zero_accumulate",
      "zero_prefetch"}},
    {"nanotron",
     {"attention",
      "bias_rate",
      "chunks",
      "collectives",
      "context_parallel",
      "cp_split",
      "dropout",
      "expert_dispatch",
      "expert_gates",
      "fp8_dispatch",
      "kept_activations",
      "loss_copies",
      "mesh.expert_tensor",
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
      "overlap_parameters",
      "overlap_pipeline",
      "precision",
      "products",
      "recompute",
      "recompute_layers",
      "ring_tensor",
      "scatter_gather",
      "schedule",
      "stage_layers",
      "z_loss",
      "zero",
      "zero_group",
      "zero_accumulate",
      "zero_prefetch",
      "zero_reshard"}},
    {"megatron-bridge", kUnsaidByMegatron}};

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
  setup.mesh.expert_tensor = random() % 3 != 0;
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
  setup.recompute =
      one_of(random, {Recompute::kNone, Recompute::kSelective, Recompute::kFull,
                      Recompute::kNorms | Recompute::kActivation, Recompute::kSecondProducts});
  if (setup.recompute == Recompute::kFull && random() % 2 == 0) setup.recompute_layers = 1;
  setup.context_parallel = one_of(random, {ContextParallel::kRing, ContextParallel::kAllGather,
                                           ContextParallel::kUlysses, ContextParallel::kLocal});
  setup.cp_split = one_of(random, {ContextSplit::kZigzag, ContextSplit::kContiguous});
  setup.sequence_regather = random() % 3 != 0;
  setup.attention = one_of(random, {Attention::kFused, Attention::kUnfused});
  setup.overlap_gradients = random() % 2 == 0;
  setup.zero_prefetch = static_cast<int>(random() % 3);
  setup.overlap_tensor = random() % 2 == 0;
  setup.ring_tensor = setup.sequence_parallel && random() % 3 == 0;
  setup.overlap_pipeline = random() % 2 == 0;
  setup.dropout = one_of(random, {0.0, 0.1});
  setup.clip = one_of(random, {0.0, 1.0, 0.3});
  setup.learning_rate = std::uniform_real_distribution<double>(1e-6, 1e-2)(random);
  setup.balance_loss = one_of(random, {0.0, 0.01});
  setup.z_loss = one_of(random, {0.0, 1e-3});
  setup.bias_rate = one_of(random, {0.0, 1e-3});
  setup.expert_dispatch = one_of(random, {ExpertDispatch::kCopies, ExpertDispatch::kOncePerNode,
                                          ExpertDispatch::kTensorShares});
  setup.scatter_gather = random() % 3 == 0;
  setup.overlap_parameters = random() % 2 == 0;
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

// What a search asks of every candidate is what the exporter says of it.
TEST_P(Framework, RefusesWhatItsTextCannotSay) {
  const std::vector<std::string> keys = {"mesh.tp",
                                         "mesh.pp",
                                         "mesh.cp",
                                         "mesh.dp",
                                         "mesh.ep",
                                         "mesh.order",
                                         "mesh.expert_tensor",
                                         "schedule",
                                         "chunks",
                                         "stage_layers",
                                         "micro_batch",
                                         "microbatches",
                                         "zero",
                                         "zero_group",
                                         "sequence_parallel",
                                         "recompute"};
  const Result<FrameworkRefusal> refusal = framework_refusal(GetParam(), keys);
  ASSERT_TRUE(refusal.ok());
  std::mt19937 random(8);
  int refused = 0, tried = 0;
  for (int n = 0; n < 3000 && tried < 150; ++n) {
    auto setup = random_setup(random);
    if (random() % 2 == 0) setup.schedule = "1f1b";
    if (random() % 3 == 0) setup.mesh.pp = 1;
    if (random() % 2 == 0) setup.recompute = Recompute::kNone;
    if (!validate(setup).empty()) continue;
    ++tried;
    const Result<FrameworkText> written = write_for_framework(GetParam(), setup);
    ASSERT_TRUE(written.ok());
    const Message* first = nullptr;
    for (const Message& unsaid : written->not_expressible)
      if (first == nullptr && unsaid.kind != "framework-script" &&
          std::find(keys.begin(), keys.end(), unsaid.field) != keys.end())
        first = &unsaid;
    const std::optional<Message> why = (*refusal)(setup);
    ASSERT_EQ(why.has_value(), first != nullptr) << (why ? why->text : first->text) << "\n"
                                                 << written->text;
    if (first == nullptr) continue;
    ++refused;
    EXPECT_EQ(why->text, first->text);
    EXPECT_EQ(why->field, first->field);
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, tried);
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

TEST(Frameworks, ATextIsKnownByTheSettingsThatItNames) {
  auto setup = default_setup();
  setup.mesh.tp = 2;
  setup.mesh.dp = 2;
  setup.mesh.pp = 1;
  for (const FrameworkInfo& info : framework_infos()) {
    const Result<FrameworkText> written = write_for_framework(info.name, setup);
    ASSERT_TRUE(written.ok()) << info.name;
    EXPECT_EQ(framework_of_text(written->text), info.name);
  }
  for (const std::string& text :
       {std::string(), std::string("Dear reader,\nthis is no launch line.\n"),
        to_json(setup).dump(), to_json(setup).dump(2), std::string("{\"model_type\": \"llama\"}")})
    EXPECT_EQ(framework_of_text(text), "") << text;
}

}  // namespace
}  // namespace parallelarium
