// SPDX-License-Identifier: GPL-3.0-or-later
// One frame of the Collectives view at 16 ranks and 16 chunks: sixty frames a second are 16.7 ms
// each. Run with QT_QPA_PLATFORM=offscreen.
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QImage>

#include "app/state/collective/collective_session.h"
#include "app/views/collectives/collectives_view.h"

namespace {

using namespace parallelarium;

void frame(benchmark::State& state) {
  Session session;
  CollectiveChoice choice;
  choice.spec.ranks = int(state.range(0));
  session.collectives().restore(choice, {}, {});
  CollectivePicture picture = collective_picture(session);
  picture.plot_cache = std::make_shared<PlotCache>();
  const QSize size(872, int(collective_height(picture, 872)));
  QImage image(size, QImage::Format_RGB32);
  const CollectiveLayout layout = collective_layout(picture, size);
  const QRectF moving(0, 0, size.width(), layout.lanes.bottom() + 8);  // what the view repaints
  std::int64_t at = 0;
  for (auto _ : state) {
    picture.playhead = picture.horizon() * (at++ % 97) / 97;
    QPainter painter(&image);
    painter.setClipRect(moving);
    painter.fillRect(moving, Qt::white);
    paint_collective(painter, picture, layout, light_theme(), nullptr);
  }
}
BENCHMARK(frame)->ArgName("ranks")->Arg(4)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  parallelarium::apply_theme(application, false);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
