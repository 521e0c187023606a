// SPDX-License-Identifier: GPL-3.0-or-later
// One frame of a timeline of a million spans at 1600 x 480: the budget is 8 ms. With as many that
// replicas send there are two million, and each pixel of those looks up what is computed meanwhile.
// Run with QT_QPA_PLATFORM=offscreen.
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QImage>
#include <random>

#include "app/views/timeline/picture/timeline_paint.h"

namespace {

using namespace parallelarium;

constexpr int kRows = 16;

// `count` spans in 16 rows: a third of the time idle, durations that differ. `sends`: and as many
// again that replicas send meanwhile.
Picture picture_of(std::int64_t count, bool sends) {
  std::mt19937_64 random(1);
  auto rows = std::make_shared<LaneRows>();
  auto prediction = std::make_shared<Prediction>();
  if (sends) prediction->setup.mesh.dp = 2;
  rows->prediction = prediction;
  auto timeline = std::make_shared<Timeline>();
  for (int rank = 0; rank < kRows; ++rank) {
    Row row;
    row.rank_index = row.rank = row.stage = rank;
    row.label = QStringLiteral("Stage %1").arg(rank);
    std::vector<Bar> bars;
    Nanoseconds at{0};
    for (std::int64_t index = 0; index < count / kRows; ++index) {
      Bar bar;
      bar.first_op = bar.last_op = static_cast<std::int32_t>(index);
      bar.microbatch = static_cast<std::int32_t>(index / 2);
      bar.action = index % 2 ? ActionKind::kBackward : ActionKind::kForward;
      at += Nanoseconds(random() % 8 == 0 ? random() % 4000 : 0);
      bar.span.begin = at;
      at += Nanoseconds(200 + random() % 1800);
      bar.span.end = at;
      bars.push_back(bar);
    }
    rows->end = std::max(rows->end, at);
    if (sends) {
      std::vector<Bar> sent = bars;
      for (Bar& bar : sent) {
        bar.kind = OpKind::kCollective;
        bar.lane = Lane::kData;
        bar.span.begin += Nanoseconds(150);
        bar.span.end += Nanoseconds(150);
      }
      row.lanes[2] = make_bar_list(std::move(sent));
    }
    row.lanes[0] = make_bar_list(std::move(bars));
    rows->rows.push_back(std::move(row));
  }
  timeline->duration = rows->end;
  rows->timeline = timeline;
  PictureLane lane;
  lane.title = QStringLiteral("PREDICTED");
  lane.rows = rows;
  Picture picture;
  picture.lanes.push_back(lane);
  picture.range.end = rows->end;
  return picture;
}

// share: how much of the step is visible, in millionths.
void frame(benchmark::State& state) {
  Picture picture = picture_of(state.range(0), state.range(2) == 1);
  const Nanoseconds end = picture.range.end;
  picture.range = {end / 3, end / 3 + Nanoseconds(end.count() / 1'000'000 * state.range(1))};
  if (state.range(1) == 1'000'000) picture.range = {Nanoseconds(0), end};
  QImage image(1600, 480, QImage::Format_RGB32);
  const PictureLayout layout = layout_of(picture, image.size(), light_theme());
  for (auto _ : state) {
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_lanes(painter, picture, layout, light_theme(), image.size(), 0, Moment::kPast);
  }
}
BENCHMARK(frame)
    ->ArgNames({"spans", "ppm", "sends"})
    ->ArgsProduct({{1'000'000}, {1'000'000, 100'000, 10'000, 5'000, 1'000}, {0, 1}})
    ->Args({1'000, 1'000'000, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  parallelarium::apply_theme(application, false);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
