// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of the Collectives view follow from (Collective, Timeline, time) alone.
#include <gtest/gtest.h>

#include <QImage>
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "app/state/session.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/collectives/picture/collective_parts.h"
#include "app/views/collectives/picture/collective_plot.h"
#include "tests/app/collectives/collectives_fixture.h"
#include "tests/app/pipeline/pipeline_fixture.h"

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

// Chunks on their way leave the names of chunks and ranks to be read.
TEST(CollectiveTokens, CoverNoNameOfAChunkOrRank) {
  const QColor token = light_theme().solid(OpColor::kCommunication);
  for (const auto& [kind, algorithm, ranks] :
       {std::tuple(CollectiveKind::kAllReduce, "ring", 3),
        {CollectiveKind::kAllReduce, "ring", 4},
        {CollectiveKind::kAllReduce, "bidirectional-ring", 4},
        {CollectiveKind::kAllReduce, "ring", 16},
        {CollectiveKind::kAllGather, "bruck", 7},
        {CollectiveKind::kAllReduce, "halving-doubling", 8},
        {CollectiveKind::kBroadcast, "tree", 8}}) {
    Session session;
    session.collectives().restore(choice_of(kind, algorithm, ranks), {}, {});
    CollectivePicture picture = collective_picture(session);
    const QSize size(870, int(collective_height(picture, 870)));
    const CollectiveLayout layout = collective_layout(picture, size);
    for (int frame = 0; frame < 40; ++frame) {
      picture.playhead = picture.horizon() * (2 * frame + 1) / 80;
      QImage image(size, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      TextLog texts;
      paint_buffers(painter, picture, layout, light_theme(), &texts);
      painter.end();
      for (const PaintedText& text : texts) {
        const bool chunk = text.text.startsWith(QLatin1Char('c'));
        if (!chunk && !text.text.startsWith(QStringLiteral("Rank"))) continue;
        const QRect area = text.rect.toAlignedRect();
        int covered = 0;
        for (int y = area.top(); y <= area.bottom(); ++y)
          for (int x = area.left(); x <= area.right(); ++x)
            covered += image.rect().contains(x, y) && image.pixelColor(x, y) == token;
        // The line of a way may cross it.
        EXPECT_LT(covered, area.width() * area.height() / 4)
            << algorithm << " " << ranks << ", frame " << frame << ": " << text.text.toStdString();
      }
    }
  }
}

// A chunk on its way covers nothing that a cell says, and between the cells it says its name.
TEST(CollectiveTokens, PassBehindTheCellsAndKeepTheirNames) {
  const Theme& theme = light_theme();
  const QColor fill = theme.solid(OpColor::kCommunication);
  for (const auto& [algorithm, ranks] :
       {std::pair("ring", 4), {"bidirectional-ring", 4}, {"direct", 4}}) {
    Session session;
    session.collectives().restore(choice_of(CollectiveKind::kAllReduce, algorithm, ranks), {}, {});
    CollectivePicture picture = collective_picture(session);
    const QSize size(870, int(collective_height(picture, 870)));
    const CollectiveLayout layout = collective_layout(picture, size);
    int seen = 0;
    for (int frame = 0; frame < 60; ++frame) {
      picture.playhead = picture.horizon() * (2 * frame + 1) / 120;
      QImage image(size, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      paint_buffers(painter, picture, layout, theme, nullptr);
      painter.end();
      std::vector<QRectF> tokens;
      for (const Flight& flight : picture.shown().flights(picture.playhead)) {
        if (flight.share <= 0 || flight.share >= 1) continue;
        const QPointF at = way_of(picture, layout, flight.ref, layout.token.width() / 2)
                               .pointAtPercent(flight.share);
        tokens.emplace_back(at.x() - layout.token.width() / 2, at.y() - layout.token.height() / 2,
                            layout.token.width(), layout.token.height());
      }
      for (const QRectF& token : tokens) {
        const auto meets = [&](const QRectF& other) { return other.intersects(token); };
        const bool alone = std::count_if(tokens.begin(), tokens.end(), meets) == 1;
        if (!alone || token.top() <= layout.rank_head(0).bottom() + 1) continue;
        const auto pixels = [&](const QRect& area, const auto& counts) {
          int count = 0;
          for (int y = area.top(); y <= area.bottom(); ++y)
            for (int x = area.left(); x <= area.right(); ++x)
              count += counts(image.pixelColor(x, y));
          return count;
        };
        bool behind = false;
        for (int rank = 0; rank < layout.ranks; ++rank)
          for (int chunk = 0; chunk < layout.chunks; ++chunk) {
            const QRectF cell = layout.cell(rank, chunk);
            behind = behind || cell.intersects(token);
            const QRect shared = cell.adjusted(3, 3, -3, -3).intersected(token).toAlignedRect();
            // The line of a way may cross it.
            EXPECT_LE(pixels(shared, [&](const QColor& pixel) { return pixel == fill; }),
                      shared.width() * shared.height() / 4)
                << algorithm << ", frame " << frame << " at " << token.left();
          }
        if (behind) continue;
        ++seen;
        int ink = 0, filled = 0;
        const QRect inside = token.adjusted(3, 3, -3, -3).toAlignedRect();
        for (int y = inside.top(); y <= inside.bottom(); ++y)
          for (int x = inside.left(); x <= inside.right(); ++x) {
            const QColor pixel = image.pixelColor(x, y);
            filled += pixel == fill;
            ink += std::abs(pixel.lightness() - fill.lightness()) > 40;
          }
        EXPECT_GT(ink, 6) << algorithm << ", frame " << frame << " at " << token.left();
        EXPECT_GT(filled, inside.width() * inside.height() / 2)
            << algorithm << ", frame " << frame << " at " << token.left();
      }
    }
    // All pairs pass each other between the cells, so none is alone there.
    if (algorithm != std::string("direct")) {
      EXPECT_GT(seen, 20) << algorithm;
    }
  }
}

// The key shows a mark only beside a line whose marks are in the plot.
TEST(CollectivePlot, KeyHasMarksOnlyOfWhatWasMeasured) {
  Session session;
  const CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 4);
  const auto marked = [&](const QString& title) {
    const CollectivePicture picture = collective_picture(session);
    const QSize size(1000, 900);
    const CollectiveLayout layout = collective_layout(picture, size);
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    TextLog texts;
    paint_plot(painter, picture, layout, light_theme(), &texts);
    painter.end();
    for (const PaintedText& text : texts) {
      if (text.text != title) continue;
      // The middle of the sample, above and below its line.
      const int x = int(text.rect.left()) - 23, y = int(text.rect.center().y());
      int dark = 0;
      for (const int apart : {-2, 2}) dark += image.pixelColor(x, y + apart).lightness() < 160;
      return dark > 0;
    }
    ADD_FAILURE() << "no key of " << title.toStdString();
    return false;
  };
  session.collectives().restore(choice, {}, {});
  const QString ring = algorithm_title(CollectiveKind::kAllReduce, "ring");
  const QString tree = algorithm_title(CollectiveKind::kAllReduce, "tree");
  EXPECT_FALSE(marked(ring));
  EXPECT_FALSE(marked(tree));
  session.collectives().restore(choice, {}, {{choice.spec, Source::kMeasured, 1e-3, 1e9}});
  EXPECT_TRUE(marked(ring));
  EXPECT_FALSE(marked(tree));
}

// A run is a point of the plot, where the line of its algorithm predicts it.
TEST(CollectivePlot, ShowsTheRunItselfAmongTheSizes) {
  for (const std::int64_t bytes : {std::int64_t{64} << 10, std::int64_t{256} << 20}) {
    Session session;
    const CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 2, bytes);
    session.collectives().restore(choice, {}, {});
    const auto marks = [&](TextLog& texts) {
      const CollectivePicture picture = collective_picture(session);
      const QSize size(1000, 900);
      const CollectiveLayout layout = collective_layout(picture, size);
      QImage image(size, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      paint_plot(painter, picture, layout, light_theme(), &texts);
      painter.end();
      // Rows in which the red of the chosen size is wider than its line.
      int rows = 0;
      for (int y = int(layout.plot.top()); y < int(layout.plot.bottom()); ++y) {
        int wide = 0;
        for (int x = int(layout.plot.left()); x < int(layout.plot.right()); ++x)
          wide += image.pixelColor(x, y) == light_theme().mark;
        rows += wide > 2;
      }
      return rows;
    };
    TextLog before, after;
    EXPECT_EQ(marks(before), 0);
    const auto plan = session.collectives().plan();
    ASSERT_TRUE(session.collectives().keep_run(choice.spec, made_up(*plan, 1.2)).ok());
    EXPECT_GT(marks(after), 6) << "the mark, and its line in the key";
    const auto named = [](const TextLog& texts) {
      return std::any_of(texts.begin(), texts.end(), [](const PaintedText& text) {
        return text.text == QStringLiteral("this run");
      });
    };
    EXPECT_FALSE(named(before));
    EXPECT_TRUE(named(after));
  }
}

// No formula of the table is cut, and none is longer than the table is wide.
TEST_P(CollectivePictures, ShowTheirFormulasWhole) {
  for (const CollectiveChoice& choice : all_choices(GetParam())) {
    Session session;
    session.collectives().restore(choice, {}, {});
    const CollectivePicture picture = collective_picture(session);
    for (const int width : {1000, 870, 700}) {
      const QSize size(width, int(collective_height(picture, width)));
      const CollectiveLayout layout = collective_layout(picture, size);
      QImage image(size, QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_costs(painter, picture, layout, light_theme(), &texts);
      QString all;
      for (const PaintedText& text : texts) {
        all += text.text + QLatin1Char(' ');
        EXPECT_LE(text.rect.right(), layout.cost.right() + 1) << text.text.toStdString();
      }
      EXPECT_LE(layout.verdict.top(), size.height() - 18);
      for (const CostRow& row : cost_rows(picture)) {
        EXPECT_TRUE(all.contains(row.formula) && all.contains(row.factor))
            << row.formula.toStdString() << row.factor.toStdString() << " at " << width;
        for (const QString& none : {QStringLiteral("\u00d7 1.00"), QStringLiteral("\u00d7 0.")})
          EXPECT_FALSE(row.factor.contains(none)) << row.factor.toStdString();
      }
    }
  }
}

TEST(CollectiveWords, SayThatOneRankHasNothingToSend) {
  Session session;
  session.collectives().restore(choice_of(CollectiveKind::kAllReduce, "ring", 1), {}, {});
  const CollectivePicture picture = collective_picture(session);
  const QSize size(1000, int(collective_height(picture, 1000)));
  QImage image(size, QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_collective(painter, picture, collective_layout(picture, size), light_theme(), &texts);
  bool said = false;
  for (const PaintedText& text : texts) {
    said = said || text.text == QStringLiteral("NOTHING TO SEND: ONE RANK");
    EXPECT_FALSE(text.text.contains(QStringLiteral("0 OF 0"))) << text.text.toStdString();
  }
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace parallelarium
