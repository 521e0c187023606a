// SPDX-License-Identifier: Apache-2.0
// The table of paced accuracy: predicted and observed step time and bubble of 37 Setups of up to 8
// ranks, of all axes and schedules. Takes about four minutes. Usage: paced_bench
#include <algorithm>
#include <cmath>

#include "tests/ranks/paced_run.h"

namespace {

using namespace parallelarium;

const PacedCase kCases[] = {
    {1, 1, 4, "1f1b"},
    {1, 2, 4, "1f1b"},
    {1, 4, 2, "gpipe"},
    {1, 8, 2, "1f1b"},
    {2, 1, 4, "1f1b"},
    {2, 1, 4, "gpipe"},
    {2, 1, 3, "naive"},
    {2, 2, 4, "1f1b"},
    {2, 4, 3, "gpipe"},
    {3, 1, 6, "1f1b"},
    {3, 1, 4, "gpipe"},
    {3, 2, 4, "1f1b"},
    {4, 1, 8, "1f1b"},
    {4, 1, 8, "gpipe"},
    {4, 1, 3, "naive"},
    {4, 2, 4, "1f1b"},
    {4, 2, 4, "gpipe"},
    {6, 1, 8, "1f1b"},
    {4, 1, 4, "1f1b", 2},
    {8, 1, 8, "1f1b"},
    {2, 1, 4, "interleaved", 1, "chunks=2"},
    {4, 1, 8, "interleaved", 1, "chunks=3"},
    {4, 1, 8, "zb-h1"},
    {4, 1, 8, "zb-h2"},
    {4, 1, 8, "zb-v"},
    {4, 1, 8, "dualpipe"},
    {4, 1, 8, "dualpipe-v"},
    {1, 1, 4, "1f1b", 1, "tp=2"},
    {2, 1, 4, "1f1b", 1, "tp=4 sequence-parallel=true"},
    {1, 1, 4, "1f1b", 1, "cp=2 attention=fused"},
    {2, 1, 4, "1f1b", 1, "cp=2 attention=fused context-parallel=all-gather"},
    {1, 2, 2, "1f1b", 1, "cp=4 context-parallel=ulysses"},
    {1, 4, 2, "1f1b", 1, "zero=3"},
    {1, 8, 2, "1f1b", 1, "zero=2"},
    {2, 4, 2, "1f1b", 1, "zero=3 zero-group=2"},
    {2, 2, 2, "1f1b", 1, "tp=2 zero=1"},
    {2, 1, 4, "1f1b", 1, "recompute=full tp=2"}};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace

int main() {
  Machine machine = uncalibrated_local_machine();
  machine.intra_node = {{20e-6}, {1e8}};
  machine.inter_node = machine.intra_node;
  std::vector<double> steps, bubbles;
  fmt::print("{:>3} {:>3} {:>3} {:>3} {:11} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}  {}\n", "pp",
             "dp", "m", "b", "schedule", "predicted", "observed", "error", "bubble", "observed",
             "points", "with");
  for (const PacedCase& one : kCases) {
    Setup setup = paced_setup(one);
    if (24 % one.pp == 0) setup.model.layers = 24;
    const Result<PacedRun> run = run_paced(setup, machine);
    if (!run) {
      fmt::print("pp {} dp {} m {} {}: {}\n", one.pp, one.dp, one.microbatches, one.schedule,
                 run.error().text);
      return 1;
    }
    steps.push_back(std::abs(run->step_error()));
    bubbles.push_back(std::abs(run->bubble_error()) * 100);
    fmt::print(
        "{:3} {:3} {:3} {:3} {:11} {:8.2f}ms {:8.2f}ms {:+7.2f}% {:8.3f} {:8.3f} {:+8.2f}  {}\n",
        one.pp, one.dp, one.microbatches, one.micro_batch, one.schedule,
        run->predicted.step.seconds * 1e3, run->observed.observation.step.seconds * 1e3,
        run->step_error() * 100, run->predicted.bubble.of_total,
        run->observed.observation.bubble.of_total, run->bubble_error() * 100, one.words);
  }
  fmt::print("median error of the step {:.2f} %, worst {:.2f} %; of the bubble {:.2f} points\n",
             median(steps) * 100, *std::max_element(steps.begin(), steps.end()) * 100,
             median(bubbles));
  return 0;
}
