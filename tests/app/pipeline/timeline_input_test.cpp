// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline under pointer and keys.
#include <QAction>
#include <QScrollBar>
#include <QSettings>

#include "tests/app/pipeline/timelines_fixture.h"

namespace parallelarium {
namespace {

TEST_F(Timelines, AClickSelectsTheOpUnderIt) {
  open(pipeline_setup(4, 8), true);
  for (const int lane : {0, 1}) {
    const int bar = bar_of(2, ActionKind::kBackward, 3, lane);
    ASSERT_GE(bar, 0);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, middle_of(lane, 2, bar));
    EXPECT_EQ(session.subject().selected_in_run(), lane == 1);
    ASSERT_TRUE(selected_bar(lane));
    EXPECT_EQ(selected_bar(lane)->microbatch, 3);
    EXPECT_EQ(selected_bar(lane)->action, ActionKind::kBackward);
    EXPECT_EQ(view.op_at(middle_of(lane, 2, bar)), session.subject().selected());
  }
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    QPoint(view.axis_left() + 300, view.viewport()->height() - 3));
  EXPECT_EQ(session.subject().selected(), OpRef{});
}

TEST_F(Timelines, ADragSelectsARangeThatSnapsToEdges) {
  PlanSetup setup = pipeline_setup(2, 4);
  setup.mesh.tp = 2;  // from far an action is one bar
  open(setup, false);
  const Row& row = view.picture().lanes[0].rows->rows[0];
  const Zoom zoom = zoom_of(view.picture(), view.layout_of_rows());
  ASSERT_EQ(zoom, Zoom::kActions);
  const BarList& drawn = row.lane(Lane::kCompute, zoom);
  const Bar& bar = *std::find_if(drawn.bars.begin(), drawn.bars.end(), [](const Bar& one) {
    return one.action == ActionKind::kForward && one.microbatch == 1;
  });
  const QRectF rect = rect_of_bar(view.picture(), view.layout_of_rows(), 0, bar, row.rank_index, 0);
  ASSERT_GT(rect.width(), 20);
  const QPoint from = rect.topLeft().toPoint() + QPoint(0, 4);
  const QPoint to = rect.topRight().toPoint() + QPoint(-2, 4);
  QTest::mousePress(view.viewport(), Qt::LeftButton, {}, from);
  QTest::mouseMove(view.viewport(), (from + to) / 2);
  QMouseEvent move(QEvent::MouseMove, to, view.viewport()->mapToGlobal(to), Qt::NoButton,
                   Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(view.viewport(), &move);
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, to);
  ASSERT_TRUE(session.subject().range().has_value());
  // Another edge may lie within the same pixel, as the rates of this computer have it.
  const double pixel = double((bar.span.end - bar.span.begin).count()) / rect.width();
  EXPECT_NEAR(double(session.subject().range()->begin.count()), double(bar.span.begin.count()),
              pixel);
  EXPECT_NEAR(double(session.subject().range()->end.count()), double(bar.span.end.count()), pixel);
  // An edge of a part that is not drawn from far draws nothing to it.
  const BarList& parts = row.lane(Lane::kCompute, Zoom::kPieces);
  ASSERT_GT(parts.bars.size(), drawn.bars.size());
  key(Qt::Key_Escape);
  EXPECT_FALSE(session.subject().range().has_value());
}

TEST_F(Timelines, KeysZoomAndPan) {
  open(pipeline_setup(4, 8), false);
  const TimeRange whole = session.subject().visible();
  key(Qt::Key_W);
  EXPECT_LT(session.subject().visible().length(), whole.length());
  const TimeRange near = session.subject().visible();
  key(Qt::Key_D);
  EXPECT_GT(session.subject().visible().begin, near.begin);
  EXPECT_EQ(session.subject().visible().length(), near.length());
  key(Qt::Key_A);
  EXPECT_EQ(session.subject().visible().begin, near.begin);
  key(Qt::Key_S);
  key(Qt::Key_S);
  EXPECT_EQ(session.subject().visible(), whole);
  key(Qt::Key_W);
  key(Qt::Key_0);
  EXPECT_EQ(session.subject().visible(), whole);
}

