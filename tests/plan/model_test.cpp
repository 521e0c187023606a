// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/data/published.h"

namespace parallelarium {
namespace {

Model preset(const std::string& name) {
  Result<Model> model = find_model(name);
  EXPECT_TRUE(model.ok()) << model.error().text;
  return model.ok() ? *model : Model{};
}

class EveryModel : public testing::TestWithParam<std::string> {};

TEST_P(EveryModel, IsSoundNamedAndSourced) {
  const Model model = preset(GetParam());
  EXPECT_EQ(model.name, GetParam());
  EXPECT_FALSE(model.title.empty());
  EXPECT_TRUE(check_model(model).empty());
  // A source names the numbers that it is of before its colon.
  std::string named;
  for (const std::string& source : model.sources)
    named += source.substr(0, source.find(':')) + ", ";
  if (named.find("all numbers") != std::string::npos) return;
  const nlohmann::json json = to_json(model);
  int numbers = 0;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_number() && !value.is_object()) continue;
    ++numbers;
    EXPECT_TRUE(std::regex_search(named, std::regex("(^|[ ,.])" + key + "\\b")))
        << key << " has no source";
  }
  EXPECT_GE(numbers, 7);
}

TEST_P(EveryModel, SurvivesItsObjectForm) {
  Model model = preset(GetParam());
  Result<Model> again = model_from_json(to_json(model));
  ASSERT_TRUE(again.ok()) << again.error().text;
  model.name = "custom";
  model.title = again->title;
  model.sources.clear();
  EXPECT_EQ(*again, model);
}

