// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/timeline_view.h"

#include <gtest/gtest.h>

#include <QHelpEvent>
#include <QSignalSpy>
#include <QToolTip>

#include "app/look/figures.h"
#include "app/look/words.h"
#include "app/selection/selection_panel.h"
#include "app/state/run/run_advice.h"
#include "app/state/step/training_step.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/transport_bar.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture/range_readout.h"
#include "tests/app/pipeline/timelines_fixture.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

TEST_F(Timelines, BeforeARunTheLowerLaneSaysWhatToDo) {
  open(pipeline_setup(4, 8), false);
  ASSERT_EQ(view.picture().lanes.size(), 2u);
  EXPECT_FALSE(view.picture().lanes[1].rows);
  EXPECT_TRUE(view.picture().lanes[1].empty_text.contains(run_verb(session)))
      << "as the button is called: " << view.picture().lanes[1].empty_text.toStdString();
  EXPECT_TRUE(view.picture().lanes[0].fills);
}

TEST_F(Timelines, TitlesNameTheSourceOfTheirTimes) {
  open(pipeline_setup(4, 8), true);
  EXPECT_TRUE(view.picture().lanes[0].title.startsWith(QStringLiteral("PREDICTED")));
  // One rule for both: what lies after the playhead is an outline.
  for (const PictureLane& lane : view.picture().lanes) EXPECT_TRUE(lane.fills);
  EXPECT_TRUE(view.picture().lanes[1].title.startsWith(QStringLiteral(
      "REHEARSAL \u00b7 durations set, 1:10 \u00b7 training step 3 of 5, the median")));
}

// What moves or marks is painted above the lanes, which are made anew for what changes them.
TEST_F(Timelines, AMovedPlayheadLeavesTheLanesAlone) {
  open(pipeline_setup(4, 8), true);
  QSignalSpy changed(&view, &TimelineView::picture_changed);
  const Nanoseconds whole = session.subject().horizon();
  session.playback().set_playhead(whole / 2);
  EXPECT_EQ(view.picture().playhead, whole / 2);
  session.playback().set_playing(true);
  session.playback().set_playing(false);
  session.playback().set_seconds_per_step(3);
  session.subject().set_marks({whole / 3});
  session.subject().set_range(TimeRange{whole / 4, whole / 3});
  session.locks().set_allowed({QStringLiteral("microbatches")});
  session.locks().set_guesses({{QStringLiteral("bubble.of_total"), 0.2, QStringLiteral("20 %")}});
  EXPECT_EQ(changed.count(), 0);
  const auto rows = view.picture().lanes[0].rows;
  session.subject().set_visible({whole / 4, whole / 2});
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(view.picture().range, session.subject().visible());
  EXPECT_EQ(view.picture().lanes[0].rows, rows);
  session.locks().set_hidden({QStringLiteral("lane.run")});
  EXPECT_TRUE(view.picture().lanes[1].hidden);
}

// A run of other settings is never drawn beside a prediction of these: it is set aside, and said
// so, until it is pinned, or its settings come back.
TEST_F(Timelines, ARunOfOtherSettingsIsSetAsideUntilAClickPinsIt) {
  open(pipeline_setup(4, 8), true);
  PlanSetup next = session.setup();
  next.microbatches = 4;
  session.history().change(next, QStringLiteral("fewer"));
  session.wait_for_prediction();
  ASSERT_EQ(view.picture().lanes.size(), 2u);
  EXPECT_EQ(view.picture().lanes[1].rows, nullptr);
  const QString said = QStringLiteral("Rehearsal of other settings: 8 micro-batches");
  EXPECT_TRUE(view.picture().lanes[1].other_text.startsWith(said))
      << view.picture().lanes[1].other_text.toStdString();
  EXPECT_TRUE(view.description().contains(said)) << view.description().toStdString();
  const RowBox& empty = view.layout_of_rows().rows.back();
  ASSERT_LT(empty.row, 0);
  const auto click = [&](QPointF at) {
    at.ry() += view.layout_of_rows().tick_band;
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at.toPoint());
  };
  const QRectF line = other_line(view.picture().lanes[1], empty, theme_for(view.palette()));
  ASSERT_TRUE(empty.bar.contains(line));
  ASSERT_LT(line.right() + 8, empty.bar.right());
  click(QPointF(line.center().x(), empty.bar.top() + 4));
  click(QPointF(empty.bar.right() - 4, line.center().y()));
  EXPECT_EQ(session.runs().pinned(), nullptr) << "beside the line is no click on it";
  click(line.center());
  ASSERT_NE(session.runs().pinned(), nullptr);
  EXPECT_EQ(session.runs().pinned()->observation.setup.microbatches, 8);
  ASSERT_EQ(view.picture().lanes.size(), 3u);
  EXPECT_TRUE(view.picture().lanes[1].other_text.isEmpty()) << "it is pinned below";
  EXPECT_TRUE(view.picture().lanes[2].title.contains(QStringLiteral("with 8 micro-batches")));
  session.runs().unpin();
  session.history().stack().undo();
  session.wait_for_prediction();
  EXPECT_NE(view.picture().lanes[1].rows, nullptr);
  EXPECT_TRUE(view.picture().lanes[1].other_text.isEmpty());
}

