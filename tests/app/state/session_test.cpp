// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/session.h"

#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QUndoCommand>

#include "app/look/figures.h"
#include "app/selection/selection_panel.h"
#include "app/settings/setup_fields.h"
#include "app/state/document/document.h"
#include "app/state/run/run_advice.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/predict/explain/explain.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

Setup with(Setup setup, const char* field, const std::string& value) {
  EXPECT_TRUE(set_field(setup, field, value).ok()) << field << " " << value;
  return setup;
}

QStringList numbers_of(const Session& session) {
  QStringList numbers;
  for (const Quantity& quantity : step_quantities(session))
    numbers << quantity.predicted.text << quantity.predicted.exact << quantity.observed.text;
  return numbers;
}

TEST(Session, OpensWithAPredictionOfTheDefaultSetup) {
  Session session;
  EXPECT_TRUE(session.problems().empty());
  ASSERT_NE(session.subject().prediction(), nullptr);
  EXPECT_EQ(session.subject().prediction()->setup, session.resolved());
  EXPECT_GT(session.subject().horizon(), Nanoseconds(0));
  EXPECT_EQ(session.subject().visible(), (TimeRange{Nanoseconds(0), session.subject().horizon()}));
}

TEST(Session, AStaleRunIsNeverCalledNotRunYet) {
  Session session;
  const PlanSetup setup = pipeline_setup(2, 4);
  session.restore(setup, {made_up_run(setup, 1.1)}, std::nullopt);
  session.history().change(with(setup, "microbatches", "8"), QStringLiteral("more"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.runs().current_is_stale());
  for (const Quantity& quantity : step_quantities(session))
    EXPECT_EQ(quantity.observed.source, QStringLiteral("run is of other settings"))
        << quantity.key.toStdString();
}

// On which backend, and how slow a rehearsal was, stands on the run.
TEST(Session, ARunIsOfWhatIsSetWhateverTheBackendAndTheStretch) {
  Session session;
  const PlanSetup setup = with(pipeline_setup(2, 4), "backend", "paced");
  session.restore(setup, {made_up_run(setup, 1.1)}, std::nullopt);
  for (const auto& [option, value] : {std::pair("stretch", "70"), std::pair("backend", "cpu")}) {
    session.history().change(with(session.setup(), option, value), QStringLiteral("other"));
    session.wait_for_prediction();
    ASSERT_TRUE(session.runs().current());
    EXPECT_FALSE(session.runs().current_is_stale()) << option;
  }
  session.history().change(with(session.setup(), "seed", "7"), QStringLiteral("other"));
  EXPECT_TRUE(session.runs().current_is_stale());
}

// Commands say by a hash whether they may be one step; two hashes can be the same.
TEST(Session, AnEditIsNeverMergedWithAnotherKindOfCommand) {
  class Other : public QUndoCommand {
   public:
    explicit Other(int id) : id_(id) {}
    int id() const override { return id_; }

   private:
    int id_;
  };
  Session session;
  const parallelarium::Setup before = session.setup();
  session.history().change(with(before, "microbatches", "6"), QStringLiteral("6"));
  session.history().stack().push(new Other(session.history().stack().command(0)->id()));
  EXPECT_EQ(session.history().stack().count(), 2);
  session.history().stack().undo();
  EXPECT_EQ(session.setup().microbatches, 6);
  session.history().stack().undo();
  EXPECT_EQ(session.setup(), before);
}

TEST(Session, ADocumentThatCannotBeOpenedLosesNothing) {
  Session session;
  const PlanSetup setup = pipeline_setup(2, 4);
  session.restore(setup, {made_up_run(setup, 1.1)}, std::nullopt);
  session.locks().set_lesson_state({{"lesson", "pipeline-bubble"}, {"step", 2}});
  session.history().change(with(setup, "microbatches", "8"), QStringLiteral("more"));
  session.wait_for_prediction();
  const nlohmann::json before = document_of(session);
  nlohmann::json other = document_of(Session());
  other["lesson"] = nullptr;
  const auto damaged = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json copy = other;
    copy[key] = value;
    return copy;
  };
  for (const nlohmann::json& bad :
       {damaged("collective", 7), damaged("collective", {{"topology", 7}}), damaged("setup", 7),
        nlohmann::json(7)}) {
    std::vector<Message> notes;
    EXPECT_FALSE(restore_document(session, bad, notes).ok()) << bad.dump();
    EXPECT_EQ(document_of(session), before) << bad.dump();
    EXPECT_TRUE(session.history().stack().canUndo()) << bad.dump();
  }
}

