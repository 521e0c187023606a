// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/stage_strip.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QScrollBar>
#include <map>
#include <set>

#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

class Stages : public testing::TestWithParam<std::tuple<int, int, const char*>> {
 protected:
  std::shared_ptr<const LaneRows> rows() const {
    const auto [stages, microbatches, schedule] = GetParam();
    return rows_of(predicted(pipeline_setup(stages, microbatches, schedule)));
  }
};

// The numbers in a box are the micro-batches that held_microbatches counts.
TEST_P(Stages, HoldWhatTheEngineCounts) {
  const auto lanes = rows();
  for (const Row& row : lanes->rows) {
    const auto points = held_microbatches(lanes->program(), *lanes->timeline, row.rank_index);
    for (int sample = 0; sample < 200; ++sample) {
      const Nanoseconds time = lanes->end / 200 * sample + Nanoseconds(1);
      double held = 0;
      for (const HeldPoint& point : points)
        if (point.time <= time) held = point.held;
      EXPECT_EQ(static_cast<double>(moment_of(row, time).held.size()), held);
    }
  }
}

// In flight: at most between the two ops that it joins, and always between neighbours.
TEST_P(Stages, MessagesTravelOnceBetweenNeighbours) {
  const auto lanes = rows();
  const auto [stages, microbatches, schedule] = GetParam();
  std::map<std::tuple<int, int, bool>, int> sent;
  for (const StageParcel& parcel : lanes->parcels()) {
    EXPECT_EQ(parcel.to, parcel.from + (parcel.gradient ? -1 : 1));
    EXPECT_LE(parcel.begin, parcel.end);
    EXPECT_LE(parcel.end, parcel.used);
    ++sent[{parcel.from, parcel.microbatch, parcel.gradient}];
  }
  EXPECT_EQ(sent.size(), static_cast<std::size_t>(2 * (stages - 1) * microbatches));
  for (const auto& [what, times] : sent) EXPECT_EQ(times, 1);
}

TEST_P(Stages, AFrameIsAFunctionOfTheTimeAlone) {
  const auto lanes = rows();
  const auto frame = [&](Nanoseconds time) {
    QImage image(900, 80, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    StripLook look;
    look.geometry = strip_geometry(std::get<0>(GetParam()), 86, 770);
    paint_stage_strip(painter, *lanes, time, light_theme(), look, image.size());
    return image;
  };
  const QImage before = frame(lanes->end / 3);
  frame(lanes->end / 2);
  EXPECT_EQ(frame(lanes->end / 3), before);
  // And the picture moves: a forward, a message and a backward of every stage look different.
  std::set<QByteArray> frames;
  for (int sample = 0; sample < 100; ++sample) {
    const QImage image = frame(lanes->end / 100 * sample);
    frames.insert(QByteArray(reinterpret_cast<const char*>(image.constBits()),
                             static_cast<qsizetype>(image.sizeInBytes())));
  }
  EXPECT_GE(frames.size(), static_cast<std::size_t>(2 * std::get<0>(GetParam())));
}

TEST_P(Stages, NoTwoTextsOverlap) {
  const auto lanes = rows();
  for (const int width : {420, 620, 770, 1300})
    for (int sample = 0; sample < 60; ++sample) {
      QImage image(width + 120, 80, QImage::Format_RGB32);
      QPainter painter(&image);
      StripLook look;
      look.geometry = strip_geometry(std::get<0>(GetParam()), 86, width);
      TextLog texts;
      paint_stage_strip(painter, *lanes, lanes->end / 60 * sample, light_theme(), look,
                        image.size(), &texts);
      EXPECT_EQ(overlapping(texts), "") << width << " " << sample;
    }
}

INSTANTIATE_TEST_SUITE_P(Pipelines, Stages,
                         testing::Values(std::tuple(2, 1, "naive"), std::tuple(2, 3, "gpipe"),
                                         std::tuple(4, 8, "1f1b"), std::tuple(7, 9, "1f1b"),
                                         std::tuple(8, 32, "gpipe"), std::tuple(16, 16, "1f1b")));

TEST(StripGeometry, SixteenStagesFitOrScroll) {
  for (const int stages : {1, 2, 4, 8, 16})
    for (const double width : {300.0, 770.0, 1400.0}) {
      const StripGeometry geometry = strip_geometry(stages, 86, width);
      EXPECT_GE(geometry.box, 50);
      EXPECT_GE(geometry.gap, 20);
      if (stages <= 4 && width >= 770) {
        EXPECT_LE(geometry.width(), width + 1);
      }
    }
}

}  // namespace
}  // namespace parallelarium
