// SPDX-License-Identifier: GPL-3.0-or-later
// One frame of the Mesh view, up to 16,384 ranks, on axes, on nodes, and while ranks move; and what
// follows a change: nodes, folding and the layout. The limit of a frame is 8 ms.
//   QT_QPA_PLATFORM=offscreen build/release/bin/app_mesh_bench
#include <benchmark/benchmark.h>

#include <QImage>
#include <QPainter>

#include "app/views/mesh/picture/mesh_paint.h"
#include "tests/bench/app/app_cases.h"

namespace parallelarium {
namespace {

struct Stage {
  Session session;
  MeshWires wires;
  MeshMotion motion;
  MeshLayout layout, before;
  MeshPicture picture;
  QRectF rect{16, 76, 820, 420};

  explicit Stage(const Case& of) {
    set_up(session, of);
    const Prediction& prediction = *session.subject().prediction();
    wires = mesh_wires(prediction);
    motion = MeshMotion(prediction.program, prediction.timeline);
    picture.prediction = &prediction;
    picture.program = &prediction.program;
    picture.motion = &motion;
    picture.classes = rank_classes(prediction);
    picture.wires = &wires;
    picture.playhead = prediction.timeline.duration / 2;
    const Mesh& mesh = prediction.setup.mesh;
    picture.ways = mesh_ways(mesh, wires.along(Axis::kDp) ? Axis::kDp : Axis::kTp, 0);
  }
  void lay(MeshForm form) {
    const Mesh mesh = picture.prediction->setup.mesh;
    layout = form == MeshForm::kNodes ? node_layout(mesh, wires, 0, rect, light_theme())
                                      : mesh_layout(mesh, rect, light_theme());
  }
  void frames(benchmark::State& state) {
    QImage image(872, 690, QImage::Format_RGB32);
    for (auto _ : state) {
      QPainter painter(&image);
      paint_mesh(painter, picture, layout, light_theme(), nullptr);
      paint_mesh_key(painter, QRectF(16, 500, 820, 18), picture, layout, light_theme(), nullptr);
      paint_wires(painter, QRectF(16, 524, 820, 150), wires, layout.mesh, picture.ways.axis, false,
                  light_theme(), nullptr);
    }
  }
};

void on_axes(benchmark::State& state, const Case& of) {
  Stage stage(of);
  stage.lay(MeshForm::kAxes);
  stage.frames(state);
}

void on_nodes(benchmark::State& state, const Case& of) {
  Stage stage(of);
  stage.lay(MeshForm::kNodes);
  stage.frames(state);
}

void moving(benchmark::State& state, const Case& of) {
  Stage stage(of);
  stage.lay(MeshForm::kAxes);
  stage.before = stage.layout;
  stage.lay(MeshForm::kNodes);
  stage.picture.move = {&stage.before, 0.5};
  stage.frames(state);
}

void change(benchmark::State& state, const Case& of) {
  Stage stage(of);
  for (auto _ : state) {
    stage.wires = mesh_wires(*stage.picture.prediction);
    stage.lay(MeshForm::kNodes);
  }
}

const Case kCases[] = {
    {"8", {{"machine", "dgx-h100"}, {"model", "gpt3-175b"}, {"tp", "8"}, {"pp", "1"}}},
    {"64",
     {{"machine", "dgx-h100"}, {"model", "gpt3-175b"}, {"dp", "2"}, {"tp", "8"}, {"pp", "4"}}},
    {"512",
     {{"machine", "dgx-h100"}, {"model", "gpt3-175b"}, {"dp", "16"}, {"tp", "8"}, {"pp", "4"}}},
    {"4096",
     {{"machine", "dgx-h100"},
      {"model", "gpt3-175b"},
      {"dp", "128"},
      {"tp", "8"},
      {"pp", "4"},
      {"microbatches", "16"}}},
    {"16384",
     {{"machine", "dgx-h100"},
      {"model", "gpt3-175b"},
      {"dp", "128"},
      {"tp", "8"},
      {"pp", "16"},
      {"microbatches", "16"}}},
    {"16384_of_one_axis",
     {{"machine", "dgx-h100"}, {"model", "gpt2-124m"}, {"dp", "16384"}, {"pp", "1"}}}};

}  // namespace
}  // namespace parallelarium

int main(int argc, char** argv) {
  return parallelarium::run_cases(argc, argv, parallelarium::kCases,
                                  {{"on_axes", parallelarium::on_axes},
                                   {"on_nodes", parallelarium::on_nodes},
                                   {"moving", parallelarium::moving},
                                   {"change", parallelarium::change}});
}