TEST(Session, FiftyEditsUndoneAndRedoneGiveTheSameNumbers) {
  Session session;
  std::vector<QStringList> seen{numbers_of(session)};
  const char* const schedules[] = {"gpipe", "naive", "1f1b"};
  for (int edit = 0; edit < 50; ++edit) {
    PlanSetup next = session.setup();
    if (edit % 2 == 0)
      next.microbatches = 4 + edit;
    else
      next = with(next, "schedule", schedules[(edit / 2) % 3]);
    session.history().change(next, QStringLiteral("edit"));
    session.wait_for_prediction();
    seen.push_back(numbers_of(session));
  }
  const int steps = session.history().stack().count();
  EXPECT_EQ(steps, 50);
  for (int step = steps - 1; step >= 0; --step) {
    session.history().stack().undo();
    session.wait_for_prediction();
    EXPECT_EQ(numbers_of(session), seen[std::size_t(step)]) << step;
  }
  EXPECT_EQ(session.setup(), new_setup());
  for (int step = 1; step <= steps; ++step) {
    session.history().stack().redo();
    session.wait_for_prediction();
    EXPECT_EQ(numbers_of(session), seen[std::size_t(step)]) << step;
  }
}

TEST(Session, RepeatsOfOneFieldAreOneUndoStep) {
  Session session;
  for (int microbatches = 9; microbatches < 14; ++microbatches) {
    PlanSetup next = session.setup();
    next.microbatches = microbatches;
    session.history().change(next, QStringLiteral("Micro-batches %1").arg(microbatches));
  }
  EXPECT_EQ(session.history().stack().count(), 1);
  EXPECT_EQ(session.history().stack().undoText(), QStringLiteral("Micro-batches 13"));
  session.history().stack().undo();
  EXPECT_EQ(session.setup(), new_setup());
}

TEST(Session, AnInvalidSetupKeepsTheLastPictureAndSaysWhatWouldBeValid) {
  Session session;
  const auto before = session.subject().prediction();
  session.history().change(with(session.setup(), "tp", "3"), QStringLiteral("TP 3"));
  ASSERT_FALSE(session.problems().empty());
  EXPECT_EQ(session.subject().prediction(), before);
  EXPECT_FALSE(session.problems().front().text.empty());
  EXPECT_FALSE(session.problems().front().alternatives.empty());
  EXPECT_FALSE(run_refusal(session).isEmpty());
  for (const Quantity& quantity : step_quantities(session))
    EXPECT_TRUE(quantity.predicted.text.isEmpty()) << quantity.key.toStdString();
  session.history().stack().undo();
  EXPECT_TRUE(session.problems().empty());
  EXPECT_EQ(session.subject().prediction()->setup, session.resolved());
}

