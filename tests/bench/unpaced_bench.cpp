// SPDX-License-Identifier: Apache-2.0
// The table of unpaced accuracy on this computer: calibrates, then predicts and runs Setups with at
// most as many ranks as cores. Usage: unpaced_bench [--ops] (with times by piece of the first)
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "tests/ranks/harness.h"

namespace {

using namespace parallelarium;

struct Case {
  const char* model;
  int pp, dp, microbatches, micro_batch;
  const char* schedule;
};
const Case kCases[] = {{"gpt-tiny", 1, 1, 4, 1, "1f1b"},  {"gpt-tiny", 1, 1, 2, 4, "1f1b"},
                       {"gpt-tiny", 2, 1, 4, 1, "1f1b"},  {"gpt-tiny", 2, 1, 8, 2, "gpipe"},
                       {"gpt-tiny", 1, 2, 4, 1, "1f1b"},  {"gpt-tiny", 1, 2, 2, 4, "gpipe"},
                       {"gpt-tiny", 2, 1, 4, 1, "naive"}, {"gpt-small", 1, 1, 1, 1, "1f1b"},
                       {"gpt-small", 2, 1, 4, 1, "1f1b"}, {"gpt-small", 1, 2, 2, 1, "1f1b"},
                       {"gpt-small", 2, 1, 2, 2, "gpipe"}};

// Predicted and observed microseconds by piece and phase, added over ranks.
void print_pieces(const Prediction& predicted, const Observation& seen) {
  std::map<std::string, std::pair<double, double>> sums;
  for (std::size_t rank = 0; rank < predicted.program.ranks.size(); ++rank) {
    for (std::size_t i = 0; i < predicted.program.ranks[rank].ops.size(); ++i) {
      const Op& op = predicted.program.ranks[rank].ops[i];
      auto& [one, other] =
          sums[fmt::format("{} {} {}", name_of(op.kind), name_of(op.piece), name_of(op.phase))];
      const auto length = [&](const Timeline& timeline) {
        const Span& span = timeline.ranks[rank].spans[i];
        return static_cast<double>((span.end - span.begin).count()) * 1e-3;
      };
      one += length(predicted.timeline);
      other += length(seen.timeline);
    }
  }
  for (const auto& [name, pair] : sums) {
    fmt::print("  {:40} {:9.1f} us predicted {:9.1f} us observed\n", name, pair.first, pair.second);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const bool ops = count > 1 && std::strcmp(arguments[1], "--ops") == 0;
  const Result<Machine> machine = calibrate({});
  if (!machine) {
    fmt::print("{}\n", machine.error().text);
    return 1;
  }
  std::vector<double> errors;
  for (const Case& one : kCases) {
    if (one.pp * one.dp > available_cores()) continue;
    Setup setup = default_setup();
    setup.model = *find_model(one.model);
    setup.mesh.pp = one.pp;
    setup.mesh.dp = one.dp;
    setup.microbatches = one.microbatches;
    setup.micro_batch = one.micro_batch;
    setup.schedule = one.schedule;
    setup.run.backend = Backend::kCpu;
    setup.run.warmup = 3;
    setup.run.steps = 11;
    const Result<Prediction> predicted = predict(setup, *machine, true);
    if (!predicted) {
      fmt::print("{}\n", predicted.error().text);
      return 1;
    }
    const Result<RunResult> run = run_now(setup, predicted->program);
    if (!run) {
      fmt::print("{}\n", run.error().text);
      return 1;
    }
    const StepFigures& step = run->observation.step;
    const double error = predicted->step.seconds / step.seconds - 1;
    errors.push_back(std::abs(error));
    fmt::print(
        "{:10} pp {} dp {} m {} b {} {:6} {:8.2f} ms predicted {:8.2f} ms observed "
        "({:.2f} to {:.2f}) {:+6.1f} %\n",
        one.model, one.pp, one.dp, one.microbatches, one.micro_batch, one.schedule,
        predicted->step.seconds * 1e3, step.seconds * 1e3, step.seconds_min * 1e3,
        step.seconds_max * 1e3, error * 100);
    if (ops) print_pieces(*predicted, run->observation);
  }
  std::sort(errors.begin(), errors.end());
  fmt::print("median error {:.1f} %\n", errors[(errors.size() - 1) / 2] * 100);
  return 0;
}
