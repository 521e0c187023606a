// SPDX-License-Identifier: GPL-3.0-or-later
// One frame of the Layer view at 8 ranks: what is read of the Session, the layout, and the picture;
// and the description of a layer, which follows a change. And a frame of "Who holds what" at 64
// ranks and 96 layers, at the moments between which what is held changes. The limit of a frame is
// 8 ms.
//   QT_QPA_PLATFORM=offscreen build/release/bin/app_layer_bench
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QImage>
#include <QPainter>

#include "app/views/layer/layer_view.h"
#include "app/views/memory/holders/holders.h"
#include "tests/bench/app/app_cases.h"

namespace parallelarium {
namespace {

LayerLook everything() {
  LayerLook look;
  look.attention_open = look.figures = look.all_ranks = true;
  return look;
}

void layer_frame(benchmark::State& state, const Case& of) {
  Session session;
  set_up(session, of);
  const auto steps = layer_picture(session, everything()).layer;
  QImage image(1100, 900, QImage::Format_RGB32);
  for (auto _ : state) {
    QPainter painter(&image);
    const LayerPicture picture = layer_picture(session, everything(), steps);
    const LayerLayout layout = layer_layout(picture, QSizeF(image.size()), light_theme());
    paint_layer(painter, picture, layout, light_theme(), nullptr);
  }
}

void description(benchmark::State& state, const Case& of) {
  Session session;
  set_up(session, of);
  const auto prediction = session.subject().prediction();
  for (auto _ : state)
    benchmark::DoNotOptimize(layer_steps(prediction->setup, prediction->program, {}));
}

void holders_frame(benchmark::State& state) {
  Session session;
  set_up(session, {"", {{"layers", "96"}, {"pp", "1"}, {"dp", "64"}, {"zero", "3"}}});
  HoldersKept kept;
  holders_picture(session, kept);
  const std::vector<Nanoseconds> changes = kept.holdings.at(0).changes();
  QImage image(1100, 560, QImage::Format_RGB32);
  std::size_t at = 0;
  for (auto _ : state) {
    session.playback().set_playhead(changes[at++ * 7 % changes.size()]);
    QPainter painter(&image);
    const HoldersPicture picture = holders_picture(session, kept);
    const HoldersLayout layout = holders_layout(picture, QSizeF(image.size()));
    paint_holders(painter, picture, layout, QSizeF(image.size()), {-1, -1}, light_theme(), nullptr);
  }
}

const Case kCases[] = {
    {"tp_8", {{"pp", "1"}, {"tp", "8"}, {"heads", "8"}, {"sequence-parallel", "on"}}},
    {"ring_8", {{"pp", "1"}, {"cp", "8"}, {"attention", "fused"}}},
    {"experts_8", {{"pp", "1"}, {"dp", "4"}, {"ep", "4"}, {"tp", "2"}, {"model", "moe-tiny"}}},
    {"ulysses_8", {{"pp", "1"}, {"cp", "8"}, {"heads", "8"}, {"context-parallel", "ulysses"}}}};

}  // namespace
}  // namespace parallelarium

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("frame/who_holds_what_64x96", parallelarium::holders_frame)
      ->Unit(benchmark::kMillisecond);
  return parallelarium::run_cases(
      argc, argv, parallelarium::kCases,
      {{"frame", parallelarium::layer_frame}, {"describe", parallelarium::description}});
}
