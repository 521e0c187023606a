// SPDX-License-Identifier: GPL-3.0-or-later
// What the pane "Who holds what" says of a run, and the five steps of data parallelism above it.
#include <gmock/gmock.h>

#include <QTest>
#include <cmath>
#include <map>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/state/run/engine_process.h"
#include "app/views/memory/holders/holders_story.h"
#include "app/views/memory/holders/shared_messages.h"
#include "engine/plan/program/collective_steps.h"
#include "engine/plan/program/report.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/views/holders_fixture.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

class HoldersRun : public HoldersFixture {
 protected:
  void run(const PlanSetup& setup) {
    ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
    show(setup);
    session.start_run(false);
    ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
    ASSERT_EQ(session.jobs().last_error(), QString());
    ASSERT_NE(session.runs().current(), nullptr);
    pane->refresh();
    ASSERT_TRUE(pane->picture().from_run);
  }
};

PlanSetup four_layers(int dp, int zero) {
  PlanSetup setup = data_parallel(zero);
  setup.mesh.dp = dp;
  EXPECT_TRUE(set_field(setup, "layers", "4"));
  return setup;
}

// TP ranks add up gradients of activations: what replicas share are those of parameters.
TEST_F(HoldersRun, WhatTensorParallelRanksAddUpIsNotShared) {
  PlanSetup setup = four_layers(2, 1);
  setup.mesh.tp = 2;
  show(setup);
  const Prediction& prediction = *session.subject().prediction();
  std::int64_t reduced = 0, calls = 0, of_activations = 0;
  for (const TrafficRow& row : traffic_of(prediction.program, 0)) {
    if (row.purpose != Purpose::kGradients || row.operation == "send_recv") continue;
    if (row.axis == Axis::kTp) of_activations += row.calls;
    if (row.axis != Axis::kDp) continue;
    EXPECT_EQ(row.operation, "reduce_scatter");
    reduced += row.sent_bytes;
    calls += row.calls;
  }
  ASSERT_GT(of_activations, 0);
  ASSERT_GT(calls, 0);
  const std::string sent = pane->picture().messages.back().toStdString();
  EXPECT_THAT(
      sent, testing::HasSubstr("reduce-scatter of gradients " + bytes_text(reduced).toStdString()));
  EXPECT_THAT(sent, testing::Not(testing::HasSubstr("all-reduce")));
  std::int64_t of_gradients = 0;
  for (const SharedMessage& message : shared_messages(prediction.program, prediction.timeline, 0)) {
    const Op& op = prediction.program.ranks[0].ops[std::size_t(message.op)];
    EXPECT_EQ(prediction.program.groups[std::size_t(op.group)].axis, Axis::kDp);
    of_gradients += op.purpose == Purpose::kGradients;
  }
  EXPECT_EQ(of_gradients, calls);
}

// Before ranks add up their gradients norms differ, afterwards they are one; with ZeRO each rank
// has the norm of its part.
TEST_F(HoldersRun, SaysTheNormsOfGradientsBeforeAndAfterTheyAreAddedUp) {
  for (const int zero : {0, 1}) {
    run(four_layers(2, zero));
    const std::vector<RankState>& states = session.runs().current()->observation.ranks_state;
    ASSERT_EQ(states.size(), 2u);
    const QString text = heard_text(*pane);
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
      ASSERT_TRUE(states[rank].gradient_norm.has_value());
      const QString own = QLocale().toString(*states[rank].gradient_norm, 'g', 4);
      const QString sum = QLocale().toString(states[rank].gradient_norm_reduced, 'g', 4);
      const HoldersRow& row = pane->picture().rows[rank];
      EXPECT_EQ(row.own_norm, own);
      EXPECT_EQ(row.norm, sum);
      const std::string told =
          selection_sentence(holders_words(pane->picture(), int(rank), -1)).toStdString();
      EXPECT_THAT(told, testing::HasSubstr("norm of its own gradients: " + own.toStdString()));
      EXPECT_THAT(told, testing::HasSubstr((zero ? "updates with, added up: "
                                                 : "norm of all gradients, added up: ") +
                                           sum.toStdString()));
      EXPECT_TRUE(text.contains(own) && text.contains(sum));
      TextLog texts;
      QImage image(872, 440, QImage::Format_RGB32);
      QPainter painter(&image);
      const QSizeF size(image.size());
      paint_holders(painter, pane->picture(), holders_layout(pane->picture(), size), size, {-1, -1},
                    light_theme(), &texts);
      EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [&](const PaintedText& painted) {
        return painted.text.contains(own + QStringLiteral(" \u2192 ") + sum) &&
               painted.text.contains(QLatin1String("(part)")) == (zero > 0);
      })) << own.toStdString();
    }
    EXPECT_NE(pane->picture().rows[0].own_norm, pane->picture().rows[1].own_norm);
    EXPECT_EQ(pane->picture().rows[0].norm == pane->picture().rows[1].norm, zero == 0);
  }
}

