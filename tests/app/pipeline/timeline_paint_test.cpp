// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture/timeline_paint.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <cmath>
#include <map>
#include <set>

#include "app/views/shared/paint/legend.h"
#include "app/views/shared/time_axis.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture/bar_paint.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

QImage painted(const Picture& picture, const PictureLayout& layout, QSize size,
               TextLog* texts = nullptr) {
  QImage image(size, QImage::Format_RGB32);
  image.fill(light_theme().surface);
  QPainter painter(&image);
  paint_timeline(painter, picture, layout, light_theme(), size, 0, texts);
  return image;
}

// The colour in the middle of every bar that is wide enough, but not under its number.
void expect_fill(const QImage& image, const Picture& picture, const PictureLayout& layout, int lane,
                 const std::function<QColor(const Bar&)>& expected) {
  int seen = 0;
  for (const Row& row : picture.lanes[static_cast<std::size_t>(lane)].rows->rows)
    for (const Bar& bar : row.lane(Lane::kCompute).bars) {
      const QRectF rect = rect_of_bar(picture, layout, lane, bar, row.rank_index, 0);
      if (rect.width() < 14) continue;
      const QPoint at(static_cast<int>(rect.center().x()), static_cast<int>(rect.top()) + 3);
      EXPECT_EQ(image.pixelColor(at).name(), expected(bar).name()) << bar.microbatch;
      ++seen;
    }
  EXPECT_GT(seen, 10);
}

TEST(Paint, PredictedIsTintedAndObservedSolid) {
  const Picture picture = two_lanes(pipeline_setup(3, 4));
  const QSize size(1400, 480);
  const PictureLayout layout = layout_of(picture, size, light_theme());
  const QImage image = painted(picture, layout, size);
  expect_fill(image, picture, layout, 0,
              [](const Bar& bar) { return light_theme().tint(color_of(bar)); });
  expect_fill(image, picture, layout, 1,
              [](const Bar& bar) { return light_theme().solid(color_of(bar)); });
}

TEST(Paint, BarsToTheRightOfThePlayheadAreOutlines) {
  Picture picture = two_lanes(pipeline_setup(3, 4));
  picture.playhead = picture.range.end / 2;
  const QSize size(1400, 480);
  const PictureLayout layout = layout_of(picture, size, light_theme());
  const QImage image = painted(picture, layout, size);
  const double split = layout.axis(picture.range).x_of(*picture.playhead);
  for (const Row& row : picture.lanes[1].rows->rows)
    for (const Bar& bar : row.lane(Lane::kCompute).bars) {
      const QRectF rect = rect_of_bar(picture, layout, 1, bar, row.rank_index, 0);
      if (rect.width() < 14 || std::abs(rect.center().x() - split) < 8) continue;
      const bool past = rect.center().x() < split;
      EXPECT_EQ(image.pixelColor(rect.center().toPoint().x(), static_cast<int>(rect.top()) + 3),
                past ? light_theme().solid(color_of(bar)) : light_theme().surface);
    }
  // The prediction's lane does not fill while a run stands beside it.
  expect_fill(image, picture, layout, 0,
              [](const Bar& bar) { return light_theme().tint(color_of(bar)); });
}

TEST(Paint, ARunOfOtherSettingsIsALineOfTextAndAHiddenLaneShowsNothing) {
  Picture picture = two_lanes(pipeline_setup(3, 4));
  picture.lanes[1].rows.reset();
  picture.lanes[1].empty_text = QStringLiteral("Press Run to see your ranks do it");
  picture.lanes[1].other_text = QStringLiteral("Rehearsal of other settings: 8 micro-batches");
  picture.lanes[0].hidden = true;
  const QSize size(1400, 480);
  const PictureLayout layout = layout_of(picture, size, light_theme());
  TextLog texts;
  const QImage image = painted(picture, layout, size, &texts);
  expect_fill(image, picture, layout, 0, [](const Bar&) { return light_theme().window; });
  int questions = 0, said = 0;
  for (const PaintedText& text : texts) {
    questions += text.text == "?";
    said += text.text == picture.lanes[1].empty_text || text.text == picture.lanes[1].other_text;
  }
  EXPECT_EQ(questions, 3);
  EXPECT_EQ(said, 2);
  EXPECT_EQ(overlapping(texts), "");
  EXPECT_FALSE(hit_at(picture, layout, QPointF(400, layout.tick_band + 30), 0).has_value());
}