TEST_F(Timelines, ControlWheelZoomsAtThePointerAndShiftWheelPans) {
  open(pipeline_setup(4, 8), false);
  const QPointF at(view.axis_left() + view.axis_width() * 0.7, 100);
  const auto axis = [&] { return view.layout_of_rows().axis(session.subject().visible()); };
  const Nanoseconds under = axis().time_at(at.x());
  const auto wheel = [&](int notches, Qt::KeyboardModifiers modifiers) {
    QWheelEvent event(at, view.mapToGlobal(at), {}, QPoint(0, 120 * notches), Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(view.viewport(), &event);
  };
  wheel(4, Qt::ControlModifier);
  EXPECT_NEAR(axis().x_of(under), at.x(), 1.5);
  const TimeRange near = session.subject().visible();
  wheel(-1, Qt::ShiftModifier);
  EXPECT_GT(session.subject().visible().begin, near.begin);
  EXPECT_EQ(session.subject().visible().length(), near.length());
}

TEST_F(Timelines, ArrowsWalkFromOpToOp) {
  open(pipeline_setup(4, 8), false);
  session.playback().set_playhead(Nanoseconds(0));
  key(Qt::Key_Right);  // nothing was selected: the op at the playhead
  ASSERT_TRUE(selected_bar());
  const auto& bars = view.picture().lanes[0].rows->rows[0].lane(Lane::kCompute).bars;
  std::size_t place = std::size_t(selected_bar() - bars.data());
  for (int step = 0; step < 5; ++step) {
    key(Qt::Key_Right);
    EXPECT_EQ(std::size_t(selected_bar() - bars.data()), ++place);
  }
  key(Qt::Key_Left);
  EXPECT_EQ(std::size_t(selected_bar() - bars.data()), --place);
  key(Qt::Key_Down);
  EXPECT_EQ(session.subject().selected().rank, 1);
  key(Qt::Key_Up);
  EXPECT_EQ(session.subject().selected().rank, 0);
}

// The transfers of 1F1B as the paper has them: the backward of stage s waits for that of stage s+1,
// the forward for that of stage s-1.
TEST_F(Timelines, BracketsFollowTheDependency) {
  open(pipeline_setup(4, 8), false);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    middle_of(0, 1, bar_of(1, ActionKind::kBackward, 0)));
  ASSERT_TRUE(selected_bar());
  key(Qt::Key_BracketLeft);
  ASSERT_TRUE(selected_bar());
  EXPECT_EQ(session.subject().selected().rank, 2);
  EXPECT_EQ(selected_bar()->action, ActionKind::kBackward);
  EXPECT_EQ(selected_bar()->microbatch, 0);
  key(Qt::Key_BracketRight);
  ASSERT_TRUE(selected_bar());
  EXPECT_EQ(session.subject().selected().rank, 1);
  EXPECT_EQ(selected_bar()->action, ActionKind::kBackward);
  EXPECT_EQ(selected_bar()->microbatch, 0);
}

TEST_F(Timelines, FocusShowsTheOpLargeAndTwiceTheWholeStep) {
  open(pipeline_setup(4, 8), false);
  const TimeRange whole = session.subject().visible();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    middle_of(0, 2, bar_of(2, ActionKind::kForward, 4)));
  key(Qt::Key_F);
  const Bar* bar = selected_bar();
  ASSERT_TRUE(bar);
  EXPECT_LE(session.subject().visible().begin, bar->span.begin);
  EXPECT_GE(session.subject().visible().end, bar->span.end);
  EXPECT_LE(session.subject().visible().length(), (bar->span.end - bar->span.begin) * 4);
  key(Qt::Key_F);
  EXPECT_EQ(session.subject().visible(), whole);
}

TEST_F(Timelines, PlayMarkAndStep) {
  open(pipeline_setup(4, 8), false);
  key(Qt::Key_Space);
  EXPECT_TRUE(session.playback().playing());
  key(Qt::Key_Space);
  EXPECT_FALSE(session.playback().playing());
  session.playback().set_playhead(Nanoseconds(0));
  std::vector<Nanoseconds> edges;
  for (const Row& row : view.picture().lanes[0].rows->rows)
    for (const Bar& bar : row.lane(Lane::kCompute).bars) {
      edges.push_back(bar.span.begin);
      edges.push_back(bar.span.end);
    }
  std::sort(edges.begin(), edges.end());
  key(Qt::Key_Period);
  key(Qt::Key_Period);
  const Nanoseconds first = *std::upper_bound(edges.begin(), edges.end(), Nanoseconds(0));
  EXPECT_EQ(session.playback().playhead(), *std::upper_bound(edges.begin(), edges.end(), first));
  key(Qt::Key_Comma);
  EXPECT_EQ(session.playback().playhead(), first);
  key(Qt::Key_M);
  EXPECT_EQ(session.subject().marks(), std::vector<Nanoseconds>{first});
  key(Qt::Key_M);
  EXPECT_TRUE(session.subject().marks().empty());
}

TEST_F(Timelines, SingleKeysCanBeChangedAndSwitchedOff) {
  open(pipeline_setup(4, 8), false);
  const TimeRange whole = session.subject().visible();
  QSettings().setValue(QStringLiteral("keys/enabled"), false);
  key(Qt::Key_W);
  EXPECT_EQ(session.subject().visible(), whole);
  QSettings().setValue(QStringLiteral("keys/enabled"), true);
  QSettings().setValue(QStringLiteral("keys/zoom-in"), QStringLiteral("E"));
  key(Qt::Key_W);
  EXPECT_EQ(session.subject().visible(), whole);
  key(Qt::Key_E);
  EXPECT_LT(session.subject().visible().length(), whole.length());
  QSettings().clear();
}

}  // namespace
}  // namespace parallelarium
