// SPDX-License-Identifier: Apache-2.0
// The tables of accuracy on this computer's GPUs: predicted and observed times with a GPU for each
// rank and with one GPU for all, memory that the driver reports beside what explains it, and what
// the engine's host costs GPT-2 124M. Ends with status 77 and the reason where there is no GPU.
// Usage: gpu_accuracy_bench [--only TEXT] [--table N]... [--ops] [--seconds S]
//   --only TEXT: Setups whose settings contain TEXT; --table N: one of the four tables, and several
//   where it is given several times; --ops: with times by piece; --seconds S: the most that a run's
//   steps take, as predicted (3); a run has 5 timed steps at least and 61 at most.
// A GPU's rates are steady, so that one calibration stands before all runs and counts; a second one
// after them says by how much predictions would have been others. A Setup with experts is predicted
// by the routing that its run had. What does not fit into memory, or needs more GPUs than there
// are, is skipped; where a Setup fails, the others still run, and the status is 1.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/text/units.h"
#include "engine/predict/compare.h"
#include "engine/predict/rehearsal.h"
#include "engine/run/gpu/calibration.h"
#include "engine/run/gpu/module/module.h"
#include "engine/run/train/run.h"
#include "tests/bench/accuracy.h"
#include "tests/bench/gpu/gpu_accuracy_rows.h"