// Before the first run: a long sentence takes more lines, and loses no word where they have room.
TEST(Paint, WhatToDoBeforeARunIsSaidInFull) {
  Picture picture = two_lanes(pipeline_setup(3, 4));
  picture.lanes[1].rows.reset();
  picture.lanes[1].empty_text = QStringLiteral(
      "Press Run to see your ranks do it. Other programs used 1.4 of 2 cores while this computer "
      "was measured: its rates may be too low");
  for (const int width : {1400, 760, 560}) {
    const QSize size(width, 480);
    const PictureLayout layout = layout_of(picture, size, light_theme());
    TextLog texts;
    painted(picture, layout, size, &texts);
    QStringList said;
    for (const PaintedText& text : texts)
      if (picture.lanes[1].empty_text.contains(text.text) && text.text.contains(QLatin1Char(' ')))
        said << text.text;
    EXPECT_EQ(said.join(QLatin1Char(' ')).toStdString(), picture.lanes[1].empty_text.toStdString())
        << width;
    EXPECT_EQ(said.size() > 1, width < 1000) << width;
    EXPECT_EQ(overlapping(texts), "") << width;
  }
}

// Of which chunk a bar is, is seen in every bar, however narrow: a mark at its left, higher for an
// earlier chunk. The chunk is read off the Program itself.
TEST(Paint, EveryBarOfSeveralChunksSaysOfWhichItIs) {
  const struct {
    const char* schedule;
    int chunks;
  } cases[] = {{"interleaved", 2}, {"interleaved", 4}, {"zb-v", 2}, {"v-half", 2}};
  for (const auto& [schedule, chunks] : cases)
    for (const QSize size : {QSize(820, 420), QSize(420, 420)}) {
      SCOPED_TRACE(std::string(schedule) + " " + std::to_string(chunks) + " at " +
                   std::to_string(size.width()));
      auto setup = pipeline_setup(4, 8, schedule);
      setup.chunks = chunks;
      setup.model.layers = 4 * chunks;
      Picture picture = two_lanes(setup);
      ASSERT_EQ(picture.lanes[0].rows->chunks, chunks);
      const PictureLayout layout = layout_of(picture, size, light_theme());
      TextLog texts;
      const QImage image = painted(picture, layout, size, &texts);
      EXPECT_EQ(overlapping(texts), "");
      int seen = 0;
      for (std::size_t lane = 0; lane < 2; ++lane)
        for (const Row& row : picture.lanes[lane].rows->rows)
          for (const Bar& bar : row.lane(Lane::kCompute).bars) {
            const QRectF rect = rect_of_bar(picture, layout, int(lane), bar, row.rank_index, 0);
            if (bar.microbatch < 0 || rect.width() < 4) continue;
            const RankProgram& rank =
                picture.lanes[lane].rows->program().ranks[std::size_t(row.rank_index)];
            const int chunk = rank.ops[std::size_t(bar.first_op)].chunk;
            const QColor fill =
                lane == 0 ? light_theme().tint(color_of(bar)) : light_theme().solid(color_of(bar));
            const QRectF drawn(std::round(rect.left()), rect.top(), rect.width(), rect.height());
            for (int at = 0; at < chunks; ++at) {
              const QPoint middle = chunk_mark(drawn, at, chunks).center().toPoint();
              const QColor pixel = image.pixelColor(int(drawn.left()) + 1, middle.y());
              EXPECT_EQ(pixel == light_theme().ink_on(fill), at == chunk)
                  << row.stage << ": " << bar_labels(bar).back().toStdString() << " slot " << at
                  << " " << pixel.name().toStdString();
            }
            ++seen;
          }
      EXPECT_GE(seen, size.width() > 800 ? 64 : 20);
    }
}

