// SPDX-License-Identifier: GPL-3.0-or-later
// The lanes of communication below the bars: high enough to be read where there is room, named, and
// filled where a rank waits, hollow where it computes meanwhile, and of many as high as their
// share.
#include <gtest/gtest.h>

#include <QImage>
#include <algorithm>
#include <cmath>

#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture/sent_paint.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

constexpr QSize kSize(1400, 700);

PlanSetup shared_setup(int stages, int replicas, int tensor, int zero) {
  PlanSetup setup = pipeline_setup(stages, 2, "1f1b", replicas);
  setup.mesh.tp = tensor;
  setup.zero = zero;
  setup.model.layers = 2;
  return setup;
}

QImage painted(const Picture& picture, const PictureLayout& layout, TextLog* texts) {
  QImage image(kSize, QImage::Format_RGB32);
  image.fill(light_theme().window);
  QPainter painter(&image);
  paint_timeline(painter, picture, layout, light_theme(), QSizeF(kSize), 0, texts);
  return image;
}

TEST(SentLanes, AreTwoThirdsAsHighAsBarsWhereThereIsRoom) {
  for (const auto& [setup, lanes] :
       {std::pair(shared_setup(1, 4, 1, 0), std::vector{Lane::kData}),
        {shared_setup(1, 2, 2, 0), std::vector{Lane::kCompute, Lane::kData}},
        {shared_setup(2, 2, 1, 1), std::vector{Lane::kPipeline, Lane::kData}}}) {
    const Picture picture = two_lanes(setup);
    const PictureLayout layout = layout_of(picture, QSizeF(kSize), light_theme());
    EXPECT_EQ(layout.sent, lanes);
    ASSERT_TRUE(layout.names_sent);
    for (const RowBox& box : layout.rows) {
      const Row& row = picture.lanes[std::size_t(box.lane)].rows->rows[std::size_t(box.row)];
      double from = box.bar.bottom();
      for (const Lane which : layout.sent) {
        const QRectF band = sent_band(layout, box, row, which);
        EXPECT_GE(band.height(), box.bar.height() * 2 / 3 - 1e-9);
        EXPECT_GT(band.top(), from);
        from = band.bottom();
      }
      EXPECT_LT(from, box.bar.top() + layout.pitch);
    }
    // Without room they are thin, and what is inside layers is seen in the bars alone.
    const PictureLayout low = layout_of(picture, QSizeF(1400, 160), light_theme());
    EXPECT_FALSE(low.names_sent);
    EXPECT_EQ(std::count(low.sent.begin(), low.sent.end(), Lane::kCompute), 0);
  }
  // Who waits for another stage is seen to wait.
  const Picture stages = two_lanes(pipeline_setup(4, 8));
  EXPECT_EQ(layout_of(stages, QSizeF(kSize), light_theme()).pitch, kMostPitch);
}

// Pixel by pixel against all compute bars of the rank.
TEST(SentLanes, AreFullWhereNothingIsComputed) {
  int full = 0, light = 0;
  for (const PlanSetup& setup :
       {shared_setup(1, 4, 1, 0), shared_setup(2, 2, 1, 1), shared_setup(1, 2, 2, 3)}) {
    Picture picture = two_lanes(setup);
    // Near the end of the step, where gradients are reduced.
    picture.range.begin = picture.lanes[0].rows->end * 6 / 10;
    const PictureLayout layout = layout_of(picture, QSizeF(kSize), light_theme());
    const QImage image = painted(picture, layout, nullptr);
    const TimeAxis axis = layout.axis(picture.range);
    for (const RowBox& box : layout.rows) {
      const PictureLane& lane = picture.lanes[std::size_t(box.lane)];
      const Row& row = lane.rows->rows[std::size_t(box.row)];
      const std::vector<Bar>& pieces = row.lane(Lane::kCompute, Zoom::kPieces).bars;
      const BarLook look{&light_theme(), lane.style, Moment::kPast, QFont(), kLongestForm};
      for (const Lane which : layout.sent) {
        const QRectF band = sent_band(layout, box, row, which);
        const SentColors colors = sent_colors(look, band.height());
        for (const Bar& bar : row.sent(which).bars) {
          const double x0 = axis.x_of(bar.span.begin), x1 = axis.x_of(bar.span.end);
          if (x1 - x0 < 8) continue;
          for (double x = std::max(x0 + 3, axis.left + 3);
               x < std::min(x1 - 4, axis.left + axis.width - 3); x += 5) {
            // Above the names, and not within two pixels of where a piece begins or ends.
            bool computes = false, edge = false;
            for (const Bar& piece : pieces) {
              const double begin = axis.x_of(piece.span.begin), end = axis.x_of(piece.span.end);
              if (piece.kind != OpKind::kCompute) continue;
              computes = computes || (begin <= x && x <= end);
              edge = edge || std::abs(begin - x) < 2 || std::abs(end - x) < 2;
            }
            if (edge) continue;
            const QColor seen = image.pixelColor(
                static_cast<int>(x), static_cast<int>(band.top() + layout.tick_band) + 1);
            const bool beside = computes && which != Lane::kCompute;
            EXPECT_EQ(seen.name(), (beside ? colors.overlapped : colors.exposed).name())
                << row.label.toStdString() << " " << int(which) << " at " << x;
            ++(beside ? light : full);
          }
        }
      }
    }
  }
  EXPECT_GT(full, 20);
  EXPECT_GT(light, 20);
}

