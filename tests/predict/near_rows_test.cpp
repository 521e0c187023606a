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
  // Another sequence is the same model; another peak, another type of products or shape is none.
  setup.model.sequence /= 2;
  EXPECT_EQ(near_rows(cases, setup, machine)->rows, near->rows);
  EXPECT_FALSE(near_rows(cases, setup, *find_machine("dgx-a100-80g")));
  setup.model.layers += 1;
  EXPECT_FALSE(near_rows(cases, setup, machine));
}

TEST(NearRows, SayTheSide) {
  const Model model = *find_model("llama3-8b");
  EXPECT_EQ(words_of({2, 0.75, 0.9}, model).text,
            "2 published rows are of Llama 3 8B on such GPUs: they are predicted from 25.0 % too "
            "fast to 10.0 % too fast.");
  EXPECT_EQ(words_of({1, 1.25, 1.25}, model).text,
            "One published row is of Llama 3 8B on such GPUs: it is predicted 25.0 % too slow.");
}

}  // namespace
}  // namespace parallelarium
