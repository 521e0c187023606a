// SPDX-License-Identifier: Apache-2.0
// To which side published rows of a model are missed is what those rows say one by one.
#include "engine/predict/cases/near_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

TEST(NearRows, SpanWhatTheRowsOfTheModelSay) {
  const std::vector<Case> cases = *all_cases();
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  const Machine machine = *find_machine("dgx-h100");
  std::vector<double> ratios;
  for (const Case& of : cases)
    for (const CaseRow& row : of.rows) {
      const bool is_near = row.impossible.empty() && !row.fitted &&
                           row.setup.model.name == "llama3-8b" &&
                           row.setup.products == ProductType::kSame &&
                           (row.machine.name.find("h100") != std::string::npos ||
                            row.machine.name.find("h200") != std::string::npos);
      if (!is_near) continue;
      const Result<double> published = published_seconds(row);
      const Result<Prediction> predicted = predict(row.setup, row.machine);
      ASSERT_TRUE(published.ok() && predicted.ok()) << row.name;
      if (*published > 0) ratios.push_back(predicted->step.seconds / *published);
    }
  ASSERT_GT(ratios.size(), 3u);
  const std::optional<NearRows> near = near_rows(cases, setup, machine);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->rows, static_cast<int>(ratios.size()));
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  EXPECT_NEAR(near->least, *least, 1e-6);
  EXPECT_NEAR(near->most, *most, 1e-6);
  EXPECT_EQ(near->of, NearRows::Of::kModel);
  // Another sequence is the same model; of another peak there are no rows.
  setup.model.sequence /= 2;
  EXPECT_EQ(near_rows(cases, setup, machine)->rows, near->rows);
  auto elsewhere = machine;
  elsewhere.half_flops_per_second.value *= 1.5;
  EXPECT_FALSE(near_rows(cases, setup, elsewhere));
}

// Where no row is of the model itself, those that say most of it do.
TEST(NearRows, AreOfLikeModelsWhereNoneIsOfTheModel) {
  const std::vector<Case> cases = *all_cases();
  const Machine machine = *find_machine("dgx-h100");
  const auto like = [&](const char* model) {
    auto setup = default_setup();
    setup.model = *find_model(model);
    setup.model.layers += 1;
    return near_rows(cases, setup, machine);
  };
  const std::optional<NearRows> dense = like("llama3-8b"), experts = like("mixtral-8x7b");
  ASSERT_TRUE(dense && experts);
  EXPECT_EQ(dense->of, NearRows::Of::kLikeModels);
  EXPECT_EQ(experts->of, NearRows::Of::kLikeModels);
  int of_dense = 0, of_experts = 0;
  for (const Case& of : cases)
    for (const CaseRow& row : of.rows)
      if (!row.fitted && row.impossible.empty() && published_seconds(row).ok() &&
          *published_seconds(row) > 0 &&
          row.machine.half_flops_per_second.value == machine.half_flops_per_second.value)
        ++(row.setup.model.experts.count > 0 ? of_experts : of_dense);
  EXPECT_EQ(dense->rows, of_dense);
  EXPECT_EQ(experts->rows, of_experts);
  // Its rows on such GPUs have products in FP8 alone, or it has some of its own.
  auto setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.products = ProductType::kFp8;
  ASSERT_TRUE(near_rows(cases, setup, machine));
  EXPECT_EQ(near_rows(cases, setup, machine)->of, NearRows::Of::kModel);
}

TEST(NearRows, SayTheSide) {
  const Model model = *find_model("llama3-8b");
  EXPECT_EQ(words_of({2, 0.75, 0.9}, model).text,
            "2 published rows are of Llama 3 8B on such GPUs: they are predicted from 25.0 % too "
            "fast to 10.0 % too fast.");
  EXPECT_EQ(words_of({1, 1.25, 1.25}, model).text,
            "One published row is of Llama 3 8B on such GPUs: it is predicted 25.0 % too slow.");
  EXPECT_EQ(words_of({1, 0.8, 0.8, NearRows::Of::kOtherTypes}, model).text,
            "One published row is of Llama 3 8B on such GPUs, with products of another type: it is "
            "predicted 20.0 % too fast.");
  EXPECT_EQ(words_of({3, 0.8, 1.1, NearRows::Of::kLikeModels}, *find_model("mixtral-8x7b")).text,
            "No published row is of Mixtral 8x7B on such GPUs, but 3 are of other models with "
            "experts: they are predicted from 20.0 % too fast to 10.0 % too slow.");
}

}  // namespace
}  // namespace parallelarium
