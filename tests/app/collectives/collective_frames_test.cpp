// SPDX-License-Identifier: GPL-3.0-or-later
// Golden frames of the Collectives view: what the picture shows at given times of given timelines.
#include <gtest/gtest.h>

#include <QImage>

#include "app/state/session.h"
#include "app/views/collectives/collectives_view.h"
#include "tests/app/collectives/collectives_fixture.h"

namespace parallelarium {
namespace {

// The three golden frames: which chunks are under way and what every rank holds, as text.
std::string frame_text(const CollectiveMotion& motion, Nanoseconds time) {
  std::string text;
  for (const Flight& flight : motion.flights(time)) {
    const Move& move = motion.move(flight.ref);
    if (flight.share > 0 && flight.share < 1)
      text += fmt::format("{}>{} c{}; ", move.from, move.to, move.chunk);
  }
  for (int rank = 0; rank < motion.plan().ranks(); ++rank) {
    text += "|";
    for (int chunk = 0; chunk < motion.plan().collective.chunks; ++chunk)
      text += set_text(motion.held(rank, chunk, time)).remove(QLatin1Char(' ')).toStdString();
  }
  return text;
}

TEST(GoldenFrames, ShowChunksUnderWay) {
  CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 3, 3 << 20);
  choice.topology = Topology::kSwitch;  // its links are the same on every computer
  const auto plan = planned(choice);
  const CollectiveMotion motion(plan, plan->cost.timeline);
  ASSERT_EQ(motion.steps(), 4);
  const auto middle = [&](int step) {
    const Span span = motion.step_span(step);
    return span.begin + (span.end - span.begin) / 2;
  };
  EXPECT_EQ(frame_text(motion, middle(0)),
            "0>1 c0; 1>2 c1; 2>0 c2; |{0}{0}{0}|{1}{1}{1}|{2}{2}{2}");
  EXPECT_EQ(frame_text(motion, middle(1)),
            "0>1 c2; 1>2 c0; 2>0 c1; |{0}{0}{0,2}|{0,1}{1}{1}|{2}{1,2}{2}");
  EXPECT_EQ(frame_text(motion, middle(2)),
            "0>1 c1; 1>2 c2; 2>0 c0; |{0}{0,1,2}{0,2}|{0,1}{1}{0,1,2}|{0,1,2}{1,2}{2}");
  // And they are in the picture: the token of a chunk under way covers its colour, which is not
  // there before the step.
  for (const int step : {0, 1, 2}) {
    Session session;
    session.collectives().restore(choice, {}, {});
    CollectivePicture picture = collective_picture(session);
    picture.playhead = middle(step);
    const QSize size(1000, int(collective_height(picture, 1000)));
    const CollectiveLayout layout = collective_layout(picture, size);
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_collective(painter, picture, layout, light_theme(), nullptr);
    painter.end();
    for (const Flight& flight : picture.shown().flights(picture.playhead)) {
      const QPointF at = way_of(picture, layout, flight.ref, layout.token.width() / 2)
                             .pointAtPercent(flight.share);
      const QColor edge = image.pixelColor((at + QPointF(-14, -7)).toPoint());
      EXPECT_EQ(edge, light_theme().solid(OpColor::kCommunication)) << step;
    }
  }
}

// Times in microseconds of every step on every rank, as a run might have measured them.
using StepTimes = std::vector<std::vector<std::pair<int, int>>>;
CollectiveObservation run_with(const CollectivePlan& plan, const StepTimes& times) {
  CollectiveObservation seen = made_up(plan, 1);
  Timeline& timeline = seen.timeline;
  timeline.duration = Nanoseconds(0);
  Nanoseconds last_begin{0};
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    const auto& ops = plan.collective.program.ranks[rank].ops;
    Span now{};  // what is done before the first step takes no time
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (ops[op].batch >= 0) {
        const auto [begin, end] = times[rank][std::size_t(ops[op].batch)];
        now = {Nanoseconds(begin * 1000), Nanoseconds(end * 1000)};
        timeline.ranks[rank].spans[op] = now;
      } else {
        timeline.ranks[rank].spans[op] = {now.end, now.end};
      }
    }
    timeline.duration = std::max(timeline.duration, now.end);
    last_begin = std::max(last_begin, Nanoseconds(times[rank][0].first * 1000));
  }
  seen.seconds = double((timeline.duration - last_begin).count()) / 1e9;
  return seen;
}

