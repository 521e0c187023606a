// SPDX-License-Identifier: Apache-2.0
// Build and simulate: 16 stages with 512 micro-batches at stage level within 20 ms, up to 200,000
// ops at piece level within 100 ms, the whole prediction of the first lesson within 16 ms.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "engine/passes/build.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

Setup pipeline(int stages, int microbatches, int layers) {
  Setup setup = default_setup();
  setup.model.name = "custom";
  setup.model.layers = layers;
  setup.mesh.pp = stages;
  setup.microbatches = microbatches;
  return setup;
}

template <class T>
T need(Result<T> result) {
  if (!result.ok()) std::abort();
  return std::move(result.value());
}

void build_and_simulate(benchmark::State& state, const Setup& setup, const BuildOptions& options) {
  const Machine machine = need(find_machine("dgx-h100"));
  std::int64_t ops = 0;
  for (auto _ : state) {
    const Order order = need(make_order(setup));
    const Program program = need(build_program(setup, order, options));
    const CostModel cost(program, machine, setup);
    Timeline timeline = simulate(program, cost);
    benchmark::DoNotOptimize(timeline);
    ops = program.op_count();
  }
  state.counters["ops"] = static_cast<double>(ops);
}

void stage_level_16_by_512(benchmark::State& state) {
  build_and_simulate(state, pipeline(16, 512, 96), {.stage_level = true});
}
BENCHMARK(stage_level_16_by_512)->Unit(benchmark::kMillisecond);

void piece_level_near_the_limit(benchmark::State& state) {
  build_and_simulate(state, pipeline(16, static_cast<int>(state.range(0)), 96), {});
}
BENCHMARK(piece_level_near_the_limit)->Arg(45)->Arg(80)->Unit(benchmark::kMillisecond);

void simulate_only(benchmark::State& state) {
  const Setup setup = pipeline(16, static_cast<int>(state.range(0)), 96);
  const Machine machine = need(find_machine("dgx-h100"));
  const Program program = need(build_program(setup, need(make_order(setup))));
  const CostModel cost(program, machine, setup);
  for (auto _ : state) {
    Timeline timeline = simulate(program, cost);
    benchmark::DoNotOptimize(timeline);
  }
  state.counters["ops"] = static_cast<double>(program.op_count());
}
BENCHMARK(simulate_only)->Arg(80)->Unit(benchmark::kMillisecond);

void simulate_only_with_shared_cores(benchmark::State& state) {
  const Setup setup = pipeline(4, 8, 8);
  Machine machine = need(find_machine("local"));
  machine.lanes_share_core = true;
  const Program program = need(build_program(setup, need(make_order(setup))));
  const CostModel cost(program, machine, setup);
  for (auto _ : state) {
    Timeline timeline = simulate(program, cost);
    benchmark::DoNotOptimize(timeline);
  }
}
BENCHMARK(simulate_only_with_shared_cores)->Unit(benchmark::kMillisecond);

void predict_the_first_lesson(benchmark::State& state) {
  const Setup setup = default_setup();
  const Machine machine = need(machine_of(setup.machine));
  for (auto _ : state) {
    Prediction prediction = need(predict(setup, machine));
    benchmark::DoNotOptimize(prediction);
  }
}
BENCHMARK(predict_the_first_lesson)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace parallelarium

int main(int argc, char** argv) {
  parallelarium::keep_freed_memory();  // as the window does
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
