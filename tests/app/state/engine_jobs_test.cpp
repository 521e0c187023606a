// SPDX-License-Identifier: GPL-3.0-or-later
// One job at a time, in the order begin, finished, keep, state_changed; with engines that answer
// what a test wants. engine_process_test.cpp runs the real one.
#include "app/state/run/engine_jobs.h"

#include <gtest/gtest.h>

#include <QStringList>

#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/state/stand_in_engine.h"

namespace parallelarium {
namespace {

constexpr int kAnswerMs = 20'000;

struct JobsTest : StandInEngine {
  JobsTest() {
    QObject::connect(&jobs, &EngineJobs::finished, &jobs, [this] {
      told << QStringLiteral("finished");
      EXPECT_EQ(jobs.state(), RunState::kIdle);
    });
    QObject::connect(&jobs, &EngineJobs::state_changed, &jobs, [this] {
      told << (jobs.state() == RunState::kIdle ? QStringLiteral("idle") : QStringLiteral("busy"));
    });
  }
  bool ended() {
    return wait_until([&] { return jobs.state() == RunState::kIdle; }, kAnswerMs);
  }
  EngineJobs jobs;
  QStringList told;
};

// What the engine answers to a run of `setup`.
nlohmann::json answer_of(const parallelarium::Setup& setup) {
  const RunRecord run = made_up_run(setup, 1.1);
  return {{"observation", to_json(run.observation)}, {"machine", to_json(run.prediction->machine)}};
}

TEST_F(JobsTest, ARunBringsARecordBetweenItsEndAndItsSignal) {
  const parallelarium::Setup setup = pipeline_setup(2, 4);
  serve(answer_of(setup));
  std::optional<RunRecord> kept;
  jobs.run(setup, false, [&](RunRecord run) {
    told << QStringLiteral("kept");
    kept = std::move(run);
  });
  EXPECT_EQ(jobs.state(), RunState::kStarting);
  ASSERT_TRUE(ended());
  EXPECT_EQ(jobs.last_error(), QString());
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->observed());
  EXPECT_EQ(told, (QStringList{"busy", "finished", "kept", "idle"}));
}

TEST_F(JobsTest, AnAnswerThatIsNoneIsAnErrorThatCanBeDismissed) {
  serve({{"cores", 4}});
  jobs.run(pipeline_setup(2, 4), false, [](const RunRecord&) { FAIL() << "there is no run"; });
  ASSERT_TRUE(ended());
  ASSERT_TRUE(jobs.last_problem());
  EXPECT_EQ(jobs.last_problem()->id, "run-answer");
  EXPECT_EQ(jobs.last_error().toStdString(), jobs.last_problem()->text);
  jobs.dismiss_error();
  EXPECT_TRUE(jobs.last_error().isEmpty());
  EXPECT_FALSE(jobs.last_problem());
}

// The record of an answer is still being made when the run is cancelled.
TEST_F(JobsTest, ACancelledRunBringsNoRecord) {
  const parallelarium::Setup setup = pipeline_setup(2, 4);
  serve(answer_of(setup));
  jobs.run(setup, false, [](const RunRecord&) { FAIL() << "it was cancelled"; });
  jobs.cancel();
  EXPECT_EQ(jobs.state(), RunState::kCancelling);
  ASSERT_TRUE(ended());
  ASSERT_TRUE(jobs.last_problem());
  EXPECT_EQ(jobs.last_problem()->id, "cancelled");
}

TEST_F(JobsTest, AskingForDevicesIsNoJob) {
  serve(computer(2, 2));
  jobs.ask_for_devices();
  EXPECT_TRUE(jobs.asks_for_devices());
  EXPECT_EQ(jobs.state(), RunState::kIdle);
  ASSERT_TRUE(wait_until([&] { return !jobs.asks_for_devices(); }, kAnswerMs));
  EXPECT_EQ(told, QStringList{"idle"});
}

TEST_F(JobsTest, ASweepThatCannotBeMeasuredEnds) {
  serve({{"cores", 4}});
  CollectiveRequest request;
  CollectiveRequest larger = request;
  larger.spec.bytes *= 2;
  int kept = 0;
  jobs.sweep({request, larger}, [&](const CollectiveSpec&, const CollectiveObservation&) {
    ++kept;
    return Result<void>();
  });
  EXPECT_FALSE(jobs.progress_text().isEmpty());
  ASSERT_TRUE(ended());
  EXPECT_FALSE(jobs.last_error().isEmpty());
  EXPECT_EQ(kept, 0);
}

}  // namespace
}  // namespace parallelarium