TEST_F(Timelines, OfOtherSettingsTheFirstAreNamed) {
  const auto aside = [&](auto&& change) {
    open(pipeline_setup(4, 8), true);
    PlanSetup next = session.setup();
    change(next);
    session.history().change(next, QStringLiteral("other"));
    session.wait_for_prediction();
    return view.picture().lanes[1].other_text;
  };
  const QString zero = aside([](PlanSetup& setup) { setup.recompute = Recompute::kFull; });
  EXPECT_TRUE(zero.contains(QStringLiteral("Recompute none"), Qt::CaseInsensitive))
      << zero.toStdString();
  const QString many = aside([](PlanSetup& setup) {
    setup.microbatches = 4;
    setup.micro_batch = 3;
    setup.mesh.pp = 2;
    setup.schedule = "gpipe";
  });
  EXPECT_TRUE(many.contains(QStringLiteral("1F1B, 4 stages, 8 micro-batches \u2026")))
      << many.toStdString();
}

TEST(OtherSettings, AreSaidInTheWordsOfThePanel) {
  const auto said = [](auto&& of_run, auto&& of_present) {
    Observation run;
    run.setup = pipeline_setup(4, 8);
    auto present = run.setup;
    of_run(run.setup);
    of_present(present);
    return other_settings_title(run, present).section(QStringLiteral(": "), 1).toStdString();
  };
  const auto plain = [](auto&) {};
  const auto parallel = [](auto& setup) { setup.sequence_parallel = true; };
  const auto group = [](auto& setup) { setup.zero_group = 2; };
  const auto nodes = [](auto& setup) { setup.nodes = 3; };
  const auto own = [](auto& setup) {
    setup.precision.name = "custom";
    setup.precision.moments_bytes = 4;
  };
  EXPECT_EQ(said(parallel, plain), "SP on");
  EXPECT_EQ(said(plain, parallel), "SP off");
  EXPECT_EQ(said(own, plain), "Precision custom");
  EXPECT_EQ(said([](auto& setup) { setup.mesh.dp = 2; }, plain), "DP 2")
      << "how many devices that makes follows from it";
  EXPECT_EQ(said(group, plain), "ZeRO group 2");
  EXPECT_EQ(said(plain, group), "ZeRO group all of DP");
  EXPECT_EQ(said(plain, nodes), "Nodes as needed");
  const German in_german;
  EXPECT_EQ(said(parallel, plain), "SP an");
  EXPECT_EQ(said(own, plain), "Genauigkeit eigene");
  EXPECT_EQ(said(plain, group), "ZeRO-Gruppe ganzes DP");
  EXPECT_EQ(said(plain, nodes), "Knoten nach Bedarf");
}

// Lessons hide the lane of the run, and with it what is known of others.
TEST_F(Timelines, AHiddenRunIsNotOffered) {
  open(pipeline_setup(4, 8), true);
  PlanSetup next = session.setup();
  next.microbatches = 4;
  session.history().change(next, QStringLiteral("fewer"));
  session.locks().set_hidden({QStringLiteral("lane.run")});
  EXPECT_TRUE(view.picture().lanes[1].other_text.isEmpty());
}

TEST_F(Timelines, ARehearsalsLengthIsComparedWithNothing) {
  for (const Source source : {Source::kPaced, Source::kOversubscribed, Source::kSharedGpu})
    for (const double factor : {0.9, 1.1}) {
      const PlanSetup setup = pipeline_setup(2, 4);
      session.restore(setup, {made_up_run(setup, factor, source)}, std::nullopt);
      const auto& lanes = view.picture().lanes;
      const QString said = lanes[0].end_text + lanes[1].end_text;
      const QString word = source == Source::kPaced ? "is set" : "not evidence of speed";
      EXPECT_EQ(lanes[1].title_tip.contains(QStringLiteral("1:10: ")), source == Source::kPaced);
      EXPECT_TRUE(said.contains(word)) << said.toStdString();
      EXPECT_FALSE(said.contains(QStringLiteral("sooner"))) << said.toStdString();
    }
  const PlanSetup setup = pipeline_setup(2, 4);
  session.restore(setup, {made_up_run(setup, 10, Source::kMeasured)}, std::nullopt);
  EXPECT_TRUE(view.picture().lanes[0].end_text.contains(QStringLiteral("sooner")));
}