// Ranks of a run are ahead of and behind each other, so that chunks of two steps are on their way
// at once, and some wait for a rank that comes later.
TEST(GoldenFrames, ShowAMeasuredRunWithUnevenRanks) {
  Session session;
  const CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 3, 3 << 20);
  session.collectives().restore(choice, {}, {});
  const StepTimes times = {{{0, 50}, {50, 120}, {120, 160}, {160, 230}},
                           {{30, 60}, {60, 110}, {115, 170}, {170, 220}},
                           {{10, 80}, {80, 130}, {130, 165}, {165, 240}}};
  const CollectiveObservation seen = run_with(*session.collectives().plan(), times);
  ASSERT_TRUE(session.collectives().keep_run(choice.spec, seen).ok());
  CollectivePicture picture = collective_picture(session);
  ASSERT_EQ(picture.shown().source(), Source::kMeasured);
  const std::pair<int, const char*> frames[] = {
      {20, "2>0 c2; |{0}{0}{0}|{1}{1}{1}|{2}{2}{2}"},
      {55, "0>1 c0; 1>2 c1; |{0}{0}{0,2}|{1}{1}{1}|{2}{2}{2}"},
      {125, "1>2 c0; 0>1 c1; |{0}{0,1,2}{0,2}|{0,1}{1}{0,1,2}|{2}{1,2}{2}"}};
  for (const auto& [time, frame] : frames) {
    picture.playhead = Nanoseconds(time * 1000);
    EXPECT_EQ(frame_text(picture.shown(), picture.playhead), frame);
    const QSize size(1000, int(collective_height(picture, 1000)));
    const CollectiveLayout layout = collective_layout(picture, size);
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    TextLog texts;
    paint_collective(painter, picture, layout, light_theme(), &texts);
    painter.end();
    for (const Flight& flight : picture.shown().flights(picture.playhead)) {
      if (flight.share <= 0 || flight.share >= 1) continue;
      const QPointF at = way_of(picture, layout, flight.ref, layout.token.width() / 2)
                             .pointAtPercent(flight.share);
      // A chunk that has just left or is about to arrive is behind a cell with its other end.
      const double seen = flight.share < 0.5 ? 14 : -14;
      EXPECT_EQ(image.pixelColor((at + QPointF(seen, 7)).toPoint()),
                light_theme().solid(OpColor::kCommunication))
          << time << ": " << flight.ref.step << " " << flight.ref.move;
    }
    // Rank 1 came last, after 30 µs, from when the run's time counts: both are told.
    bool told = false;
    for (const PaintedText& text : texts)
      told = told || text.text.startsWith(QStringLiteral("run: 210\u00a0\u00b5s from the dotted"));
    EXPECT_TRUE(told);
  }
}

// "#" has arrived, ">" is under way, "." waits, "o" stays; a row is an origin.
std::string matrix_text(const CollectiveMotion& motion, Nanoseconds time) {
  const int n = motion.plan().ranks();
  std::string text;
  for (int chunk = 0; chunk < n * n; ++chunk) {
    const int origin = chunk / n, to = chunk % n;
    char cell = origin == to ? 'o' : motion.held(to, chunk, time) != 0 ? '#' : '.';
    for (const Flight& flight : motion.flights(time))
      if (motion.move(flight.ref).chunk == chunk && flight.share > 0 && flight.share < 1)
        cell = '>';
    text += cell;
    if (to == n - 1 && chunk + 1 < n * n) text += '|';
  }
  return text;
}

TEST(GoldenFrames, ShowTheMatrixOfAnAllToAll) {
  Session session;
  const CollectiveChoice choice = choice_of(CollectiveKind::kAllToAll, "pairwise", 3, 3 << 20);
  session.collectives().restore(choice, {}, {});
  const StepTimes times = {{{0, 40}, {40, 90}}, {{20, 50}, {50, 80}}, {{0, 30}, {35, 100}}};
  const CollectiveObservation seen = run_with(*session.collectives().plan(), times);
  ASSERT_TRUE(session.collectives().keep_run(choice.spec, seen).ok());
  CollectivePicture picture = collective_picture(session);
  const Theme& theme = light_theme();
  const std::pair<int, const char*> frames[] = {
      {25, "o>.|.o>|>.o"}, {45, "o>>|.o#|#.o"}, {60, "o#>|>o#|#>o"}};
  for (const auto& [time, frame] : frames) {
    picture.playhead = Nanoseconds(time * 1000);
    EXPECT_EQ(matrix_text(picture.shown(), picture.playhead), frame);
    const QSize size(1000, int(collective_height(picture, 1000)));
    const CollectiveLayout layout = collective_layout(picture, size);
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_collective(painter, picture, layout, theme, nullptr);
    painter.end();
    for (int origin = 0; origin < 3; ++origin)
      for (int to = 0; to < 3; ++to) {
        const QRectF cell = layout.cell(origin, to);
        const QColor ink = image.pixelColor(QPoint(int(cell.left()) + 4, int(cell.center().y())));
        const QColor full = theme.solid(OpColor::kCommunication);
        const QColor pale = theme.tint(OpColor::kCommunication);
        const char wanted = frame[origin * 4 + to];
        EXPECT_EQ(ink == full, wanted == '#') << time << " " << origin << ">" << to;
        EXPECT_EQ(ink == pale, wanted == '.' || wanted == 'o') << time << " " << origin << to;
      }
  }
}

}  // namespace
}  // namespace parallelarium
