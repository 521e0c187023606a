// SPDX-License-Identifier: Apache-2.0
// Predictions beside published training runs: within the errors that the project promises, with one
// set of rates for a machine.
#include "engine/predict/cases.h"

#include <gtest/gtest.h>

#include <cmath>

namespace parallelarium {
namespace {

struct Goal {
  const char* name;    // of the case
  const char* metric;  // of its figures
  const char* rows;    // those whose names hold this; "" for all
  double mean, worst;
};

class Cases : public testing::TestWithParam<Goal> {};

TEST_P(Cases, ArePredictedWithinTheirGoals) {
  const Goal& goal = GetParam();
  const Result<Case> found = find_case(goal.name);
  ASSERT_TRUE(found.ok()) << found.error().text;
  double sum = 0;
  int figures = 0;
  for (const CaseRow& row : found->rows) {
    if (!row.impossible.empty() || row.name.find(goal.rows) == std::string::npos) continue;
    const Result<std::vector<double>> predicted = predict_case(row);
    ASSERT_TRUE(predicted.ok()) << row.name << ": " << predicted.error().text;
    for (std::size_t at = 0; at < row.figures.size(); ++at) {
      if (row.figures[at].metric != goal.metric) continue;
      const double error = std::abs((*predicted)[at] / row.figures[at].published - 1);
      EXPECT_LE(error, goal.worst) << row.name;
      sum += error;
      ++figures;
    }
  }
  ASSERT_GT(figures, 0);
  EXPECT_LE(sum / figures, goal.mean);
}

INSTANTIATE_TEST_SUITE_P(
    Published, Cases,
    testing::Values(Goal{"korthikanti-2022-table-5", "step_seconds", "", 0.025, 0.06},
                    Goal{"korthikanti-2022-figure-1", "first_stage_activations_gib", "", 0.002,
                         0.006},
                    Goal{"narayanan-2021-table-1", "step_seconds", "", 0.04, 0.10},
                    Goal{"narayanan-2021-table-2", "step_seconds", "PTD", 0.06, 0.07},
                    Goal{"qi-2023-table-4", "step_seconds", "", 0.06, 0.14},
                    Goal{"simumax-2026-b200", "step_seconds", "", 0.06, 0.135},
                    Goal{"llama-3-2024-table-4", "mfu_causal_percent", "", 0.04, 0.05}));

// What a source says stands in its file once: every row has figures that are known metrics.
TEST(Cases, SayTheirSourcesAndFigures) {
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok()) << cases.error().text;
  EXPECT_GE(cases->size(), 5u);
  for (const Case& one : *cases) {
    EXPECT_NE(one.source.find(" 20"), std::string::npos) << one.name;
    EXPECT_FALSE(one.rows.empty());
    for (const CaseRow& row : one.rows) {
      EXPECT_FALSE(row.figures.empty()) << row.name;
      for (const CaseFigure& figure : row.figures) {
        EXPECT_EQ(metric_of(figure).name, figure.metric) << row.name;
        EXPECT_GT(figure.published, 0) << row.name;
      }
    }
  }
  EXPECT_EQ(find_case("nothing").error().id, "case-unknown");
}

}  // namespace
}  // namespace parallelarium