// The outline of a bar of a few pixels leaves what is overlapped to be seen.
TEST(SentLanes, OfFewPixelsAreHollowWhereTheyAreOverlapped) {
  Picture picture = two_lanes(shared_setup(1, 4, 1, 3));
  const Nanoseconds end = picture.lanes[0].rows->end;
  int narrow = 0;
  for (int steps = 1; steps < 6; ++steps) {
    picture.range = {Nanoseconds(0), end * steps};  // seen from farther and farther away
    const PictureLayout layout = layout_of(picture, QSizeF(kSize), light_theme());
    const QImage image = painted(picture, layout, nullptr);
    const TimeAxis axis = layout.axis(picture.range);
    for (const RowBox& box : layout.rows) {
      const PictureLane& lane = picture.lanes[std::size_t(box.lane)];
      const Row& row = lane.rows->rows[std::size_t(box.row)];
      const BarLook look{&light_theme(), lane.style, Moment::kPast, QFont(), kLongestForm};
      const QRectF band = sent_band(layout, box, row, Lane::kData);
      const QRgb hollow = sent_colors(look, band.height()).overlapped.rgb();
      const auto computes = [&](double x) {
        const auto& pieces = row.lane(Lane::kCompute, Zoom::kPieces).bars;
        return std::any_of(pieces.begin(), pieces.end(), [&](const Bar& piece) {
          return piece.kind == OpKind::kCompute && axis.x_of(piece.span.begin) <= x &&
                 x <= axis.x_of(piece.span.end);
        });
      };
      for (const Bar& bar : row.sent(Lane::kData).bars) {
        const double x0 = axis.x_of(bar.span.begin), x1 = axis.x_of(bar.span.end);
        if (x1 - x0 < 3.5 || x1 - x0 > 8 || x0 < axis.left || x1 > axis.left + axis.width) continue;
        int seen = 0, all = 0;
        bool hidden = true;
        for (int x = static_cast<int>(std::ceil(x0)); x < x1 - 1; ++x, ++all) {
          hidden = hidden && computes(x) && computes(x + 1);
          seen += image.pixel(x, static_cast<int>(band.center().y() + layout.tick_band)) == hollow;
        }
        if (!hidden) continue;
        EXPECT_GT(2 * seen, all) << row.label.toStdString() << " from " << x0 << " to " << x1;
        ++narrow;
      }
    }
  }
  EXPECT_GT(narrow, 4);
}

