// SPDX-License-Identifier: GPL-3.0-or-later
// Which bars of a lane are drawn together, and where rows and titles stand.
#include <gtest/gtest.h>

#include <random>

#include "app/views/shared/time_axis.h"
#include "app/views/timeline/picture/bar_paint.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

// --- runs of bars ---

BarList random_list(int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Bar> bars;
  Nanoseconds at{0};
  for (int index = 0; index < count; ++index) {
    Bar bar;
    bar.microbatch = index;
    bar.first_op = bar.last_op = index;
    bar.action = index % 3 ? ActionKind::kBackward : ActionKind::kForward;
    at += Nanoseconds(random() % 4 == 0 ? random() % 30'000 : 0);
    bar.span.begin = at;
    at += Nanoseconds(random() % 6 == 0 ? random() % 90'000 : random() % 900);
    bar.span.end = at;
    bars.push_back(bar);
  }
  return make_bar_list(std::move(bars));
}

class Runs : public testing::TestWithParam<int> {};

TEST_P(Runs, CoverEveryVisibleBarOnceAndInOrder) {
  const BarList list = random_list(GetParam(), 3);
  const Nanoseconds end = list.bars.back().span.end;
  for (const double part : {1.0, 0.3, 0.02, 0.001}) {
    const Nanoseconds length(
        std::max<std::int64_t>(100, std::llround(static_cast<double>(end.count()) * part)));
    for (int place = 0; place < 7; ++place) {
      const Nanoseconds begin = (end - length) / 7 * place;
      const TimeAxis axis{{begin, begin + length}, 86, 770};
      std::size_t next = list.first_after(begin);
      for_each_run(list, axis, [&](const BarRun& run) {
        EXPECT_EQ(run.first, next);
        EXPECT_GE(run.last, run.first);
        next = run.last + 1;
        if (run.last == run.first) return;
        for (std::size_t bar = run.first; bar <= run.last; ++bar) {
          EXPECT_LT(axis.x_of(list.bars[bar].span.end) - axis.x_of(list.bars[bar].span.begin),
                    kLeastBarPixels + 0.01);
          if (bar > run.first) {
            EXPECT_LT(axis.x_of(list.bars[bar].span.begin) - axis.x_of(list.bars[bar - 1].span.end),
                      2.01);
          }
        }
      });
      // What is left begins to the right of the view.
      if (next < list.bars.size()) {
        EXPECT_GE(list.bars[next].span.begin, axis.range.end);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Runs, testing::Values(1, 2, 3, 7, 100, 4000));

TEST(BarList, FindsTheBarAtATime) {
  const BarList list = random_list(500, 9);
  std::mt19937_64 random(4);
  for (int sample = 0; sample < 2000; ++sample) {
    const Nanoseconds time(static_cast<std::int64_t>(
        random() % static_cast<std::uint64_t>(list.bars.back().span.end.count() + 1000)));
    int expected = -1;
    for (std::size_t bar = 0; bar < list.bars.size() && expected < 0; ++bar)
      if (list.bars[bar].span.begin <= time && time < list.bars[bar].span.end)
        expected = static_cast<int>(bar);
    EXPECT_EQ(list.at(time), expected);
  }
}

// --- layout ---

TEST(Layout, RowsAreAsHighAsTheRoomAllowsButNeverUnder18) {
  const Picture few = two_lanes(pipeline_setup(4, 8));
  const Picture many = two_lanes(pipeline_setup(16, 16));
  const Theme& theme = light_theme();
  EXPECT_EQ(layout_of(few, QSizeF(872, 480), theme).pitch, kMostPitch);
  EXPECT_EQ(layout_of(many, QSizeF(872, 300), theme).pitch, kLeastPitch);
  const PictureLayout between = layout_of(few, QSizeF(872, 300), theme);
  EXPECT_GT(between.pitch, kLeastPitch);
  EXPECT_LT(between.pitch, kMostPitch);
  EXPECT_LE(between.height, 300 - between.tick_band);
}

TEST(Layout, RowsDoNotTouchEachOtherOrTitles) {
  for (const Arrangement arrangement : {Arrangement::kBlocks, Arrangement::kPairs})
    for (const int stages : {1, 2, 3, 7}) {
      Picture picture = two_lanes(pipeline_setup(stages, 4, "gpipe", 2));
      picture.arrangement = arrangement;
      const PictureLayout layout = layout_of(picture, QSizeF(900, 500), light_theme());
      EXPECT_EQ(layout.rows.size(), static_cast<std::size_t>(2 * 2 * stages));
      std::vector<QRectF> rects;
      for (const RowBox& box : layout.rows) rects.push_back(box.bar.united(box.comm));
      for (const TitleBox& title : layout.titles) rects.push_back(title.rect);
      for (std::size_t a = 0; a < rects.size(); ++a)
        for (std::size_t b = a + 1; b < rects.size(); ++b)
          EXPECT_FALSE(rects[a].intersects(rects[b])) << a << " " << b;
    }
}

TEST(Layout, PairsPutTheRunUnderItsPrediction) {
  Picture picture = two_lanes(pipeline_setup(3, 4));
  picture.arrangement = Arrangement::kPairs;
  const PictureLayout layout = layout_of(picture, QSizeF(900, 500), light_theme());
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_EQ(layout.rows[row].lane, static_cast<int>(row % 2));
    EXPECT_EQ(layout.rows[row].row, static_cast<int>(row / 2));
  }
  EXPECT_EQ(layout.rows[1].label, "rehearsed");
}

TEST(Layout, CollapsedStagesSayHowManyRanksTheyStandFor) {
  Picture picture = two_lanes(pipeline_setup(2, 4, "1f1b", 3));
  EXPECT_EQ(picture.lanes[0].rows->rows[1].label, QStringLiteral("Stage 0 \u00b7 replica 1"));
  picture.collapsed = {0, 1};
  const PictureLayout layout = layout_of(picture, QSizeF(900, 500), light_theme());
  ASSERT_EQ(layout.rows.size(), 4u);
  EXPECT_EQ(layout.rows[0].label, QStringLiteral("Stage 0 \u00d73"));
  EXPECT_EQ(layout.rows[1].label, QStringLiteral("Stage 1 \u00d73"));
}

}  // namespace
}  // namespace parallelarium