TEST_F(Timelines, TheTitleOfARehearsalSaysWhatItsDurationsMean) {
  open(pipeline_setup(2, 4), true);
  for (const TitleBox& title : view.layout_of_rows().titles) {
    const QPoint at(int(title.rect.center().x()),
                    int(view.layout_of_rows().tick_band + title.rect.center().y()));
    QHelpEvent help(QEvent::ToolTip, at, view.viewport()->mapToGlobal(at));
    QToolTip::hideText();
    QApplication::sendEvent(view.viewport(), &help);
    if (title.lane != 1) continue;
    EXPECT_TRUE(QToolTip::text().contains(meaning_of("set"))) << QToolTip::text().toStdString();
  }
  QToolTip::hideText();
}

TEST_F(Timelines, AnotherMachinesTitleSpeaksOfThatMachine) {
  for (const std::string& name : machine_names()) {
    if (name == "local") continue;
    PlanSetup setup = pipeline_setup(4, 8);
    setup.machine = name;
    session.restore(setup, {}, std::nullopt);
    session.wait_for_prediction();
    const QString title = view.picture().lanes[0].title;
    EXPECT_FALSE(title.contains(QStringLiteral("this computer"))) << title.toStdString();
    EXPECT_TRUE(title.contains(QString::fromStdString(session.machine().title)))
        << title.toStdString();
    EXPECT_TRUE(title.contains(QStringLiteral("published")) ||
                title.contains(QStringLiteral("LOWER BOUND")) ||
                title.contains(QStringLiteral("assumed")))
        << title.toStdString();
  }
}

// Two sessions whose steps differ in length alone must not be told apart.
TEST(HiddenLanes, TellNothingOfHowLongTheyAre) {
  QImage pictures[2], strips[2];
  QString said[2], spoken[2];
  for (int index = 0; index < 2; ++index) {
    PlanSetup setup = pipeline_setup(4, 8);
    setup.model.layers = index == 0 ? 8 : 32;
    Session session;
    PipelineView view(session);
    TransportBar transport(session);
    session.restore(setup, {made_up_run(setup, index == 0 ? 1.05 : 3)}, std::nullopt);
    session.wait_for_prediction();
    session.pin();
    session.subject().select({0, 4}, true);
    view.resize(1000, 620);
    transport.resize(420, 40);
    session.locks().set_hidden({QStringLiteral("lane"), QStringLiteral("held")});
    EXPECT_EQ(session.subject().horizon(), Nanoseconds(0));
    session.subject().set_range(TimeRange{Nanoseconds(0), Nanoseconds(1)});
    session.subject().set_marks({Nanoseconds(1)});
    session.subject().fit_all();
    session.playback().set_playhead(std::chrono::seconds(1));
    QTest::mouseMove(view.timeline().viewport(), QPoint(400, 120));
    pictures[index] = view.grab().toImage();
    strips[index] = transport.grab().toImage();
    said[index] = view.description() + view.timeline().accessibleDescription() +
                  view.timeline().tip_at(QPointF(400, 60));
    for (const QWidget* part : view.findChildren<QWidget*>())
      spoken[index] += part->accessibleDescription() + QLatin1Char('\n');
    EXPECT_TRUE(describe_selection(session).facts.empty());
    EXPECT_EQ(next_event(session, Nanoseconds(0), true), Nanoseconds(0));
  }
  EXPECT_TRUE(pictures[0] == pictures[1]);
  EXPECT_TRUE(strips[0] == strips[1]);
  EXPECT_EQ(said[0], said[1]);
  EXPECT_EQ(spoken[0], spoken[1]);
}

TEST_F(Timelines, WhatALessonAsksForIsNotReadElsewhere) {
  open(pipeline_setup(4, 8), true);
  EXPECT_TRUE(view.description().contains(QStringLiteral("holds")));
  const TimeRange whole{Nanoseconds(0), session.subject().horizon()};
  const auto named = [&](const QString& name) {
    for (const ReadoutLine& line : readout_lines(view.picture(), whole))
      if (line.name == name) return true;
    return false;
  };
  EXPECT_TRUE(named(QStringLiteral("idle")));
  EXPECT_TRUE(named(QStringLiteral("mean rate")));
  session.locks().set_hidden(
      {QStringLiteral("held"), QStringLiteral("bubble"), QStringLiteral("step")});
  EXPECT_FALSE(view.description().contains(QStringLiteral("holds")));
  EXPECT_FALSE(named(QStringLiteral("idle")));
  EXPECT_FALSE(named(QStringLiteral("forward")));
  EXPECT_TRUE(named(QStringLiteral("sent, all ranks")));
  EXPECT_FALSE(named(QStringLiteral("mean rate"))) << "sent over it would be the step";
  TextLog texts;
  QImage image(1000, 480, QImage::Format_RGB32);
  QPainter painter(&image);
  paint_lanes(painter, view.picture(), view.layout_of_rows(), light_theme(), image.size(), 0,
              Moment::kPast, &texts);
  for (const PaintedText& text : texts)
    EXPECT_FALSE(text.text.endsWith(QStringLiteral(" ms"))) << text.text.toStdString();
  session.locks().set_hidden({});
  EXPECT_EQ(session.subject().visible(), whole) << "the axis comes back";
}