// At any width, beside the title or in lines of its own; each word whole and inside of its place.
TEST(Paint, ALegendHasAnEntryForEachKindThatIsDrawn) {
  auto setup = pipeline_setup(4, 8, "interleaved");
  setup.chunks = 4;
  setup.model.layers = 16;
  const Picture picture = two_lanes(setup);
  const Theme& theme = light_theme();
  for (const int width : {150, 262, 420, 900}) {
    const LegendPlace place{QRectF(0, 0, width, 24), QRectF(0, 30, width, kLegendLine)};
    const int lines = legend_lines(place, picture, theme);
    QImage image(width, 400, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    TextLog texts;
    EXPECT_LE(paint_legend(&painter, place, picture, Zoom::kActions, theme, &texts), lines);
    QStringList said;
    for (const PaintedText& text : texts) {
      said << text.text;
      EXPECT_LE(text.rect.right(), width) << text.text.toStdString();
      EXPECT_LE(text.rect.bottom(), lines > 0 ? 30 + lines * kLegendLine : 24);
    }
    EXPECT_EQ(said, QStringList({QStringLiteral("Forward"), QStringLiteral("Backward"),
                                 QStringLiteral("Communication"), QStringLiteral("overlapped"),
                                 QStringLiteral("Optimizer"), QStringLiteral("Bubble"),
                                 QStringLiteral("chunk 0 to 3")}))
        << width;
    EXPECT_EQ(overlapping(texts), "");
    EXPECT_EQ(lines == 0, width == 900);
  }
}

TEST(Paint, MergedBarsSayHowManyAndShareTheirHeight) {
  const auto prediction = predicted(pipeline_setup(2, 64));
  Picture picture = two_lanes(pipeline_setup(2, 64));
  picture.range.end *= 40;  // far away: the whole step on a few pixels
  const QSize size(1400, 480);
  const PictureLayout layout = layout_of(picture, size, light_theme());
  TextLog texts;
  const QImage image = painted(picture, layout, size, &texts);
  const bool said = std::any_of(texts.begin(), texts.end(), [](const PaintedText& text) {
    return text.text.endsWith(QStringLiteral(" ops"));
  });
  const auto hit =
      hit_at(picture, layout,
             QPointF(layout.axis_left + 8, layout.rows[0].bar.center().y() + layout.tick_band), 0);
  ASSERT_TRUE(hit.has_value());
  EXPECT_GT(hit->merged, 20);
  EXPECT_FALSE(said);  // 34 pixels have no room for words
  // Backward takes about twice as long as forward, so it owns most of the height.
  int forward = 0, backward = 0;
  const QRectF box = layout.rows[0].bar.translated(0, layout.tick_band);
  for (int y = static_cast<int>(box.top()) + 2; y < box.bottom() - 2; ++y) {
    const QColor color = image.pixelColor(static_cast<int>(layout.axis_left) + 8, y);
    forward += color == light_theme().tint(OpColor::kForward);
    backward += color == light_theme().tint(OpColor::kBackward);
  }
  EXPECT_GT(forward, 2);
  EXPECT_GT(backward, forward);
}

TEST(Paint, NoTwoTextsOverlap) {
  for (const auto& [stages, microbatches, width] :
       {std::tuple(1, 1, 500), std::tuple(2, 3, 420), std::tuple(4, 8, 872), std::tuple(4, 8, 600),
        std::tuple(7, 9, 700), std::tuple(8, 32, 1400)})
    for (const Arrangement arrangement : {Arrangement::kBlocks, Arrangement::kPairs})
      for (const int height : {160, 300, 700}) {
        Picture picture = two_lanes(pipeline_setup(stages, microbatches), 1.3);
        picture.lanes[0].end_text = "ends 12.3 ms sooner";
        picture.arrangement = arrangement;
        picture.playhead = picture.range.end / 3;
        const QSize size(width, height);
        const PictureLayout layout = layout_of(picture, size, light_theme());
        TextLog texts;
        painted(picture, layout, size, &texts);
        EXPECT_GT(texts.size(), 5u);
        EXPECT_EQ(overlapping(texts), "") << stages << " " << width << " " << height;
        for (const PaintedText& text : texts) {
          EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
          EXPECT_LE(text.rect.right(), width) << text.text.toStdString();
        }
      }
}

TEST(Hit, FindsEveryWideBarInItsMiddle) {
  for (const Arrangement arrangement : {Arrangement::kBlocks, Arrangement::kPairs}) {
    Picture picture = two_lanes(pipeline_setup(4, 8));
    picture.arrangement = arrangement;
    const PictureLayout layout = layout_of(picture, QSizeF(1400, 480), light_theme());
    for (int lane = 0; lane < 2; ++lane)
      for (const Row& row : picture.lanes[static_cast<std::size_t>(lane)].rows->rows)
        for (const Bar& bar : row.lane(Lane::kCompute).bars) {
          const QRectF rect = rect_of_bar(picture, layout, lane, bar, row.rank_index, 0);
          if (rect.width() < 4) continue;
          const auto hit = hit_at(picture, layout, rect.center(), 0);
          ASSERT_TRUE(hit.has_value());
          EXPECT_EQ(hit->lane, lane);
          EXPECT_EQ(&row.lane(Lane::kCompute).bars[static_cast<std::size_t>(hit->bar)], &bar);
        }
  }
}

// Merged, the optimizer's bar would hide the waiting for the norm's all-reduce.
TEST(FarBars, TheUpdateStaysInPartsAndItsWaitingIsIdle) {
  const auto rows = rows_of(predicted(pipeline_setup(4, 8)));
  for (const Row& row : rows->rows) {
    const BarList &near = row.lane(Lane::kCompute, Zoom::kPieces), &far = row.lane(Lane::kCompute);
    const auto updates = [](const BarList& list) {
      std::vector<Span> spans;
      for (const Bar& bar : list.bars)
        if (bar.microbatch < 0) spans.push_back(bar.span);
      return spans;
    };
    const std::vector<Span> parts = updates(near), drawn = updates(far);
    ASSERT_GT(parts.size(), 1u) << "an update has several ops";
    ASSERT_EQ(drawn.size(), parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      EXPECT_EQ(drawn[part].begin, parts[part].begin);
      EXPECT_EQ(drawn[part].end, parts[part].end);
    }
  }
}

// Edges fall on pixels here and there: bars of one length must not gain or lose their number by it.
TEST(Labels, BarsOfEqualLengthAllSayTheirNumberOrNone) {
  PlanSetup setup = pipeline_setup(8, 32, "1f1b");
  Picture picture = two_lanes(setup);
  picture.lanes.resize(1);
  const Row& row = picture.lanes[0].rows->rows[0];
  std::map<std::int64_t, int> lengths;  // forwards of that length, in ns
  for (const Bar& bar : row.lane(Lane::kCompute).bars)
    if (bar.action == ActionKind::kForward && bar.microbatch >= 0)
      ++lengths[(bar.span.end - bar.span.begin).count()];
  ASSERT_FALSE(lengths.empty());
  ASSERT_LE(lengths.rbegin()->first - lengths.begin()->first, lengths.begin()->first / 40);
  bool some = false, none = false;
  for (int width = 500; width <= 1500; width += 7) {
    const QSizeF size(width, 500);
    const PictureLayout layout = layout_of(picture, size, light_theme());
    QImage image(size.toSize(), QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    TextLog texts;
    paint_lanes(painter, picture, layout, light_theme(), size, 0, Moment::kPast, &texts);
    const QRectF bars = layout.rows[0].bar.translated(0, layout.tick_band);
    std::set<QString> said;
    for (const PaintedText& text : texts)
      if (bars.contains(text.rect.center())) said.insert(text.text);
    // One digit is narrower than two, so the first ten forwards are judged.
    int digits = 0;
    for (int microbatch = 0; microbatch < 10; ++microbatch)
      digits += said.count(QString::number(microbatch)) > 0;
    EXPECT_TRUE(digits == 0 || digits == 10) << width << ": " << digits << " of 10";
    (digits > 0 ? some : none) = true;
  }
  EXPECT_TRUE(some);
  EXPECT_TRUE(none);
}

// What is still to come has whole outlines, what is pinned has dashed ones: along the upper edge of
// the widest bar some pixels are bare.
TEST(TimelinePaint, PinnedBarsAreDashed) {
  Picture picture = two_lanes(pipeline_setup(2, 2));
  picture.lanes.resize(1);
  const QSizeF size(1200, 200);
  const auto bare = [&](LaneStyle style, Moment moment) {
    picture.lanes[0].style = style;
    picture.lanes[0].fills = true;
    const PictureLayout layout = layout_of(picture, size, light_theme());
    QImage image(size.toSize(), QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_lanes(painter, picture, layout, light_theme(), size, 0, moment);
    painter.end();
    const Bar* widest = nullptr;
    for (const Bar& bar : picture.lanes[0].rows->rows[0].lane(Lane::kCompute).bars)
      if (!widest || bar.span.end - bar.span.begin > widest->span.end - widest->span.begin)
        widest = &bar;
    const QRectF rect = rect_of_bar(picture, layout, 0, *widest, 0, 0);
    int found = 0;
    for (int x = int(rect.left()) + 4; x < int(rect.right()) - 4; ++x)
      found += image.pixelColor(x, int(rect.top())).saturation() < 60;
    return found;
  };
  EXPECT_EQ(bare(LaneStyle::kPredicted, Moment::kFuture), 0);
  EXPECT_GT(bare(LaneStyle::kPinned, Moment::kPast), 10);
}

TEST(Labels, AllBarsOfALaneSayTheSameForm) {
  Picture picture = two_lanes(pipeline_setup(4, 8));
  picture.lanes.resize(1);
  bool some_short = false, some_long = false;
  for (int width = 300; width <= 2600; width += 100) {
    const QSizeF size(width, 300);
    const PictureLayout layout = layout_of(picture, size, light_theme());
    QImage image(size.toSize(), QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    TextLog texts;
    paint_lanes(painter, picture, layout, light_theme(), size, 0, Moment::kPast, &texts);
    int numbers = 0, words = 0;
    for (const PaintedText& text : texts) {
      bool number = false;
      text.text.toInt(&number);
      numbers += number;
      words += text.text.startsWith(QStringLiteral("forward ")) ||
               text.text.startsWith(QStringLiteral("backward "));
    }
    EXPECT_TRUE(numbers == 0 || words == 0) << width << ": " << numbers << " and " << words;
    some_short |= numbers > 0;
    some_long |= words > 0;
  }
  EXPECT_TRUE(some_short);
  EXPECT_TRUE(some_long);
}

TEST(Playhead, LeavesOutALaneWithoutRows) {
  Picture picture = two_lanes(pipeline_setup(2, 4));
  picture.lanes[1].rows.reset();
  picture.lanes[1].empty_text = QStringLiteral("Press Run");
  picture.playhead = picture.range.end / 2;
  const QSizeF size(900, 400);
  const PictureLayout layout = layout_of(picture, size, light_theme());
  QImage image(size.toSize(), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::white);
  QPainter painter(&image);
  paint_playhead(painter, layout, picture, light_theme(), size, 0);
  painter.end();
  const int x = int(layout.axis(picture.range).x_of(*picture.playhead));
  const auto marked = [&](double y) {
    return image.pixelColor(x, int(y)) != QColor(Qt::white) ||
           image.pixelColor(x - 1, int(y)) != QColor(Qt::white);
  };
  for (const RowBox& box : layout.rows)
    EXPECT_EQ(marked(box.bar.center().y() + layout.tick_band), box.row >= 0);
}

}  // namespace
}  // namespace parallelarium
