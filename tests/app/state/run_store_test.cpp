// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/run/run_store.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

namespace parallelarium {
namespace {

parallelarium::Setup setup_of(int microbatches) {
  parallelarium::Setup setup = default_setup();
  setup.microbatches = microbatches;
  return setup;
}

// A run of `microbatches` whose losses are `loss`.
RunRecord run_of(int microbatches, double loss = 1) {
  RunRecord record;
  record.observation.setup = setup_of(microbatches);
  record.observation.losses = {loss};
  record.observation.timeline.ranks.resize(1);
  return record;
}

struct RunStoreTest : testing::Test {
  RunStore runs;
  QSignalSpy changed{&runs, &RunStore::changed};
};

TEST_F(RunStoreTest, TheRunOfWhatIsSetIsCurrentElseTheLatestWhichIsStale) {
  EXPECT_EQ(runs.current(), nullptr);
  EXPECT_FALSE(runs.current_is_stale());
  runs.keep(run_of(4));
  runs.keep(run_of(8));
  EXPECT_EQ(changed.count(), 2);
  runs.match(setup_of(4));
  EXPECT_EQ(runs.current(), &runs.all()[0]);
  EXPECT_FALSE(runs.current_is_stale());
  runs.match(setup_of(16));
  EXPECT_EQ(runs.current(), &runs.all()[1]);
  EXPECT_TRUE(runs.current_is_stale());
  EXPECT_EQ(changed.count(), 2) << "the runs are the same";
}

TEST_F(RunStoreTest, ARunReplacesThatOfTheSameSetup) {
  runs.keep(run_of(4, 5));
  runs.keep(run_of(8));
  runs.keep(run_of(4, 3));
  ASSERT_EQ(runs.all().size(), 2u);
  EXPECT_EQ(runs.all()[0].observation.setup.microbatches, 8);
  EXPECT_EQ(runs.all()[1].observation.losses[0], 3);
}

TEST_F(RunStoreTest, TheOldestGoesWhereThereAreTooMany) {
  for (int microbatches = 1; microbatches <= 25; ++microbatches) runs.keep(run_of(microbatches));
  ASSERT_EQ(runs.all().size(), 20u);
  EXPECT_EQ(runs.all().front().observation.setup.microbatches, 6);
  std::vector<RunRecord> many;
  for (int microbatches = 1; microbatches <= 25; ++microbatches)
    many.push_back(run_of(microbatches));
  runs.restore(many, std::nullopt);
  ASSERT_EQ(runs.all().size(), 20u);
  EXPECT_EQ(runs.all().back().observation.setup.microbatches, 25);
}

TEST_F(RunStoreTest, RunsThatAreAsideAreKeptAndNotShown) {
  runs.keep(run_of(4));
  runs.keep(run_of(8));
  runs.pin(run_of(8));
  runs.match(setup_of(4));
  runs.set_earlier_aside(true);
  EXPECT_EQ(runs.current(), nullptr);
  EXPECT_EQ(runs.pinned(), nullptr);
  EXPECT_EQ(runs.all().size(), 2u);
  runs.keep(run_of(4, 2));  // replaces one that is aside: the other stays there
  ASSERT_EQ(runs.shown().size(), 1u);
  EXPECT_EQ(runs.shown()[0].observation.losses[0], 2);
  EXPECT_EQ(runs.current(), &runs.all()[1]);
  runs.set_earlier_aside(false);
  EXPECT_EQ(runs.shown().size(), 2u);
}

TEST_F(RunStoreTest, APinIsARunOrAPrediction) {
  runs.pin(run_of(4));
  ASSERT_NE(runs.pinned(), nullptr);
  EXPECT_TRUE(runs.pinned()->observed());
  Prediction prediction;
  prediction.setup = setup_of(8);
  runs.pin(record_of(std::make_shared<const Prediction>(prediction)));
  EXPECT_FALSE(runs.pinned()->observed());
  EXPECT_EQ(runs.pinned()->observation.setup, setup_of(8));
  runs.unpin();
  EXPECT_EQ(runs.pinned(), nullptr);
  EXPECT_EQ(changed.count(), 3);
}

TEST(RunRecordOfAnswer, AnAnswerThatIsNoneIsASentence) {
  for (const char* text :
       {"7", "{}", R"({"observation": {}})", R"({"observation": 1, "machine": 2})"}) {
    const Result<RunRecord> record = record_of_answer(nlohmann::json::parse(text));
    ASSERT_FALSE(record.ok()) << text;
    EXPECT_FALSE(record.error().text.empty()) << text;
  }
}

}  // namespace
}  // namespace parallelarium