// Seen from afar, when all ops of a layer share a few pixels, the area is the time.
TEST(SentLanes, OfManyOpsCoverAsMuchAsTheyTake) {
  for (const int layers : {24, 60}) {
    PlanSetup setup = shared_setup(1, 1, 2, 0);
    setup.model.layers = layers;
    const Picture picture = two_lanes(setup);
    const PictureLayout layout = layout_of(picture, QSizeF(kSize), light_theme());
    const QImage image = painted(picture, layout, nullptr);
    const TimeAxis axis = layout.axis(picture.range);
    const RowBox& box = layout.rows.front();
    const PictureLane& lane = picture.lanes[std::size_t(box.lane)];
    const Row& row = lane.rows->rows[std::size_t(box.row)];
    const QRectF band = sent_band(layout, box, row, Lane::kCompute);
    const BarLook look{&light_theme(), lane.style, Moment::kPast, QFont(), kLongestForm};
    const QRgb filled = sent_colors(look, band.height()).exposed.rgb();
    double taken = 0, covered = 0;
    for (const Bar& bar : row.sent(Lane::kCompute).bars)
      taken += (axis.x_of(bar.span.end) - axis.x_of(bar.span.begin)) * band.height();
    const double top = layout.tick_band;
    for (int y = static_cast<int>(top + band.top()); y < top + band.bottom(); ++y)
      for (int x = static_cast<int>(axis.left); x < axis.left + axis.width; ++x)
        covered += image.pixel(x, y) == filled ? 1 : 0;
    const double all = axis.width * band.height();
    EXPECT_GT(taken, 0.02 * all);
    EXPECT_LT(taken, 0.8 * all);
    EXPECT_NEAR(covered, taken, 0.25 * taken)
        << layers;  // heights are whole pixels, plates hide some
  }
}

TEST(SentLanes, SayWhatTheyAreAndWhatTheirBarsAre) {
  for (const auto& [setup, which, form] :
       {std::tuple(shared_setup(1, 4, 1, 0), Lane::kData, "all-reduce"),
        {shared_setup(2, 2, 1, 1), Lane::kData, "reduce-scatter"},
        {shared_setup(1, 2, 2, 0), Lane::kCompute, "all-reduce"}}) {
    Picture picture = two_lanes(setup);
    const Row& row = picture.lanes[0].rows->rows.front();
    const std::vector<Bar>& bars = row.sent(which).bars;
    ASSERT_FALSE(bars.empty());
    const Bar* longest = &bars.front();
    for (const Bar& bar : bars)
      if (bar.span.end - bar.span.begin > longest->span.end - longest->span.begin &&
          sent_labels(bar).contains(QString::fromLatin1(form)))
        longest = &bar;
    const Nanoseconds length = longest->span.end - longest->span.begin;
    picture.range = {longest->span.begin - length / 4, longest->span.end + length / 4};
    const PictureLayout layout = layout_of(picture, QSizeF(kSize), light_theme());
    TextLog texts;
    painted(picture, layout, &texts);
    const auto says = [&](const QString& wanted) {
      return std::any_of(texts.begin(), texts.end(),
                         [&](const PaintedText& text) { return text.text == wanted; });
    };
    EXPECT_TRUE(says(sent_labels(*longest).front())) << sent_labels(*longest).front().toStdString();
    EXPECT_TRUE(says(sent_lane_name(picture, which)));
    EXPECT_EQ(overlapping(texts), "");
    // What stands there is that op, for tooltip and selection.
    const QRectF band = sent_band(layout, layout.rows.front(), row, which);
    const TimeAxis axis = layout.axis(picture.range);
    const auto hit = hit_at(
        picture, layout,
        QPointF(axis.x_of(longest->span.begin + length / 2), band.center().y() + layout.tick_band),
        0);
    ASSERT_TRUE(hit && hit->bar >= 0);
    EXPECT_EQ(hit->which, which);
    EXPECT_EQ(row.lane(hit->which, hit->zoom).bars[std::size_t(hit->bar)].first_op,
              longest->first_op);
  }
}

TEST(SentLanes, HaveAShortNameForANarrowBar) {
  Bar bar;
  bar.kind = OpKind::kCollective;
  bar.collective = CollectiveKind::kReduceScatter;
  bar.purpose = Purpose::kGradients;
  bar.axis = Axis::kDp;
  EXPECT_EQ(sent_labels(bar), QStringList({"reduce-scatter of gradients, DP", "reduce-scatter DP",
                                           "reduce-scatter", "RS"}));
  bar.kind = OpKind::kSend;
  EXPECT_EQ(sent_labels(bar), bar_labels(bar));
}

}  // namespace
}  // namespace parallelarium
