// SPDX-License-Identifier: Apache-2.0
// Searches for a plan: three large problems on DGX H100, each to be done within ten seconds or so
// on two cores, and one of more than a million candidates. `candidates` are all combinations,
// `simulated` those that the bounds left over.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "engine/planner/search.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

template <class T>
T need(Result<T> result) {
  if (!result.ok()) std::abort();
  return std::move(result.value());
}

// As `plan --model MODEL --machine dgx-h100 --gpus LEAST..MOST --global-batch BATCH` searches.
void plan(benchmark::State& state, const char* model, std::int64_t least_gpus,
          std::int64_t most_gpus, std::int64_t batch) {
  PlanRequest request;
  request.base = default_setup();
  request.base.model = *find_model(model);
  request.base.machine = "dgx-h100";
  request.base.precision = *find_precision("mixed-16-main-grads");
  request.base.attention = Attention::kFused;
  request.base.mesh = Mesh();
  request.machine = need(find_machine("dgx-h100"));
  request.least_gpus = least_gpus;
  request.most_gpus = most_gpus;
  request.global_batch = batch;
  PlanResult found;
  for (auto _ : state) found = need(search(request));
  state.counters["candidates"] = static_cast<double>(found.candidates);
  state.counters["simulated"] =
      static_cast<double>(found.classes[static_cast<int>(PlanClass::kSimulated)]);
}

BENCHMARK_CAPTURE(plan, llama3_8b_on_64, "llama3-8b", 64, 64, 1024)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(plan, llama3_70b_on_64, "llama3-70b", 64, 64, 1024)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(plan, llama3_70b_on_1_to_128, "llama3-70b", 1, 128, 1024)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(plan, llama3_405b_on_16384, "llama3-405b", 16'384, 16'384, 2048)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace parallelarium

int main(int argc, char** argv) {
  parallelarium::keep_freed_memory();  // as the command does
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
