// SPDX-License-Identifier: Apache-2.0
// The table of unpaced accuracy on this computer, for Setups with at most as many ranks as cores:
// for each it calibrates (a virtual machine's rates change by half within minutes), predicts and
// runs. A Setup with experts is predicted by the routing that its run had. Usage: unpaced_bench
// [--only TEXT] [--ops] [--rounds R]
//   --only TEXT: Setups whose settings contain TEXT; --ops: with times by piece;
//   --rounds R: calibrates, predicts and runs each R times in turns; the median of its signed
//   errors counts, and the output says so.
// A round in which the hypervisor gave more than a fiftieth of the cores' time to other machines,
// as /proc/stat counts it, says nothing of this one: it is repeated, four times at most, whatever
// its error.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "engine/run/cores.h"
#include "tests/ranks/harness.h"

namespace {

using namespace parallelarium;

// Settings as on the command line, beside those of the default Setup.
const char* const kDense[] = {
    "pp=1 microbatches=4",
    "pp=1 microbatches=2 micro-batch=4",
    "pp=2 microbatches=4",
    "pp=2 microbatches=8 micro-batch=2 schedule=gpipe",
    "pp=2 microbatches=4 schedule=naive",
    "pp=2 microbatches=8 schedule=interleaved chunks=2",
    "pp=2 microbatches=8 schedule=zb-h1",
    "pp=2 microbatches=8 schedule=zb-v",
    "pp=2 microbatches=4 recompute=full",
    "pp=2 microbatches=4 attention=fused",
    "pp=1 dp=2 microbatches=4",
    "pp=1 dp=2 microbatches=2 micro-batch=4 schedule=gpipe",
    "pp=1 dp=2 microbatches=4 zero=1",
    "pp=1 dp=2 microbatches=4 zero=2",
    "pp=1 dp=2 microbatches=4 zero=3",
    "pp=1 tp=2 microbatches=4",
    "pp=1 tp=2 sequence-parallel=true microbatches=4",
    "pp=1 tp=2 microbatches=2 micro-batch=4",
    "pp=1 cp=2 microbatches=4 attention=fused",
    "pp=1 cp=2 microbatches=4 context-parallel=ulysses",
    "model=gpt-small pp=1 microbatches=1",
    "model=gpt-small pp=2 microbatches=4",
    "model=gpt-small pp=2 microbatches=2 micro-batch=2 schedule=gpipe",
    "model=gpt-small pp=1 dp=2 microbatches=2",
    "model=gpt-small pp=1 dp=2 microbatches=2 zero=3",
    "model=gpt-small pp=1 tp=2 microbatches=2",
    "model=llama-tiny pp=1 microbatches=4",
    "model=llama-tiny pp=2 microbatches=4",
    "model=llama-tiny pp=1 tp=2 microbatches=4",
    "model=llama-tiny pp=1 dp=2 microbatches=4 zero=2",
};
const char* const kExperts[] = {
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0.25",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0.5",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=0.75",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 skew=1",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=1 micro-batch=4 skew=0.5",
    "model=moe-tiny capacity=0 pp=1 dp=2 ep=2 microbatches=2 router=sigmoid skew=0.5",
};

constexpr double kMostStolen = 0.02;
constexpr int kAttempts = 5;

Setup setup_of(const std::string& settings) {
  Setup setup = default_setup();
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const Result<void> set = set_field(setup, word.substr(0, equals), word.substr(equals + 1));
    if (!set) {
      fmt::print("{}: {}\n", settings, set.error().text);
      std::exit(1);
    }
  }
  setup.run.backend = Backend::kCpu;
  setup.run.warmup = 3;
  setup.run.steps = 31;
  return setup;
}

// Predicted and observed microseconds by piece and phase, added over ranks and rounds.
using Pieces = std::map<std::string, std::pair<double, double>>;

void add_pieces(Pieces& pieces, const Prediction& predicted, const Observation& seen) {
  for (std::size_t rank = 0; rank < predicted.program.ranks.size(); ++rank) {
    for (std::size_t i = 0; i < predicted.program.ranks[rank].ops.size(); ++i) {
      const Op& op = predicted.program.ranks[rank].ops[i];
      auto& [one, other] =
          pieces[fmt::format("{} {} {}", name_of(op.kind), name_of(op.piece), name_of(op.phase))];
      const auto length = [&](const Timeline& timeline) {
        const Span& span = timeline.ranks[rank].spans[i];
        return static_cast<double>((span.end - span.begin).count()) * 1e-3;
      };
      one += length(predicted.timeline);
      other += length(seen.timeline);
    }
  }
}

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

