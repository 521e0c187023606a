// SPDX-License-Identifier: Apache-2.0
// The table of techniques beside closed formulas, and beside predictions of every piece and rank.
#include "engine/planner/reasons/techniques.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/placement/resolve.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

class TechniquesOf : public testing::TestWithParam<int> {
 protected:
  static parallelarium::Setup asked(const char* model, int ranks) {
    parallelarium::Setup setup = new_setup();
    setup.mesh = Mesh();
    EXPECT_TRUE(set_fields(setup, {{"model", model},
                                   {"machine", "dgx-h100"},
                                   {"precision", "mixed-16"},
                                   {"microbatches", std::to_string(2 * ranks)}})
                    .ok());
    return setup;
  }
  static Techniques of(const parallelarium::Setup& setup, int ranks) {
    const Result<Techniques> found = techniques_of(setup, *find_machine("dgx-h100"), ranks);
    EXPECT_TRUE(found.ok()) << found.error().text;
    return *found;
  }
  static const Technique& row(const Techniques& techniques, const std::string& id) {
    for (const Technique& each : techniques.rows)
      if (each.id == id) return each;
    ADD_FAILURE() << id;
    return techniques.rows.front();
  }
};

// Narayanan et al. 2021, section 3; Rajbhandari et al. 2019, section 7: a ring sends (N - 1) / N of
// an array for each half of an all-reduce.
TEST_P(TechniquesOf, SendWhatTheFormulasSay) {
  const int N = GetParam();
  const parallelarium::Setup setup = asked("llama3-8b", N);
  const Techniques all = of(setup, N);
  const Model& model = setup.model;
  const double part = double(N - 1) / N;
  const double parameters = double(count_parameters(model).total);
  const double gradients = 2 * 2 * parameters * part;
  EXPECT_NEAR(double(row(all, "dp").figures->sent_bytes) / gradients, 1, 0.01);
  const double zero = (2 * 2 * 2 + 2 * 2) * parameters * part;  // two micro-batches on each
  EXPECT_NEAR(double(row(all, "zero").figures->sent_bytes) / zero, 1, 0.02);
  const double array = 2.0 * double(model.sequence) * double(model.hidden);
  const double layers = 4.0 * 2 * N * double(model.layers) * 2 * part * array;
  EXPECT_NEAR(double(row(all, "tp").figures->sent_bytes) / layers, 1, 0.03);
  const double stages = 2 * 2.0 * N * array;  // of a middle stage
  if (N > 2) {
    EXPECT_NEAR(double(row(all, "pp").figures->sent_bytes) / stages, 1, 0.01);
  }
  // Equal stages would leave (p - 1) / (m + p - 1); the head makes the last one longer.
  EXPECT_GT(row(all, "pp").figures->bubble, double(N - 1) / (2 * N + N - 1));
  EXPECT_EQ(row(all, "dp").figures->bubble, 0);
}

TEST_P(TechniquesOf, KeepTheBatchAndAreWhatPredictSays) {
  const int N = GetParam();
  const parallelarium::Setup setup = asked("mixtral-8x7b", N);
  const Machine machine = *find_machine("dgx-h100");
  const Techniques all = of(setup, N);
  ASSERT_EQ(all.rows.size(), 7U);
  for (const Technique& each : all.rows) {
    EXPECT_EQ(each.setup.mesh.ranks(), N) << each.id;
    EXPECT_EQ(each.setup.global_batch(), setup.global_batch()) << each.id;
    const Result<Prediction> whole = predict(resolve(each.setup, machine), machine, true);
    ASSERT_EQ(whole.ok(), each.figures.has_value()) << each.id;
    if (!whole) continue;
    EXPECT_NEAR(each.figures->seconds / whole->step.seconds, 1, 1e-9) << each.id;
    EXPECT_EQ(each.figures->memory_bytes, whole->needed_bytes) << each.id;
    std::int64_t most = 0;
    for (int rank = 0; rank < N; ++rank) {
      std::int64_t sent = 0;
      for (const TrafficRow& traffic : expected_traffic(*whole, rank)) sent += traffic.sent_bytes;
      most = std::max(most, sent);
    }
    EXPECT_NEAR(double(each.figures->sent_bytes) / double(most), 1, 1e-3) << each.id;
    EXPECT_NEAR(each.figures->efficiency * N * each.figures->seconds / all.one_seconds, 1, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, TechniquesOf, testing::Values(2, 4, 8));

TEST(Techniques, SayWhyThereAreNoFigures) {
  const Machine machine = *find_machine("dgx-h100");
  parallelarium::Setup setup = new_setup();
  setup.mesh = Mesh();
  ASSERT_TRUE(set_fields(setup, {{"model", "llama3-8b"}, {"machine", "dgx-h100"}}).ok());
  EXPECT_FALSE(techniques_of(setup, machine, 1).ok());
  setup.microbatches = 6;
  const Techniques all = *techniques_of(setup, machine, 4);
  for (const Technique& each : all.rows) {
    const bool cuts_batch = each.id == "dp" || each.id == "zero" || each.id == "ep";
    EXPECT_EQ(each.refused.has_value(), cuts_batch) << each.id;
  }
  EXPECT_EQ(all.rows.front().refused->text,
            "6 sequences in micro-batches of 1 do not part evenly among 4.");
  setup.microbatches = 8;
  const nlohmann::json json = to_json(*techniques_of(setup, machine, 4));
  EXPECT_TRUE(json["techniques"][6]["refused"].get<std::string>().starts_with("EP 4 needs"));
  EXPECT_TRUE(json["techniques"][0]["refused"].is_null());
}

}  // namespace
}  // namespace parallelarium