TEST_F(Timelines, TooltipsNameBothSourcesAndTheSpread) {
  open(pipeline_setup(4, 8), true);
  const QString tip = view.tip_at(middle_of(0, 2, bar_of(2, ActionKind::kBackward, 3)));
  EXPECT_TRUE(tip.startsWith(QStringLiteral("Backward of micro-batch 3 on stage 2")))
      << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral("predicted"))) << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral("\nrehearsed "))) << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral("over 5 steps"))) << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral("the duration is set"))) << tip.toStdString();
}

TEST_F(Timelines, AnIdleGapSaysWhyItIsThere) {
  open(pipeline_setup(4, 8), false);
  // Stage 3 waits for the first activation to come through the others.
  const int first = bar_of(3, ActionKind::kForward, 0);
  const QPoint forward = middle_of(0, 3, first);
  const QPoint idle(view.axis_left() + (forward.x() - view.axis_left()) / 2, forward.y());
  const QString tip = view.tip_at(idle);
  EXPECT_TRUE(tip.startsWith(QStringLiteral("Idle"))) << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral("micro-batch 0"))) << tip.toStdString();
}

TEST_F(Timelines, AHiddenLaneTellsNothing) {
  open(pipeline_setup(4, 8), true);
  const QPoint at = middle_of(0, 2, bar_of(2, ActionKind::kBackward, 3));
  const QPoint run = middle_of(1, 2, bar_of(2, ActionKind::kBackward, 3, 1));
  session.locks().set_hidden({QStringLiteral("lane.predicted")});
  EXPECT_TRUE(view.tip_at(at).isEmpty());
  EXPECT_FALSE(view.tip_at(run).contains(QStringLiteral("predicted")));
  EXPECT_FALSE(view.description().contains(QStringLiteral("predicted, ")));
  session.locks().set_hidden({QStringLiteral("lane")});
  EXPECT_TRUE(view.tip_at(run).isEmpty());
  key(Qt::Key_Right);
  EXPECT_EQ(session.subject().selected(), OpRef{});
}

TEST_F(Timelines, SaysWhatTheStagesDoForThoseWhoCannotSee) {
  open(pipeline_setup(2, 2), false);
  const Row& row = view.picture().lanes[0].rows->rows[0];
  const Bar& bar = row.lane(Lane::kCompute).bars[std::size_t(bar_of(0, ActionKind::kForward, 1))];
  session.playback().set_playhead(bar.span.begin + (bar.span.end - bar.span.begin) / 2);
  EXPECT_TRUE(view.accessibleDescription().contains(QStringLiteral("stage 0 forward 1, holds 0")))
      << view.accessibleDescription().toStdString();
}

TEST_F(Timelines, ManyRanksOpenCollapsedAndAClickOpensAStage) {
  open(pipeline_setup(4, 4, "1f1b", 16), false);
  EXPECT_EQ(view.layout_of_rows().rows.front().hidden_ranks, 15);
  const RowBox& box = view.layout_of_rows().rows.front();
  const std::size_t before = view.layout_of_rows().rows.size();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    QPoint(30, int(box.bar.center().y() + view.layout_of_rows().tick_band)));
  EXPECT_EQ(view.layout_of_rows().rows.size(), before + 15);
}

// What is painted from the cached layers equals what the export paints in one go.
TEST_F(Timelines, TheScreenShowsWhatThePaintFunctionPaints) {
  open(pipeline_setup(4, 8), true);
  session.playback().set_playhead(session.subject().horizon() / 2);
  const QImage screen = view.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32);
  QImage direct(screen.size(), QImage::Format_RGB32);
  direct.setDevicePixelRatio(screen.devicePixelRatio());
  direct.fill(light_theme().surface);
  Picture picture = view.picture();
  picture.playhead = session.playback().playhead();
  QPainter painter(&direct);
  paint_timeline(painter, picture, view.layout_of_rows(), light_theme(), view.viewport()->size(),
                 0);
  painter.end();
  int different = 0;
  for (int y = 0; y < direct.height(); ++y)
    for (int x = 0; x < direct.width(); ++x) different += direct.pixel(x, y) != screen.pixel(x, y);
  // Along the playhead the clip's edge may fall beside a whole pixel; a focus ring may stand
  // around.
  EXPECT_LT(different, 2 * direct.height() + 4 * (direct.width() + direct.height()));
}

}  // namespace
}  // namespace parallelarium
