// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/predictor.h"

#include <gtest/gtest.h>

#include "engine/plan/placement/resolve.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

const Machine& machine() {
  static const Machine machine = uncalibrated_local_machine();
  return machine;
}

parallelarium::Setup setup_of(int stages, int microbatches) {
  parallelarium::Setup setup = default_setup();
  setup.mesh.pp = stages;
  setup.microbatches = microbatches;
  return resolve(setup, machine());
}

// Thousands of ops: more than a frame's worth.
parallelarium::Setup large(int microbatches) { return setup_of(8, microbatches); }

struct PredictorTest : testing::Test {
  PredictorTest() {
    QObject::connect(&predictor, &Predictor::predicted, &predictor,
                     [this](const Predicted& answer) { answers.push_back(answer); });
  }
  Predictor predictor;
  std::vector<Predicted> answers;
};

TEST_F(PredictorTest, ASmallSetupIsPredictedAtOnce) {
  predictor.predict(setup_of(2, 4), machine(), machine());
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_FALSE(predictor.busy());
  ASSERT_TRUE(answers[0].prediction);
  EXPECT_EQ((*answers[0].prediction)->setup, setup_of(2, 4));
}

TEST_F(PredictorTest, OfLargeOnesTheLatestIsToldFromTheEventLoop) {
  for (int microbatches = 500; microbatches > 490; --microbatches)
    predictor.predict(large(microbatches), machine(), machine());
  EXPECT_TRUE(answers.empty());
  EXPECT_TRUE(predictor.busy());
  ASSERT_TRUE(wait_until([&] { return !predictor.busy(); }, 60'000));
  ASSERT_EQ(answers.size(), 1u);
  ASSERT_TRUE(answers[0].prediction) << answers[0].prediction.error().text;
  EXPECT_EQ((*answers[0].prediction)->setup.microbatches, 491);
}

TEST_F(PredictorTest, WaitingReturnsWithTheAnswer) {
  predictor.predict(large(500), machine(), machine());
  predictor.wait();
  EXPECT_EQ(answers.size(), 1u);
}

TEST_F(PredictorTest, WhatIsForgottenIsNotTold) {
  predictor.predict(large(500), machine(), machine());
  predictor.forget();
  predictor.wait();
  EXPECT_TRUE(answers.empty());
  predictor.predict(large(499), machine(), machine());
  predictor.forget();
  predictor.predict(large(498), machine(),
                    machine());  // is wanted, although one is still under way
  predictor.wait();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ((*answers[0].prediction)->setup.microbatches, 498);
}

}  // namespace
}  // namespace parallelarium