TEST(Session, AChangedLessonSettingIsPredictedWithinAFrame) {
  Session session;
  QElapsedTimer timer;
  std::vector<double> times;
  for (int edit = 0; edit < 15; ++edit) {
    PlanSetup next = session.setup();
    next.microbatches = 4 + edit % 8;
    timer.start();
    session.history().change(next, QString::number(edit));
    times.push_back(double(timer.nsecsElapsed()) / 1e6);
    session.wait_for_prediction();
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  EXPECT_LT(times[7], 16) << "milliseconds, median";
}

TEST(Session, ALargePresetNeverBlocksTheWindowAndTheLatestWins) {
  Session session;
  PlanSetup big = with(session.setup(), "model", "gpt3-175b");
  big = with(big, "machine", "dgx-a100-80g");
  big = with(with(with(big, "pp", "16"), "tp", "8"), "dp", "8");
  big = with(big, "microbatches", "512");
  QElapsedTimer timer;
  timer.start();
  session.history().change(big, QStringLiteral("large"));
  for (int microbatches = 500; microbatches > 490; --microbatches) {
    big.microbatches = microbatches;
    session.history().change(big, QStringLiteral("micro-batches"));
  }
  EXPECT_LT(timer.elapsed(), 200);
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
  EXPECT_EQ(session.subject().prediction()->setup.microbatches, 491);
  EXPECT_TRUE(session.prediction_is_current());
}

TEST(Session, AHiddenKeyHidesTheKeysBelowItAndNothingElse) {
  Session session;
  session.locks().set_hidden({QStringLiteral("bubble")});
  EXPECT_TRUE(session.locks().hidden(QStringLiteral("bubble.of_total")));
  EXPECT_FALSE(session.locks().hidden(QStringLiteral("bubbles")));
  const auto quantities = step_quantities(session);
  EXPECT_EQ(quantities[1].predicted.text, QStringLiteral("?"));
  EXPECT_NE(quantities[0].predicted.text, QStringLiteral("?"));
  EXPECT_FALSE(quantities[1].predicted.exact.contains(QLatin1Char('%')));
}

// One unit of time: ranks without cores of their own are predicted in that of the machine, too.
TEST(Session, ARehearsalIsPredictedInTheTimeOfTheMachine) {
  const auto with_backend = [](const char* backend) {
    return with(pipeline_setup(2, 8), "backend", backend);
  };
  Session session;
  session.history().change(with_backend("cpu"), QStringLiteral("own speed"));
  session.wait_for_prediction();
  EXPECT_EQ(session.rehearsal_seconds(), 0);
  const Quantity own = step_quantities(session)[0];
  session.pin();
  session.history().change(with_backend("paced"), QStringLiteral("rehearsed"));
  session.wait_for_prediction();
  EXPECT_GT(session.rehearsal_seconds(), 0);
  EXPECT_EQ(run_label(session), QStringLiteral("Rehearse on 2 ranks"));
  EXPECT_TRUE(run_details(session).contains(QStringLiteral("rehearsal takes ")))
      << run_details(session).toStdString();
  const std::vector<Quantity> rehearsed = step_quantities(session);
  // At their own speed a rank's lanes compete for its core, by how much the rates decide.
  EXPECT_NEAR(rehearsed[0].predicted_value / own.predicted_value, 1, 0.15);
  EXPECT_EQ(rehearsed[0].predicted.source, own.predicted.source);
  EXPECT_FALSE(rehearsed[0].since_pin.isEmpty());
  // Another machine is rehearsed here, too, where that is asked for, and else predicted only.
  session.history().change(with(with_backend("paced"), "machine", "dgx-h100"),
                           QStringLiteral("another"));
  session.wait_for_prediction();
  EXPECT_EQ(expected_source(session), Source::kPaced);
  EXPECT_GT(session.rehearsal_seconds(), 0);
  EXPECT_TRUE(run_refusal(session).isEmpty()) << run_refusal(session).toStdString();
  session.history().change(with(with_backend("auto"), "machine", "dgx-h100"),
                           QStringLiteral("predicted only"));
  session.wait_for_prediction();
  EXPECT_TRUE(machine_is_elsewhere(session));
  EXPECT_EQ(session.rehearsal_seconds(), 0);
  EXPECT_EQ(run_label(session), QStringLiteral("Run a small copy here"));
}

// A run of other settings is not drawn: an old one of naive, several times as long, leaves the time
// axis, the playhead and what is kept in documents alone.
TEST(Session, ARunOfOtherSettingsDoesNotStretchTheTimeAxis) {
  Session session;
  const PlanSetup setup = pipeline_setup(4, 8);
  session.restore(setup, {made_up_run(setup, 100)}, std::nullopt);
  session.wait_for_prediction();
  session.playback().set_playhead(session.subject().horizon());
  session.history().change(with(setup, "microbatches", "4"), QStringLiteral("fewer"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.runs().current_is_stale());
  const Nanoseconds step = session.subject().prediction()->timeline.duration;
  ASSERT_LT(step, session.runs().current()->observation.timeline.duration);
  const TimeRange whole{Nanoseconds(0), step};
  EXPECT_EQ(session.subject().horizon(), step);
  EXPECT_EQ(session.playback().played(), whole);
  EXPECT_EQ(session.playback().playhead(), step) << "it stays inside the step";
  EXPECT_EQ(session.subject().visible(), whole);
  session.subject().fit_all();
  EXPECT_EQ(session.subject().visible(), whole) << "there is nothing to show after its end";
  EXPECT_FALSE(document_of(session).at("view").contains("visible_nanoseconds"));
  // Pinned, it is drawn.
  session.runs().pin(*session.runs().current());
  EXPECT_EQ(session.subject().horizon(), session.runs().current()->observation.timeline.duration);
}

// Waiting for the sender and then for the link is one gap on the screen: the panel tells both.
TEST(Session, TheSelectionTellsAllOfTheIdleTimeBefore) {
  Session session;
  session.history().change(with(pipeline_setup(4, 8), "backend", "cpu"), QStringLiteral("set"));
  session.wait_for_prediction();
  const Prediction& prediction = *session.subject().prediction();
  const std::vector<IdleGap> gaps = idle_gaps(prediction.program, prediction.timeline, 0);
  const auto carried = std::find_if(
      gaps.begin(), gaps.end(), [](const IdleGap& gap) { return gap.kind == IdleKind::kTransfer; });
  ASSERT_NE(carried, gaps.end());
  ASSERT_NE(carried, gaps.begin());
  ASSERT_EQ(std::prev(carried)->span.end, carried->span.begin);
  const auto& spans = prediction.timeline.ranks[0].spans;
  std::int32_t op = 0;
  while (spans[std::size_t(op)].begin != carried->span.end ||
         prediction.program.ranks[0].ops[std::size_t(op)].lane != Lane::kCompute)
    ++op;
  session.subject().select({0, op}, false, Zoom::kActions);
  const SelectionText text = describe_selection(session);
  const QString total = time_text(carried->span.end - std::prev(carried)->span.begin);
  const auto idle = std::find_if(text.facts.begin(), text.facts.end(), [&](const FactLine& fact) {
    return fact.word == QLatin1String("idle before") && fact.value == total;
  });
  EXPECT_NE(idle, text.facts.end()) << total.toStdString();
}

// Stage 3 has no counterpart among two stages: the fullest stands beside the fullest.
TEST(Session, APinWithFewerStagesIsComparedByItsOwnFullestStage) {
  Session session;
  session.history().change(pipeline_setup(2, 8), QStringLiteral("two"));
  session.wait_for_prediction();
  const double two = step_quantities(session)[2].predicted_value;
  session.pin();
  session.history().change(with(with(pipeline_setup(4, 8), "vocab", "4096"), "schedule", "naive"),
                           QStringLiteral("four"));
  session.wait_for_prediction();
  const Quantity four = step_quantities(session)[2];
  ASSERT_TRUE(four.title.contains(QStringLiteral("stage 3"))) << four.title.toStdString();
  const QString difference =
      bytes_difference_text(std::int64_t(two), std::int64_t(four.predicted_value));
  EXPECT_EQ(four.since_pin, QStringLiteral("%1 since pin (stage 0)").arg(difference));
}

TEST(Session, APinKeepsTheEarlierPredictionAndTheStripSaysWhatChanged) {
  Session session;
  session.pin();
  ASSERT_NE(session.runs().pinned(), nullptr);
  EXPECT_FALSE(session.runs().pinned()->observed());
  session.history().change(with(session.setup(), "microbatches", "16"), QStringLiteral("16"));
  session.wait_for_prediction();
  EXPECT_EQ(session.runs().pinned()->prediction->setup, session.resolved(new_setup()));
  EXPECT_TRUE(step_quantities(session)[1].since_pin.startsWith(QChar(0x2212)));
  session.runs().unpin();
  EXPECT_EQ(session.runs().pinned(), nullptr);
}

TEST(Session, TheVisibleTimeStaysInsideTheStep) {
  Session session;
  const Nanoseconds whole = session.subject().horizon();
  session.subject().set_visible({-whole, whole * 3});
  EXPECT_EQ(session.subject().visible(), (TimeRange{Nanoseconds(0), whole}));
  session.subject().set_visible({whole - Nanoseconds(10), whole + Nanoseconds(1000)});
  EXPECT_EQ(session.subject().visible().end, whole);
  EXPECT_EQ(session.subject().visible().length(), Nanoseconds(1010));
}

TEST(SetupFields, EveryFieldOfThePanelIsOneThatThePlanKnows) {
  for (const char* option : {"model",        "machine",    "nodes",
                             "dp",           "tp",         "pp",
                             "cp",           "ep",         "sequence-parallel",
                             "zero",         "zero-group", "precision",
                             "schedule",     "chunks",     "micro-batch",
                             "microbatches", "recompute",  "context-parallel",
                             "attention",    "dropout",    "learning-rate",
                             "clip",         "backend",    "stretch",
                             "steps",        "warmup",     "seed",
                             "text",         "sequence",   "zero-prefetch",
                             "slow-rank",    "slow-factor"}) {
    bool known = false;
    for (const SetupSetting& field : setup_settings()) known |= field.option == option;
    EXPECT_TRUE(known) << option;
    const QString value = field_text(default_setup(), option);
    EXPECT_FALSE(value.isEmpty()) << option;
    PlanSetup again = default_setup();
    EXPECT_TRUE(set_field(again, option, value.toStdString()).ok()) << option;
    EXPECT_EQ(field_text(again, option), value) << option;
  }
}

TEST(SetupFields, StepsGoThroughValidValuesOnly) {
  PlanSetup setup = default_setup();
  setup.mesh.pp = 1;
  QStringList seen;
  for (QString value = next_valid(setup, "pp", +1); !value.isEmpty() && seen.size() < 20;
       value = next_valid(setup, "pp", +1)) {
    ASSERT_TRUE(set_field(setup, "pp", value.toStdString()).ok());
    EXPECT_TRUE(validate(setup).empty()) << value.toStdString();
    seen << value;
  }
  EXPECT_EQ(seen, (QStringList{"2", "4", "8"}));  // divisors of 8 layers
  EXPECT_EQ(next_valid(setup, "pp", -1), QStringLiteral("4"));
  EXPECT_TRUE(next_valid(default_setup(), "dp", -1).isEmpty());
}

TEST(SetupFields, TheLockKeepsTheGlobalBatchOrSaysThatItCannot) {
  PlanSetup setup = default_setup();
  setup.mesh.dp = 2;
  EXPECT_TRUE(keep_global_batch(setup, 8));
  EXPECT_EQ(setup.microbatches, 4);
  EXPECT_EQ(setup.global_batch(), 8);
  setup.mesh.dp = 3;
  EXPECT_FALSE(keep_global_batch(setup, 8));
  EXPECT_EQ(setup.microbatches, 4);
}

}  // namespace
}  // namespace parallelarium