// A rank of tensor or pipeline parallelism updates its shard alone.
TEST_F(HoldersRun, TheNormOfAShardIsNoNormOfAllGradients) {
  for (const bool tensor : {true, false}) {
    PlanSetup setup = four_layers(1, 0);
    (tensor ? setup.mesh.tp : setup.mesh.pp) = 2;
    run(setup);
    const HoldersPicture picture = pane->picture();
    ASSERT_EQ(picture.rows.size(), 2u);
    for (int row = 0; row < 2; ++row) {
      EXPECT_TRUE(picture.rows[std::size_t(row)].part_norm) << tensor;
      EXPECT_THAT(selection_sentence(holders_words(picture, row, -1)).toStdString(),
                  testing::HasSubstr("norm of the gradients that it updates with"));
    }
  }
}

// Collectives done by steps pass bytes and chunks as the steps do, and send what the run's ledger
// counted.
TEST_F(HoldersRun, CollectivesByStepsSendWhatTheLedgerCounts) {
  PlanSetup setup = four_layers(4, 3);
  setup.collectives = "ring";
  run(setup);
  const RunRecord& record = *session.runs().current();
  const Program& program = record.prediction->program;
  const auto messages = shared_messages(program, record.observation.timeline, 0);
  ASSERT_FALSE(messages.empty());
  std::int64_t said = 0, counted = 0;
  std::map<CollectiveKind, std::int64_t> by_kind;
  for (const SharedMessage& message : messages) {
    const std::int64_t sent = sent_in_collective(program, program.ranks[0], message.op);
    said += sent;
    by_kind[program.ranks[0].ops[std::size_t(message.op)].collective] += sent;
  }
  for (const TrafficRow& row : record.observation.traffic[0])
    if (row.purpose == Purpose::kGradients || row.purpose == Purpose::kParameters)
      counted += row.sent_bytes;
  EXPECT_EQ(said, counted);
  const std::string words = pane->picture().messages.back().toStdString();
  for (const auto& [kind, bytes] : by_kind)
    EXPECT_THAT(words, testing::HasSubstr(bytes_text(bytes).toStdString()));

  const TimeRange range = messages.front().range;
  session.playback().set_playhead(range.begin + (range.end - range.begin) / 2);
  const HoldersPicture& picture = pane->picture();
  ASSERT_FALSE(picture.moving.empty());
  EXPECT_TRUE(picture.moving[0].name.contains(QStringLiteral("all-gather")));
  EXPECT_GT(picture.rows[0].passing_bytes[0], 0);
  for (const HoldersPicture::Chunk& chunk : picture.moving[0].chunks) {
    EXPECT_EQ(chunk.to, (chunk.from + 1) % 4) << "round the ring";
    EXPECT_NEAR(chunk.end - chunk.begin, 0.25, 0.01);
  }
}