namespace {

using namespace parallelarium;

constexpr int kNoGpu = 77;
constexpr int kWarmup = 3, kLeastSteps = 5, kMostSteps = 61;
constexpr double kGoalAlone = 0.1, kGoalShared = 0.2, kGoalMemory = 0.02, kGoalHost = 0.03;
constexpr double kLeastArenas = 1 << 30;  // below, what a context holds outweighs all else

struct Options {
  std::string only;
  std::vector<int> tables;  // none: all
  bool ops = false;
  double seconds = 3;
};

// What the second calibration predicts again.
struct Predicted {
  std::string settings;
  Setup setup;
  std::optional<Routing> routing;
  double seconds = 0;
};

struct Bench {
  Options options;
  int gpus = 0;
  Machine machine;
  std::vector<Predicted> predictions;
  int failed = 0;
};

struct Outcome {
  Prediction prediction;
  Observation seen;
  double error() const { return prediction.step.seconds / seen.step.seconds - 1; }
};

constexpr const char* kSkipped = "skipped";

// Errors: kSkipped, or why it failed.
Result<Outcome> outcome_of(const std::string& settings, const Bench& bench) {
  Result<Setup> setup = setup_from(settings);
  if (!setup) return setup.error();
  setup->run.backend = Backend::kCuda;
  setup->run.warmup = kWarmup;
  const int ranks = setup->mesh.ranks();
  if (setup->run.devices == "all" && ranks > bench.gpus)
    return message("skipped.ranks", "{} ranks want a GPU each; GPUs here: {}.", ranks, bench.gpus);
  const Result<BackendChoice> choice = choose_backend(*setup);
  if (!choice) return choice.error();
  Result<Prediction> predicted = predict(*setup, bench.machine, true);
  if (!predicted) return predicted.error();
  if (!predicted->fits())
    return message("skipped.memory", "It needs {} of the GPU's {}.",
                   bytes_text(static_cast<double>(predicted->needed_bytes)),
                   bytes_text(static_cast<double>(predicted->capacity_bytes)));
  const double steps = bench.options.seconds / predicted->step.seconds - kWarmup;
  setup->run.steps = static_cast<int>(std::clamp<double>(steps, kLeastSteps, kMostSteps));
  RunControl control;
  control.modelled = modelled_durations(*predicted);
  control.abandon = [&](const Message& why) {
    fmt::print("{}: {} Its ranks do not end, and so the program does.\n", settings, why.text);
    std::fflush(stdout);
    std::_Exit(1);
  };
  Result<RunResult> result = run(*setup, predicted->program, *choice, control);
  if (!result) return result.error();
  if (const Routing* routing = routing_of_timeline(result->observation); routing != nullptr)
    predicted = predict(*setup, bench.machine, true, routing);
  if (!predicted) return predicted.error();
  return Outcome{std::move(*predicted), std::move(result->observation)};
}

// Nothing where `settings` are not asked for, are skipped or fail, which is printed and counted.
std::optional<Outcome> attempt(const std::string& settings, Bench& bench) {
  if (settings.find(bench.options.only) == std::string::npos) return {};
  Result<Outcome> outcome = outcome_of(settings, bench);
  if (!outcome) {
    const bool skipped = outcome.error().kind == kSkipped;
    bench.failed += skipped ? 0 : 1;
    fmt::print("{:92} {}: {}\n", settings, skipped ? kSkipped : "FAILED", outcome.error().text);
    std::fflush(stdout);
    return {};
  }
  Predicted& kept = bench.predictions.emplace_back();
  kept = {settings, outcome->prediction.setup, {}, outcome->prediction.step.seconds};
  if (const Routing* routing = routing_of_timeline(outcome->seen); routing != nullptr)
    kept.routing = *routing;
  return std::move(*outcome);
}

void print_times(const char* name, const std::vector<std::string>& cases, double goal,
                 Bench& bench) {
  std::vector<double> errors;
  for (const std::string& settings : cases) {
    const std::optional<Outcome> outcome = attempt(settings, bench);
    if (!outcome) continue;
    errors.push_back(std::abs(outcome->error()));
    const StepFigures& step = outcome->seen.step;
    fmt::print("{:92} {:8.2f} ms predicted {:8.2f} ms observed ({:.2f} to {:.2f}) {:+6.1f} %\n",
               settings, outcome->prediction.step.seconds * 1e3, step.seconds * 1e3,
               step.seconds_min * 1e3, step.seconds_max * 1e3, outcome->error() * 100);
    if (bench.options.ops) {
      Pieces pieces;
      add_pieces(pieces, outcome->prediction, outcome->seen, 1);
      print_pieces(pieces);
    }
    std::fflush(stdout);
  }
  if (!errors.empty()) fmt::print("{}; goal {:.0f} %\n\n", errors_text(name, errors), goal * 100);
}

void print_shared(Bench& bench) {
  std::vector<std::string> cases;
  for (const std::string settings : kDense) {
    const Result<Setup> setup = setup_from(settings);
    if (setup && setup->mesh.ranks() == 2) cases.push_back(settings + " devices=0");
  }
  for (const std::string settings : kShared) cases.push_back(settings + " devices=0");
  print_times("all ranks on one GPU", cases, kGoalShared, bench);
}

void print_memory(Bench& bench) {
  std::vector<double> shares;
  for (const std::string settings : kMemory) {
    const std::optional<Outcome> outcome = attempt(settings, bench);
    if (!outcome) continue;
    fmt::print("{}\n", settings);
    if (outcome->seen.gpu_memory.empty()) {
      ++bench.failed;
      fmt::print("  FAILED: The run says nothing of the memory of its GPUs.\n");
    }
    for (const GpuMemory& gpu : outcome->seen.gpu_memory) {
      const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
      const double share = static_cast<double>(gpu.unexplained_bytes()) /
                           static_cast<double>(std::max<std::int64_t>(gpu.driver_bytes, 1));
      const bool counts = static_cast<double>(gpu.arena_bytes) > kLeastArenas;
      if (counts) shares.push_back(std::abs(share));
      fmt::print(
          "  GPU {}: {:.1f} MiB by the driver: arenas {:.1f}, workspaces {:.1f}, communicators "
          "{:.1f}, contexts {:.1f}, unexplained {:.1f} ({:+.2f} %){}\n",
          gpu.gpu, mib(gpu.driver_bytes), mib(gpu.arena_bytes), mib(gpu.workspace_bytes),
          mib(gpu.communicator_bytes), mib(gpu.context_bytes), mib(gpu.unexplained_bytes()),
          share * 100, counts ? "" : ", not counted: arenas below 1 GiB");
    }
    std::fflush(stdout);
  }
  if (shares.empty()) return;
  fmt::print(
      "memory: {} times above 1 GiB, median |unexplained| {:.2f} %, worst {:.2f} %; goal {:.0f} "
      "%\n\n",
      shares.size(), median(shares) * 100, *std::max_element(shares.begin(), shares.end()) * 100,
      kGoalMemory * 100);
}

void print_host(Bench& bench) {
  double worst = -1;  // none yet
  for (const int sequences : {1, 4, 8, 16}) {
    const std::string settings = fmt::format(
        "model=gpt2-124m pp=1 microbatches=1 micro-batch={} precision=mixed-16 attention=fused",
        sequences);
    const std::optional<Outcome> outcome = attempt(settings, bench);
    if (!outcome) continue;
    const Observation& seen = outcome->seen;
    // The run itself knows a peak only where a calibration has been stored.
    const StepFigures step = step_figures(outcome->prediction.program, seen.timeline,
                                          outcome->prediction.setup, bench.machine);
    const double share = seen.host_seconds / seen.step.seconds;
    worst = std::max(worst, share);
    fmt::print(
        "{:92} {:8.2f} ms a step, waited for its host {:5.2f} %, {:8.2f} ms by the host's clock "
        "({:+.1f} %), {:.0f} tokens/s, MFU {:.1f} %\n",
        settings, seen.step.seconds * 1e3, share * 100, seen.wall_seconds * 1e3,
        (seen.wall_seconds / seen.step.seconds - 1) * 100, step.tokens_per_second, step.mfu * 100);
    std::fflush(stdout);
  }
  if (worst < 0) return;
  fmt::print("host: worst {:.2f} % of a step; goal {:.0f} %. MFU is of {}, {}.\n\n", worst * 100,
             kGoalHost * 100, count_text(bench.machine.half_flops_per_second.value, "FLOP/s"),
             text_of(bench.machine.half_flops_per_second.origin));
}

// Prints what it took and found; ends the program where it fails.
Machine calibrated() {
  const auto begin = std::chrono::steady_clock::now();
  Result<Machine> machine = calibrate_gpus({});
  if (!machine) {
    fmt::print("{}\n", machine.error().text);
    std::exit(1);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{} calibrated in {:.1f} s: {} fp32, {} 16 bit, {} copied, {} an op\n", machine->title,
             took.count(), count_text(machine->fp32_flops_per_second.value, "FLOP/s"),
             count_text(machine->half_flops_per_second.value, "FLOP/s"),
             count_text(machine->memory_bytes_per_second.value, "B/s"),
             seconds_text(machine->launch_seconds.value));
  std::fflush(stdout);
  return std::move(*machine);
}

void print_change(const Bench& bench) {
  if (bench.predictions.empty()) return;
  const Machine machine = calibrated();
  double largest = 0;
  std::string where = bench.predictions.front().settings;
  for (const Predicted& before : bench.predictions) {
    const Result<Prediction> after =
        predict(before.setup, machine, true, before.routing ? &*before.routing : nullptr);
    if (!after) continue;
    const double change = after->step.seconds / before.seconds - 1;
    if (std::abs(change) <= std::abs(largest)) continue;
    largest = change;
    where = before.settings;
  }
  fmt::print("It changes predictions by {:+.1f} % at most: {}\n", largest * 100, where);
}

// Nothing where they cannot be understood.
std::optional<Options> options_of(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(arguments[i], name) == 0; };
    if (is("--ops")) {
      options.ops = true;
    } else if (i + 1 == count) {
      return {};
    } else if (is("--only")) {
      options.only = arguments[++i];
    } else if (is("--table")) {
      const int table = std::atoi(arguments[++i]);
      if (table < 1 || table > 4) return {};
      options.tables.push_back(table);
    } else if (is("--seconds")) {
      options.seconds = std::atof(arguments[++i]);
    } else {
      return {};
    }
  }
  if (!(options.seconds > 0)) return {};
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  const std::optional<Options> options = options_of(count, arguments);
  if (!options) {
    fmt::print("Usage: {} [--only TEXT] [--table N]... [--ops] [--seconds S]\n", arguments[0]);
    return 1;
  }
  prepare_for_gpus();
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  if (!gpus) {
    fmt::print("{}\n", gpus.error().text);
    return kNoGpu;
  }
  Bench bench;
  bench.options = *options;
  bench.gpus = static_cast<int>(gpus->size());
  bench.machine = calibrated();
  const auto wanted = [&tables = options->tables](int table) {
    return tables.empty() || std::find(tables.begin(), tables.end(), table) != tables.end();
  };
  if (wanted(1))
    print_times("a GPU for each rank", {std::begin(kAlone), std::end(kAlone)}, kGoalAlone, bench);
  if (wanted(2)) print_shared(bench);
  if (wanted(3)) print_memory(bench);
  if (wanted(4)) print_host(bench);
  print_change(bench);
  if (bench.failed > 0) fmt::print("Setups that failed: {}\n", bench.failed);
  return bench.failed > 0 ? 1 : 0;
}
