// SPDX-License-Identifier: Apache-2.0
// Predicts setups of Llama 3 70B on DGX H100 with folded pieces, as sweeps and searches do: each to
// take some milliseconds, and half of them less than three.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

template <class T>
T need(Result<T> result) {
  if (!result.ok()) std::abort();
  return std::move(result.value());
}

struct Axes {
  const char* name;
  int tp, cp, pp, dp, zero, micro_batch, microbatches;
  const char* schedule = "1f1b";
  int chunks = 1;
  Recompute recompute = Recompute::kNone;
  ContextParallel context = ContextParallel::kRing;
  bool ring_tensor = false;
};

// Every axis takes each of its values beside several of the others.
constexpr Axes kSetups[] = {
    {"tp8 pp4 dp2", 8, 1, 4, 2, 0, 1, 64},
    {"tp8 pp4 dp4 zero1", 8, 1, 4, 4, 1, 1, 32},
    {"tp8 pp8 dp2 zero1 mb2", 8, 1, 8, 2, 1, 2, 32},
    {"tp4 pp8 dp4 zero1 full", 4, 1, 8, 4, 1, 1, 64, "1f1b", 1, Recompute::kFull},
    {"tp8 pp2 dp8 zero2", 8, 1, 2, 8, 2, 1, 16},
    {"tp8 pp1 dp16 zero3", 8, 1, 1, 16, 3, 1, 8},
    {"tp4 pp1 dp32 zero3 full", 4, 1, 1, 32, 3, 2, 4, "1f1b", 1, Recompute::kFull},
    {"tp2 pp4 dp8 zero3", 2, 1, 4, 8, 3, 1, 16},
    {"tp1 pp1 dp64 zero3", 1, 1, 1, 64, 3, 1, 4},
    {"tp8 pp4 dp4 interleaved", 8, 1, 4, 4, 1, 1, 32, "interleaved", 5},
    {"tp4 pp8 dp2 interleaved", 4, 1, 8, 2, 1, 1, 64, "interleaved", 2},
    {"tp8 pp4 dp2 zb-h1", 8, 1, 4, 2, 1, 1, 32, "zb-h1"},
    {"tp8 pp4 dp2 zb-v", 8, 1, 4, 2, 1, 1, 32, "zb-v", 2},
    {"tp8 pp4 dp2 gpipe", 8, 1, 4, 2, 0, 1, 16, "gpipe"},
    {"tp8 pp4 dp2 dualpipe", 8, 1, 4, 2, 1, 1, 32, "dualpipe", 2},
    {"tp8 pp4 dp4 rings of tp", 8, 1, 4, 4, 1, 1, 32, "1f1b", 1, Recompute::kNone,
     ContextParallel::kRing, true},
    {"tp8 cp2 pp4 dp2 all-gather", 8, 2, 4, 2, 1, 1, 16, "1f1b", 1, Recompute::kNone,
     ContextParallel::kAllGather},
    {"tp4 cp2 pp4 dp2 ulysses", 4, 2, 4, 2, 1, 1, 16, "1f1b", 1, Recompute::kNone,
     ContextParallel::kUlysses},
    {"tp8 cp2 pp4 dp2 ring", 8, 2, 4, 2, 1, 1, 16},
    {"tp8 cp4 pp2 dp1 ring zero1 full", 8, 4, 2, 1, 1, 1, 16, "1f1b", 1, Recompute::kFull},
};

Setup setup_of(const Axes& axes) {
  Setup setup = default_setup();
  setup.model = *find_model("llama3-70b");
  setup.machine = "dgx-h100";
  setup.precision = *find_precision("mixed-16-main-grads");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  setup.mesh.tp = axes.tp;
  setup.mesh.cp = axes.cp;
  setup.mesh.pp = axes.pp;
  setup.mesh.dp = axes.dp;
  setup.sequence_parallel = axes.tp > 1;
  setup.zero = axes.zero;
  setup.micro_batch = axes.micro_batch;
  setup.microbatches = axes.microbatches;
  setup.schedule = axes.schedule;
  setup.chunks = axes.chunks;
  setup.recompute = axes.recompute;
  setup.context_parallel = axes.context;
  if (axes.context == ContextParallel::kUlysses) setup.cp_split = ContextSplit::kContiguous;
  setup.ring_tensor = axes.ring_tensor;
  return setup;
}

void one(benchmark::State& state, const Axes& axes) {
  const Setup setup = setup_of(axes);
  const Machine machine = need(find_machine("dgx-h100"));
  std::int64_t ops = 0;
  for (auto _ : state) {
    const Prediction made = need(predict(setup, machine, BuildOptions{.stage_level = true}));
    ops = made.program.op_count();
  }
  state.counters["ops"] = static_cast<double>(ops);
}

// `median_ms`: over the setups, of the processor time that each took in the median of all rounds.
void all(benchmark::State& state) {
  std::vector<Setup> setups;
  for (const Axes& axes : kSetups) setups.push_back(setup_of(axes));
  const Machine machine = need(find_machine("dgx-h100"));
  const auto median = [](std::vector<double> of) {
    std::nth_element(of.begin(), of.begin() + std::ptrdiff_t(of.size() / 2), of.end());
    return of[of.size() / 2];
  };
  std::vector<std::vector<double>> took(setups.size());
  for (auto _ : state)
    for (std::size_t at = 0; at < setups.size(); ++at) {
      const std::clock_t begin = std::clock();
      benchmark::DoNotOptimize(
          need(predict(setups[at], machine, BuildOptions{.stage_level = true})));
      took[at].push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
  std::vector<double> medians;
  for (const std::vector<double>& rounds : took) medians.push_back(median(rounds));
  state.counters["median_ms"] = median(medians);
}
BENCHMARK(all)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace parallelarium

int main(int argc, char** argv) {
  parallelarium::keep_freed_memory();  // as the programs do
  for (const parallelarium::Axes& axes : parallelarium::kSetups)
    benchmark::RegisterBenchmark(axes.name, parallelarium::one, axes)
        ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
