// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of the Collectives view follow from (Collective, Timeline, time) alone.
#include <gtest/gtest.h>

#include <QImage>
#include <bit>

#include "app/session.h"
#include "app/views/collective_parts.h"
#include "app/views/collectives_view.h"
#include "tests/app/collectives_fixture.h"
#include "tests/app/pipeline_fixture.h"

namespace parallelarium {
namespace {

TEST(CollectiveMotionTest, EndsWithWhatTheSymbolicCheckEndsWithAndSendsEveryByteOnce) {
  for (const int ranks : {1, 2, 3, 4, 7, 8, 16})
    for (const CollectiveChoice& choice : all_choices(ranks)) {
      SCOPED_TRACE(choice.spec.algorithm + " of " + std::to_string(ranks));
      const auto plan = planned(choice);
      const CollectiveMotion motion(plan, plan->cost.timeline);
      const Nanoseconds end = motion.duration();
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(motion.sent_until(rank, Nanoseconds(-1)), 0);
        EXPECT_EQ(motion.sent_until(rank, end), plan->cost.sent_bytes[std::size_t(rank)]);
        for (int chunk = 0; chunk < plan->collective.chunks; ++chunk) {
          const auto at = std::size_t(rank * plan->collective.chunks + chunk);
          EXPECT_EQ(motion.held(rank, chunk, end), plan->holdings.back().sets[at]);
          EXPECT_EQ(motion.held(rank, chunk, Nanoseconds(-1)), plan->holdings.front().sets[at]);
        }
      }
    }
}

// Sums appear on arrival: not before, and at once.
TEST(CollectiveMotionTest, AContributionAppearsWhenItsMessageHasArrived) {
  const auto plan = planned(choice_of(CollectiveKind::kAllReduce, "ring", 4));
  const CollectiveMotion motion(plan, plan->cost.timeline);
  for (int step = 0; step < motion.steps(); ++step)
    for (int at = 0; at < int(plan->collective.steps[std::size_t(step)].size()); ++at) {
      const Move& move = motion.move({step, at});
      const Span span = motion.span_of({step, at});
      const RankSet before = motion.held(move.to, move.chunk, span.end - Nanoseconds(1));
      const RankSet after = motion.held(move.to, move.chunk, span.end);
      EXPECT_GT(std::popcount(after), std::popcount(before)) << "step " << step;
      EXPECT_EQ(before & ~after, 0u);
      bool under_way = false;
      for (const Flight& flight : motion.flights(span.begin + (span.end - span.begin) / 2))
        under_way = under_way ||
                    (flight.ref == MoveRef{step, at} && flight.share > 0.4 && flight.share < 0.6);
      EXPECT_TRUE(under_way);
    }
}

TEST(CollectiveWords, SayWhatTheStepDoes) {
  const auto ring = planned(choice_of(CollectiveKind::kAllReduce, "ring", 4));
  const CollectiveMotion motion(ring, ring->cost.timeline);
  EXPECT_EQ(phase_of(*ring, 0), QStringLiteral("reduce-scatter"));
  EXPECT_EQ(phase_of(*ring, 3), QStringLiteral("all-gather"));
  EXPECT_EQ(step_sentence(*ring, 0),
            QStringLiteral("every rank sends one chunk to its right neighbour, who adds it to its "
                           "own"));
  const Nanoseconds after_two = motion.step_span(2).begin;
  EXPECT_EQ(bytes_line(motion, after_two).replace(QChar(0x00a0), QLatin1Char(' ')),
            QStringLiteral("1 MiB on every link in this step \u00b7 each rank has sent 2 MiB of "
                           "its 6 MiB"));
  const SelectionText text = describe_move(motion, nullptr, {2, 3});
  EXPECT_TRUE(text.headline.startsWith(QStringLiteral("Chunk c")));
  for (const int ranks : {1, 2, 3, 5, 8})
    for (const CollectiveChoice& choice : all_choices(ranks)) {
      const auto plan = planned(choice);
      const CollectiveMotion any(plan, plan->cost.timeline);
      EXPECT_FALSE(frame_sentence(any, any.duration() / 3).isEmpty());
      EXPECT_FALSE(frame_sentence(any, any.duration() / 3).contains(QLatin1Char('%')));
    }
}

TEST(CollectiveParts, AReduceScatterAndAnAllGatherAreAnAllReduce) {
  for (const int ranks : {2, 3, 4, 8, 16})
    for (const char* algorithm : {"ring", "halving-doubling"}) {
      // Equal chunks: else who sends the larger ones differs.
      const CollectiveChoice choice =
          choice_of(CollectiveKind::kAllReduce, algorithm, ranks, std::int64_t{ranks} << 18);
      if (!make_collective(choice.spec)) continue;
      const auto plan = planned(choice);
      const CollectiveMotion whole(plan, plan->cost.timeline);
      const auto parts = reduce_scatter_then_all_gather(*plan);
      ASSERT_NE(parts, nullptr);
      EXPECT_EQ(parts->plan().cost.sent_bytes, plan->cost.sent_bytes);
      const Agreement start = agreement(whole, Nanoseconds(-1), *parts, Nanoseconds(-1));
      const Agreement end = agreement(whole, whole.duration(), *parts, parts->duration());
      EXPECT_EQ(start.same, start.all);
      EXPECT_GT(end.all, 0);
      EXPECT_EQ(end.same, end.all);
      EXPECT_EQ(parts->sent_until(0, parts->duration()), plan->cost.sent_bytes[0]);
    }
  EXPECT_EQ(
      reduce_scatter_then_all_gather(*planned(choice_of(CollectiveKind::kBroadcast, "tree", 4))),
      nullptr);
}

class CollectivePictures : public testing::TestWithParam<int> {};

TEST_P(CollectivePictures, HaveNoTextOverAnotherAndNoneOutside) {
  for (CollectiveChoice choice : all_choices(GetParam())) {
    SCOPED_TRACE(choice.spec.algorithm + " " + std::string(name_of(choice.spec.kind)));
    Session session;
    session.collectives().restore(choice, {}, {});
    const auto plan = session.collectives().plan();
    ASSERT_TRUE(session.collectives().keep_run(choice.spec, made_up(*plan, 1.1)).ok());
    session.collectives().set_playhead(session.collectives().horizon() * 2 / 5);
    const QSize size = collective_picture_size(session);
    for (const int width : {1000, 700}) {
      QImage image(QSize(width, size.height()), QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_collective_picture(painter, image.size(), session, false, &texts);
      EXPECT_EQ(overlapping(texts), "") << width;
      for (const PaintedText& text : texts)
        EXPECT_TRUE(QRectF(QPointF(0, 0), QSizeF(image.size())).contains(text.rect))
            << text.text.toStdString() << " at " << width;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, CollectivePictures, testing::Values(1, 2, 4, 7, 16));

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
      const QPointF at = way_of(picture, layout, flight.ref, false).pointAtPercent(flight.share);
      const QColor edge = image.pixelColor((at + QPointF(-14, -7)).toPoint());
      EXPECT_EQ(edge, light_theme().solid(OpColor::kCommunication)) << step;
    }
  }
}

}  // namespace
}  // namespace parallelarium