// Five steps with their moments, which a click and a key lead to, and what a run showed of them.
TEST_F(HoldersRun, DataParallelismIsFiveStepsWithTheLossesOfTheRanks) {
  show(four_layers(3, 1));
  EXPECT_TRUE(pane->picture().story.empty()) << "some states are shards and some are copies";
  show(four_layers(3, 0));
  ASSERT_EQ(pane->picture().story.size(), 5u);
  for (const HoldersStep& step : pane->picture().story) EXPECT_EQ(step.seen, QString());
  run(four_layers(3, 0));
  const HoldersPicture picture = pane->picture();
  const std::vector<RankState>& states = session.runs().current()->observation.ranks_state;
  double least = INFINITY, most = -INFINITY;
  for (const RankState& state : states) {
    least = std::min(least, *state.loss);
    most = std::max(most, *state.loss);
  }
  for (const double loss : {least, most})
    EXPECT_TRUE(picture.story[2].seen.contains(QLocale().toString(loss, 'f', 3)))
        << picture.story[2].seen.toStdString();
  const auto print = [](const std::string& all) {
    return QString::fromStdString(all).left(kHashDigits);
  };
  EXPECT_TRUE(picture.story[0].seen.contains(print(states[0].weights_before)));
  EXPECT_TRUE(picture.story[4].seen.contains(print(states[0].weights_after)));
  EXPECT_TRUE(picture.story[3].seen.contains(picture.rows[0].norm));

  const HoldersLayout at = holders_layout(picture, pane->size());
  for (int step = 4; step >= 0; --step) {
    QTest::mouseClick(pane, Qt::LeftButton, {}, at.story[std::size_t(step)].center().toPoint());
    EXPECT_EQ(session.playback().playhead(), picture.story[std::size_t(step)].at);
    EXPECT_EQ(pane->picture().story_step, step);
    const HoldersRow& row = pane->picture().rows[0];
    const bool begun = std::any_of(row.cells.begin(), row.cells.end(), [](const auto& cell) {
      return cell.front().gradients.as != HeldAs::kAbsent;
    });
    EXPECT_EQ(begun, step >= 2) << step;
    const auto some = [&](HeldAs as) {
      return std::any_of(row.cells.begin(), row.cells.end(),
                         [&](const auto& cell) { return cell.front().gradients.as == as; });
    };
    // Own gradients are not added up yet; amid the sums some are and some are not.
    EXPECT_EQ(some(HeldAs::kPartialSum), step == 2 || step == 3) << step;
    EXPECT_EQ(some(HeldAs::kCopy), step >= 3) << step;
    EXPECT_EQ(pane->picture().moving.empty(), step != 3) << step;
    EXPECT_THAT(heard_text(*pane).toStdString(),
                testing::HasSubstr(picture.story[std::size_t(step)].words.toStdString()));
  }
  for (const int next : {1, 2, 3, 4, 0}) {
    QTest::keyClick(pane, Qt::Key_E);
    EXPECT_EQ(pane->picture().story_step, next);
  }
  session.locks().set_hidden({QStringLiteral("lane.run")});
  pane->refresh();
  for (const HoldersStep& step : pane->picture().story) EXPECT_EQ(step.seen, QString());
}

TEST_F(HoldersRun, ShardsOfEverythingAreFiveStepsTooWithWhatIsUnderWayInThem) {
  show(four_layers(3, 3));
  ASSERT_EQ(pane->picture().story.size(), 5u);
  run(four_layers(3, 3));
  const HoldersPicture picture = pane->picture();
  const Observation& seen = session.runs().current()->observation;
  EXPECT_TRUE(picture.story[1].seen.contains(QLocale().toString(*seen.ranks_state[0].loss, 'f', 3)))
      << picture.story[1].seen.toStdString();
  EXPECT_NE(picture.story[3].seen, QString());
  const HoldersLayout at = holders_layout(picture, pane->size());
  for (int step = 0; step < 5; ++step) {
    QTest::mouseClick(pane, Qt::LeftButton, {}, at.story[std::size_t(step)].center().toPoint());
    const HoldersPicture now = pane->picture();
    EXPECT_EQ(now.story_step, step);
    const HoldersRow& row = now.rows[0];
    const auto some = [&](HeldAs as, HeldState HeldBucket::*kind) {
      return std::any_of(row.cells.begin(), row.cells.end(),
                         [&](const auto& cell) { return (cell.front().*kind).as == as; });
    };
    if (step != 2) {  // what is gathered again is on its way then
      EXPECT_EQ(some(HeldAs::kCopy, &HeldBucket::parameters), step == 1 || step == 3) << step;
    }
    EXPECT_TRUE(some(HeldAs::kShard, &HeldBucket::optimizer)) << step;
    if (step != 2) {  // of a layer before, they may still be there then
      EXPECT_EQ(some(HeldAs::kPartialSum, &HeldBucket::gradients), step == 3) << step;
    }
    std::string moving;
    for (const HoldersPicture::Moving& each : now.moving) moving += each.name.toStdString() + ";";
    const char* under_way = step == 3                ? "reduce-scatter"
                            : step == 1 || step == 2 ? "all-gather"
                                                     : "";
    EXPECT_THAT(moving, testing::HasSubstr(under_way)) << step;
    EXPECT_EQ(moving.empty(), step == 0 || step == 4) << step;
  }
}

// A fingerprint of another value is told in the row and in the story.
TEST_F(HoldersRun, CopiesThatDifferAreTold) {
  run(four_layers(2, 0));
  RunRecord record = *session.runs().current();
  record.observation.ranks_state[1].weights_after = "0123456789abcdef";
  record.observation.ranks_state[1].copy_after = "0123456789abcdef";
  session.restore(session.setup(), {record}, std::nullopt);
  session.wait_for_prediction();
  pane->refresh();
  ASSERT_TRUE(pane->picture().from_run);
  EXPECT_FALSE(pane->picture().rows[1].agrees);
  EXPECT_TRUE(pane->picture().story[4].seen.contains(QChar(0x2717)));
  EXPECT_FALSE(pane->picture().story[0].seen.contains(QChar(0x2717)));
}

}  // namespace
}  // namespace parallelarium
