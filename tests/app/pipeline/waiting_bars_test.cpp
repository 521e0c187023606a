// SPDX-License-Identifier: GPL-3.0-or-later
// Bars that are seen from far and wait in their middle.
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>

#include "app/views/timeline/picture/timeline_paint.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

// The number of such a bar stands on a plate, since hatching is behind it. The plate leaves the
// outline of a bar that is still to come.
TEST(WaitingBars, KeepTheirOutlineAroundTheirNumber) {
  auto setup = pipeline_setup(2, 4);
  setup.mesh.tp = setup.mesh.dp = 2;  // many rows, and low bars
  setup.schedule = "interleaved";
  setup.chunks = 2;
  setup.model.layers = 4;
  setup.recompute = Recompute::kFull;  // the forward again, and then the gradient has to come
  Picture picture = two_lanes(setup);
  picture.playhead = Nanoseconds{0};
  const QSize size(1400, 380);
  const PictureLayout layout = layout_of(picture, size, light_theme());
  QImage image(size, QImage::Format_RGB32);
  image.fill(light_theme().surface);
  QPainter painter(&image);
  paint_timeline(painter, picture, layout, light_theme(), size, 0, nullptr);
  int waiting = 0;
  for (const Row& row : picture.lanes[1].rows->rows) {
    const BarList& list = row.lane(Lane::kCompute);
    for (std::size_t at = 0; at < list.bars.size(); ++at) {
      const QRectF rect = rect_of_bar(picture, layout, 1, list.bars[at], row.rank_index, 0);
      if (!list.waits_long(at) || rect.width() < 40) continue;
      EXPECT_LE(rect.height(), 14);
      const auto color = [&](double y) {
        return image.pixelColor(static_cast<int>(rect.center().x()), static_cast<int>(y));
      };
      EXPECT_NE(color(rect.top()), light_theme().surface) << list.bars[at].microbatch;
      EXPECT_NE(color(rect.bottom() - 1), light_theme().surface) << list.bars[at].microbatch;
      ++waiting;
    }
  }
  EXPECT_GT(waiting, 0);
}

}  // namespace
}  // namespace parallelarium