struct Round {
  Prediction predicted;
  Observation seen;
  double stolen = 0;  // the more of calibration and run
  double error() const { return predicted.step.seconds / seen.step.seconds - 1; }
};

Round round_of(const std::string& settings) {
  const Setup setup = setup_of(settings);
  const auto stop = [&](const Message& why) {
    fmt::print("{}: {}\n", settings, why.text);
    std::exit(1);
  };
  const Stolen calibrating;
  const Result<Machine> machine = calibrate({});
  const double stolen = calibrating.share();
  if (!machine) stop(machine.error());
  Result<Prediction> predicted = predict(setup, *machine, true);
  if (!predicted) stop(predicted.error());
  const Stolen running;
  const Result<RunResult> run = run_now(setup, predicted->program);
  if (!run) stop(run.error());
  Round round{{}, run->observation, std::max(stolen, running.share())};
  if (const Routing* routing = routing_of_timeline(round.seen))
    predicted = predict(setup, *machine, true, routing);
  if (!predicted) stop(predicted.error());
  round.predicted = std::move(*predicted);
  fmt::print(
      "{:72} {:8.2f} ms predicted {:8.2f} ms observed ({:.2f} to {:.2f}) {:+6.1f} %{}\n", settings,
      round.predicted.step.seconds * 1e3, round.seen.step.seconds * 1e3,
      round.seen.step.seconds_min * 1e3, round.seen.step.seconds_max * 1e3, round.error() * 100,
      round.stolen > kMostStolen ? fmt::format(", {:.1f} % stolen", round.stolen * 100) : "");
  std::fflush(stdout);
  return round;
}

// The prediction's relative error in one round of calibration, prediction and run: the least
// disturbed where all are.
double error_of(const std::string& settings, Pieces& pieces) {
  std::optional<Round> least;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Round round = round_of(settings);
    if (!least || round.stolen < least->stolen) least = std::move(round);
    if (least->stolen <= kMostStolen) break;
  }
  add_pieces(pieces, least->predicted, least->seen);
  return least->error();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

template <std::size_t count>
void print_table(const char* name, const char* const (&cases)[count], const std::string& only,
                 bool ops, int rounds) {
  std::vector<double> errors;
  for (const std::string settings : cases) {
    const int ranks = setup_of(settings).mesh.ranks();
    if (ranks > static_cast<int>(available_cores().size()) ||
        settings.find(only) == std::string::npos)
      continue;
    Pieces pieces;
    std::vector<double> signed_errors;
    for (int round = 0; round < rounds; ++round)
      signed_errors.push_back(error_of(settings, pieces));
    errors.push_back(std::abs(median(signed_errors)));
    if (rounds > 1)
      fmt::print("{:72} median of {} rounds {:+6.1f} %\n", settings, rounds,
                 median(signed_errors) * 100);
    for (const auto& [piece, times] : pieces) {
      if (ops)
        fmt::print("  {:40} {:9.1f} us predicted {:9.1f} us observed {:+6.1f} %\n", piece,
                   times.first, times.second, (times.first / times.second - 1) * 100);
    }
    std::fflush(stdout);
  }
  if (errors.empty()) return;
  fmt::print("{}: {} Setups, median |error| {:.1f} %, worst {:.1f} %", name, errors.size(),
             median(errors) * 100, *std::max_element(errors.begin(), errors.end()) * 100);
  if (rounds > 1) fmt::print(", of the median of {} rounds of each Setup", rounds);
  fmt::print("\n\n");
}

}  // namespace

int main(int count, char** arguments) {
  std::string only;
  bool ops = false;
  int rounds = 1;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--ops") == 0) ops = true;
    if (std::strcmp(arguments[i], "--only") == 0 && i + 1 < count) only = arguments[++i];
    if (std::strcmp(arguments[i], "--rounds") == 0 && i + 1 < count)
      rounds = std::max(1, std::atoi(arguments[++i]));
  }
  print_table("without experts", kDense, only, ops, rounds);
  print_table("with experts", kExperts, only, ops, rounds);
  return 0;
}
