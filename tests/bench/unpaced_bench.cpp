// SPDX-License-Identifier: Apache-2.0
// The table of unpaced accuracy on this computer, for Setups with at most as many ranks as cores.
// A virtual machine's rates change by half within minutes, so each run stands between two
// calibrations, and the mean of what both predict counts. A Setup with experts is predicted by the
// routing that its run had. Usage: unpaced_bench [--only TEXT] [--ops]
//   --only TEXT: Setups whose settings contain TEXT; --ops: with times by piece.
// A round says nothing of predictions where the hypervisor gave more than a fiftieth of the cores'
// time to other machines, as /proc/stat counts it, or where the two calibrations predict more than
// a tenth apart: it is repeated, twice at most, whatever its error. The least disturbed counts
// where all are, and the last line says how many.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "engine/run/cores.h"
#include "tests/bench/accuracy.h"
#include "tests/ranks/harness.h"

namespace {

using namespace parallelarium;

// Settings as on the command line, beside those of the default Setup, as kDense.
const char* const kExperts[] = {
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0.25",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0.5",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0.75",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=1",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=1 micro-batch=4 skew=0.5",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 router=sigmoid skew=0.5",
};

constexpr double kMostStolen = 0.02, kMostApart = 0.1;
constexpr int kAttempts = 3;
constexpr double kRunSeconds = 3;

// Share of all processors' time that the hypervisor gave to other machines since it was made.
class Stolen {
 public:
  Stolen() : begin_(now()) {}
  double share() const {
    const auto [stolen, all] = now();
    return all > begin_.second ? (stolen - begin_.first) / (all - begin_.second) : 0;
  }

 private:
  static std::pair<double, double> now() {
    std::ifstream file("/proc/stat");
    std::string word;
    file >> word;  // "cpu", then user nice system idle iowait irq softirq steal
    double stolen = 0, all = 0, time = 0;
    for (int column = 0; column < 8 && file >> time; ++column) {
      all += time;
      if (column == 7) stolen = time;
    }
    return {stolen, all};
  }
  std::pair<double, double> begin_;
};

[[noreturn]] void stop(const std::string& settings, const Message& why) {
  fmt::print("{}: {}\n", settings, why.text);
  std::exit(1);
}

Setup setup_of(const std::string& settings) {
  Result<Setup> setup = setup_from(settings);
  if (!setup) stop(settings, setup.error());
  setup->run.backend = Backend::kCpu;
  setup->run.warmup = 3;
  return std::move(*setup);
}

struct Calibration {
  Machine machine;
  double stolen = 0;
};

Calibration calibrated(const std::string& settings) {
  const Stolen stolen;
  Result<Machine> machine = calibrate({});
  if (!machine) stop(settings, machine.error());
  return {std::move(*machine), stolen.share()};
}

struct Round {
  Prediction before, after;
  Observation seen;
  double stolen = 0;  // the most of calibrations and run
  double predicted() const { return (before.step.seconds + after.step.seconds) / 2; }
  double error() const { return predicted() / seen.step.seconds - 1; }
  double apart() const { return std::abs(after.step.seconds / before.step.seconds - 1); }
  // More than 1: too much.
  double disturbance() const { return std::max(stolen / kMostStolen, apart() / kMostApart); }
};

// Begins with the calibration that ended the round before, and leaves its own last one.
Round round_of(const std::string& settings, std::optional<Calibration>& last) {
  Setup setup = setup_of(settings);
  const auto prediction = [&](const Calibration& by, const Routing* routing) {
    Result<Prediction> predicted = predict(setup, by.machine, true, routing);
    if (!predicted) stop(settings, predicted.error());
    return std::move(*predicted);
  };
  const Calibration before = last ? std::move(*last) : calibrated(settings);
  Round round;
  round.before = prediction(before, nullptr);
  setup.run.steps = std::clamp(static_cast<int>(kRunSeconds / round.before.step.seconds), 11, 61);
  const Stolen running;
  const Result<RunResult> run = run_now(setup, round.before.program);
  if (!run) stop(settings, run.error());
  round.stolen = std::max(before.stolen, running.share());
  round.seen = run->observation;
  last = calibrated(settings);
  round.stolen = std::max(round.stolen, last->stolen);
  const Routing* routing = routing_of_timeline(round.seen);
  if (routing != nullptr) round.before = prediction(before, routing);
  round.after = prediction(*last, routing);
  fmt::print(
      "{:72} {:8.2f} ms predicted ({:.2f}, {:.2f}) {:8.2f} ms observed ({:.2f} to {:.2f}) {:+6.1f} "
      "%{}{}\n",
      settings, round.predicted() * 1e3, round.before.step.seconds * 1e3,
      round.after.step.seconds * 1e3, round.seen.step.seconds * 1e3,
      round.seen.step.seconds_min * 1e3, round.seen.step.seconds_max * 1e3, round.error() * 100,
      round.stolen > kMostStolen ? fmt::format(", {:.1f} % stolen", round.stolen * 100) : "",
      round.apart() > kMostApart ? fmt::format(", {:.0f} % apart", round.apart() * 100) : "");
  std::fflush(stdout);
  return round;
}

Round least_disturbed(const std::string& settings, std::optional<Calibration>& last) {
  std::optional<Round> least;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Round round = round_of(settings, last);
    if (!least || round.disturbance() < least->disturbance()) least = std::move(round);
    if (least->disturbance() <= 1) break;
  }
  return std::move(*least);
}

template <std::size_t count>
void print_table(const char* name, const char* const (&cases)[count], const std::string& only,
                 bool ops) {
  std::vector<double> errors;
  int disturbed = 0;
  std::optional<Calibration> last;
  for (const std::string settings : cases) {
    const int ranks = setup_of(settings).mesh.ranks();
    if (ranks > static_cast<int>(available_cores().size()) ||
        settings.find(only) == std::string::npos)
      continue;
    const Round round = least_disturbed(settings, last);
    errors.push_back(std::abs(round.error()));
    disturbed += round.disturbance() > 1;
    Pieces pieces;
    add_pieces(pieces, round.before, round.seen, 0.5);
    add_pieces(pieces, round.after, round.seen, 0.5);
    if (ops) print_pieces(pieces);
    std::fflush(stdout);
  }
  if (errors.empty()) return;
  fmt::print("{}; {} only disturbed\n\n", errors_text(name, errors), disturbed);
}

}  // namespace

int main(int count, char** arguments) {
  std::string only;
  bool ops = false;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--ops") == 0) ops = true;
    if (std::strcmp(arguments[i], "--only") == 0 && i + 1 < count) only = arguments[++i];
  }
  print_table("without experts", kDense, only, ops);
  print_table("with experts", kExperts, only, ops);
  return 0;
}