// Products cost two operations per weight and token, so forward FLOPs are at least 2 N T where N
// leaves out what is looked up and not multiplied, and the rest is attention.
TEST_P(EveryModel, CountsEveryWeightOnceAndScoresBeside) {
  const Model m = preset(GetParam());
  const ParameterCounts counts = count_parameters(m);
  const double T = static_cast<double>(m.sequence);
  const double width =
      m.latent.kv_rank > 0
          ? static_cast<double>(m.latent.nope_dim + m.latent.rope_dim + m.latent.value_dim)
          : 2.0 * static_cast<double>(m.head_dim > 0 ? m.head_dim : m.hidden / m.heads);
  const double scores = 2 * T * T * m.heads * width * m.layers;
  const double looked_up = static_cast<double>(counts.positions) +
                           (m.tied ? 0.0 : static_cast<double>(counts.embedding));
  const double weights = static_cast<double>(counts.active) - looked_up;
  const double products = forward_flops_per_sequence(m) - scores;
  EXPECT_LE(products, 2 * weights * T);
  EXPECT_GT(products, 2 * weights * T * 0.98) << "norms and biases are a small part";
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryModel, testing::ValuesIn(model_names()),
                         [](const auto& preset_info) {
                           std::string name = preset_info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Presets, AreAllThatTheContractNames) {
  const std::vector<std::string> names = model_names();
  for (const char* name :
       {"gpt-tiny", "llama-tiny", "moe-tiny", "gpt-small", "gpt2-124m", "gpt3-175b", "megatron-22b",
        "mt-nlg-530b", "megatron-1t", "llama-7b", "llama2-70b", "llama3-8b", "llama3-70b",
        "llama3-405b", "mixtral-8x7b", "deepseek-v3"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_EQ(names.front(), "gpt-tiny");
}

TEST(Parameters, EqualTheReleasedModels) {
  EXPECT_EQ(count_parameters(preset("gpt2-124m")).total, 124'439'808);
  EXPECT_EQ(count_parameters(preset("llama-7b")).total, 6'738'415'616);
  EXPECT_EQ(count_parameters(preset("llama2-70b")).total, 68'976'648'192);
  EXPECT_EQ(count_parameters(preset("llama3-8b")).total, 8'030'261'248);
  const ParameterCounts mixtral = count_parameters(preset("mixtral-8x7b"));
  EXPECT_EQ(mixtral.total, 46'702'792'704);
  EXPECT_NEAR(static_cast<double>(mixtral.active), 12.88e9, 5e6);
  const ParameterCounts deepseek = count_parameters(preset("deepseek-v3"));
  EXPECT_NEAR(static_cast<double>(deepseek.total), 671.03e9, 5e6);
  EXPECT_NEAR(static_cast<double>(deepseek.active), 37.55e9, 5e6);
}

class PublishedParameters : public testing::TestWithParam<PublishedRow> {};
TEST_P(PublishedParameters, AreMet) {
  const PublishedRow& row = GetParam();
  const double total = static_cast<double>(count_parameters(preset(row.inputs.at("model"))).total);
  EXPECT_NEAR(total / 1e9, row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Presets, PublishedParameters,
                         testing::ValuesIn(published("preset_parameters")));

// Sources count a token's parameters with the token table or without it.
class PublishedActiveParameters : public testing::TestWithParam<PublishedRow> {};
TEST_P(PublishedActiveParameters, AreMet) {
  const PublishedRow& row = GetParam();
  const ParameterCounts counts = count_parameters(preset(row.inputs.at("model")));
  const std::int64_t left_out = row.inputs.at("token_table") ? 0 : counts.embedding;
  EXPECT_NEAR(static_cast<double>(counts.active - left_out) / 1e9, row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Presets, PublishedActiveParameters,
                         testing::ValuesIn(published("preset_active_parameters")));

// The layout that is trained, summed by hand for a shape with all of its parts different.
TEST(Parameters, SumTheTrainedLayout) {
  Model m;
  m.layers = 3;
  m.hidden = 8;
  m.heads = m.kv_heads = 2;
  m.ffn = 20;
  m.vocab = 11;
  m.sequence = 5;
  const std::int64_t layer =
      2 * 8 + (24 * 8 + 24) + (8 * 8 + 8) + 2 * 8 + (20 * 8 + 20) + (8 * 20 + 8);
  EXPECT_EQ(count_parameters(m).total, 11 * 8 + 5 * 8 + 3 * layer + 2 * 8);
  m.tied = false;
  EXPECT_EQ(count_parameters(m).total, 11 * 8 + 5 * 8 + 3 * layer + 2 * 8 + 11 * 8);
  m.biases = false;
  EXPECT_EQ(count_parameters(m).dense_layer, layer - 24 - 8 - 20 - 8);
}

TEST(DefaultWidth, IsFourTimesOrEightThirdsRoundedUp) {
  EXPECT_EQ(default_ffn(64, Mlp::kGelu), 256);
  EXPECT_EQ(default_ffn(64, Mlp::kSwiglu), 192);      // 170.7 up to 192
  EXPECT_EQ(default_ffn(4096, Mlp::kSwiglu), 10944);  // 10922.7 up to 10944
  EXPECT_EQ(default_ffn(24, Mlp::kSwiglu), 64);
}

struct Wrong {
  const char* json;
  const char* field;
  const char* words;
};
class WrongModel : public testing::TestWithParam<Wrong> {};
TEST_P(WrongModel, IsRefusedInASentenceThatNamesTheField) {
  Result<Model> model = model_from_json(nlohmann::json::parse(GetParam().json));
  Message why;
  if (model.ok()) {
    const std::vector<Message> wrong = check_model(*model);
    ASSERT_FALSE(wrong.empty());
    why = wrong.front();
  } else {
    why = model.error();
  }
  EXPECT_EQ(why.field, GetParam().field);
  EXPECT_NE(why.text.find(GetParam().words), std::string::npos) << why.text;
  EXPECT_EQ(why.text.back(), '.');
}
INSTANTIATE_TEST_SUITE_P(
    Sentences, WrongModel,
    testing::Values(
        Wrong{R"({"layers":2})", "model.hidden", "needs model.hidden"},
        Wrong{R"({"layers":0,"hidden":8,"heads":2,"vocab":9,"sequence":4})", "model.layers",
              "between 1 and 10000"},
        Wrong{R"({"layers":2.5,"hidden":8,"heads":2,"vocab":9,"sequence":4})", "model.layers",
              "whole number"},
        Wrong{R"({"layers":2,"hidden":"8","heads":2,"vocab":9,"sequence":4})", "model.hidden",
              "whole number"},
        Wrong{R"({"layers":2,"hidden":8,"heads":3,"vocab":9,"sequence":4})", "model.heads",
              "3 heads do not divide hidden 8; 2, 4 or 8 would."},
        Wrong{R"({"layers":2,"hidden":8,"heads":4,"kv_heads":3,"vocab":9,"sequence":4})",
              "model.kv_heads", "3 key/value heads"},
        Wrong{R"({"layers":2,"hidden":8,"heads":2,"vocab":9,"sequence":4,"colour":1})",
              "model.colour", "Unknown key"},
        Wrong{R"({"layers":2,"hidden":8,"heads":2,"vocab":9,"sequence":4,"mlp":"relu"})",
              "model.mlp", "gelu or swiglu"},
        Wrong{R"({"layers":2,"hidden":8,"heads":2,"vocab":9,"sequence":4,"experts":{"counts":1}})",
              "model.experts.counts", "Unknown key"},
        Wrong{R"({"layers":2,"hidden":8,"heads":2,"vocab":9,"sequence":4,"experts":{"count":4}})",
              "model.experts.top_k", "between 1 and 4"},
        Wrong{R"({"layers":2,"hidden":8,"heads":2,"vocab":9,"sequence":4,"stage_layers":[1,2]})",
              "model.stage_layers", "adds up to 3"},
        Wrong{R"({"layers":10000,"hidden":1048576,"heads":2,"vocab":9,"sequence":4})",
              "model.hidden", "10^15 parameters"}));

TEST(UnknownModel, ListsTheNames) {
  const Result<Model> model = find_model("gpt-5");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().id, "model-unknown");
  EXPECT_EQ(model.error().alternatives, model_names());
}

TEST(UnknownModel, SuggestsTheNearestName) {
  EXPECT_NE(find_model("lama-7b").error().text.find("“lama-7b” (llama-7b?)"), std::string::npos);
  EXPECT_EQ(find_model("bert").error().text.find("?"), std::string::npos);
}

TEST(Title, OfAPresetAtAnotherSequenceNamesBoth) {
  Model model = *find_model("gpt2-124m");
  const std::string title = title_of(model).text;
  model.name = "custom";
  model.title.clear();
  model.sequence *= 4;
  EXPECT_EQ(title_of(model).text, title + " at 4096 tokens");
  ++model.layers;
  EXPECT_EQ(title_of(model).text, "Custom model");
}

}  // namespace
}  // namespace parallelarium
