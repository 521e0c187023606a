// SPDX-License-Identifier: GPL-3.0-or-later
// The order editor at 16 ranks x 64 micro-batches, backwards in two parts (3,072 actions): one
// frame is what follows a change and both pictures, with transfers and a run. The limit is 16 ms.
// `edit` is the whole way in a window: a step of undo, the Setup, all that follows it, and paint.
//   QT_QPA_PLATFORM=offscreen build/release/bin/app_editor_bench
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <cstdlib>
#include <utility>

#include "app/lesson/lesson_panel.h"
#include "app/look/theme/theme.h"
#include "app/shell/window.h"
#include "app/state/step/order_edit.h"
#include "app/views/pipeline/editor/editor_paint.h"
#include "engine/plan/order/order_faults.h"
#include "engine/plan/setup/setup_settings.h"
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

void paint(benchmark::State& state, bool in_time, bool in_rows) {
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
    if (in_time)
      paint_editor_times(painter, picture, editor_times(picture, 1100), light_theme(), nullptr);
    painter.translate(0, 850);
    if (in_rows)
      paint_editor_rows(painter, picture, editor_rows(picture, 1100, 0), light_theme(), nullptr);
  }
}
BENCHMARK_CAPTURE(paint, both, true, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint, times, true, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint, rows, false, true)->Unit(benchmark::kMillisecond);

// The last action of stage 7 is taken away and set again by turns. `whole`: as it is set, so that a
// prediction follows; else as it is taken away.
void edit(benchmark::State& state, bool whole) {
  Window window;
  window.set_asks(false);
  window.resize(1440, 900);
  window.show();
  window.lesson().player().close();
  Session& session = window.session();
  Setup setup = session.setup();
  for (const auto& [field, value] :
       {std::pair("layers", "16"), {"pp", "16"}, {"microbatches", "64"}, {"schedule", "zb-h1"}})
    if (!set_field(setup, field, value)) std::abort();
  session.history().change(setup, QString());
  session.wait_for_prediction();
  if (!session.problems().empty()) std::abort();
  OrderEdit& order = session.order_edit();
  order.set_open(true);
  order.wait();
  const Action last = order.draft().ranks[7].back();
  const auto turn = [&](bool set) {
    if (set)
      order.place(7, last);
    else
      order.erase(7, order.draft().ranks[7].size() - 1, 1);
    QApplication::processEvents();
  };
  const auto settle = [&] {
    session.wait_for_prediction();
    order.wait();
    QApplication::processEvents();
  };
  settle();
  if (whole) turn(false);
  for (auto _ : state) {
    turn(whole);
    state.PauseTiming();
    settle();
    turn(!whole);
    settle();
    state.ResumeTiming();
  }
}
BENCHMARK_CAPTURE(edit, unfinished, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(edit, whole, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace parallelarium

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  parallelarium::apply_theme(application, false);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
