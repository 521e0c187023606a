// SPDX-License-Identifier: GPL-3.0-or-later
// The order editor at 16 ranks x 64 micro-batches, backwards in two parts (3,072 actions): one
// frame is what follows a change and both pictures, with transfers and a run. The limit is 16 ms.
//   QT_QPA_PLATFORM=offscreen build/release/bin/app_editor_bench
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QImage>
#include <QPainter>

#include "app/look/theme/theme.h"
#include "app/views/pipeline/editor/editor_paint.h"
#include "engine/plan/order/order_faults.h"
#include "engine/schedules/draft.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

struct Edited {
  Order draft = zb_h1_order(16, 64);
  std::vector<Durations> durations = std::vector<Durations>(16);
  HeldLimits limits = HeldLimits(16, 20);
};

void judge(benchmark::State& state) {
  Edited edited;
  for (auto _ : state) {
    const DraftTimes times = time_draft(edited.draft, edited.durations, true);
    benchmark::DoNotOptimize(critical_path(times));
    benchmark::DoNotOptimize(chosen_waits(edited.draft, times, edited.limits));
    benchmark::DoNotOptimize(faults_so_far(edited.draft));
  }
}
BENCHMARK(judge)->Unit(benchmark::kMillisecond);

void paint(benchmark::State& state) {
  Edited edited;
  edited.draft.ranks[7].pop_back();
  for (Durations& stage : edited.durations) stage.transfer = 0.2;
  const DraftTimes times = time_draft(edited.draft, edited.durations, true);
  const std::vector<OrderFault> faults = faults_so_far(edited.draft);
  EditorPicture picture;
  picture.draft = &edited.draft;
  picture.times = &times;
  picture.durations = &edited.durations;
  picture.faults = &faults;
  picture.limits = &edited.limits;
  const std::vector<DraftPlace> path = critical_path(times);
  const std::vector<ChosenWait> chosen = chosen_waits(edited.draft, times, edited.limits);
  EditorRun run;  // as large as the order
  for (const DraftRank& line : times.ranks) run.rows.push_back(line.ran);
  run.end = times.makespan;
  picture.path = &path;
  picture.chosen = &chosen;
  picture.run = &run;
  QImage image(1100, 1500, QImage::Format_RGB32);
  for (auto _ : state) {
    QPainter painter(&image);
    paint_editor_times(painter, picture, editor_times(picture, 1100), light_theme(), nullptr);
    painter.translate(0, 850);
    paint_editor_rows(painter, picture, editor_rows(picture, 1100, 0), light_theme(), nullptr);
  }
}
BENCHMARK(paint)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace parallelarium

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  parallelarium::apply_theme(application, false);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
