// SPDX-License-Identifier: Apache-2.0
// Measures this computer with as many ranks busy as there are cores, so that shared caches, memory
// and clock rates are as in a run. Never uses the run that it will be compared with.
#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include "engine/run/calibrate/bench.h"
#include "engine/run/calibrate/bench_timing.h"
#include "engine/run/calibrate/collectives/collective_calibrate.h"
#include "engine/run/calibrate/collectives/collective_times.h"
#include "engine/run/calibrate/other_programs.h"
#include "engine/run/calibrate/probe_program.h"
#include "engine/run/cores.h"
#include "engine/run/train/launch.h"
#include "kernels/products/matmul.h"

namespace parallelarium {

namespace {

// The types of storage, round after round. Ranks on cores train in fp32 by default.
constexpr DataType kBenchRounds[] = {DataType::kF32, DataType::kBf16, DataType::kF32,
                                     DataType::kBf16, DataType::kF32};
constexpr auto kProductBudget = std::chrono::milliseconds{600};  // of a round
constexpr auto kLateCalibration =
    std::chrono::milliseconds{400};  // leaves 0.1 s of a cancel's half second

// Fixed cost of one op: a step of many small ones on every core.
double launch_seconds(int cores, Stop& stop) {
  constexpr int kOps = 1000;
  ProbeProgram probe(cores, 64);
  for (int rank = 0; rank < cores; ++rank) {
    for (int i = 0; i < kOps; ++i) probe.compute(rank);
  }
  return probe_seconds(run_probe(probe.program(), 15, stop), 0, 0, kOps - 1, 0.5) / kOps;
}

// Seconds from the end of an op on one rank to the beginning of the op on another rank that waits
// for its message of `bytes`, lanes woken on the way included. As many pairs of ranks as have two
// cores do the same at once, since the ranks of a run share the memory, too; one pair at least.
double message_seconds(std::int64_t bytes, double launch, int cores, Stop& stop) {
  constexpr int kRounds = 20;
  const int pairs = std::max(1, cores / 2);
  ProbeProgram probe(2 * pairs, bytes);
  for (int i = 0; i < kRounds; ++i) {
    for (int rank = 0; rank < 2 * pairs; rank += 2) {
      for (const int side : {0, 1}) {
        probe.compute(rank + side);
        probe.transfer(rank + side, rank + 1 - side, bytes);
      }
    }
  }
  const ProbeSpans spans = run_probe(probe.program(), 15, stop);
  if (spans.empty()) return 0;
  return std::max(probe_seconds(spans, 0, 0, probe.ops_of(0) - 1) / (2 * kRounds) - launch, 1e-9);
}

struct Measured {
  std::vector<ProductTime> products;
  std::vector<KernelTime> kernels;
  double copy = 0;
};

// The same list on every core at once, round after round: what a virtual machine's neighbours take
// for a moment then falls on one round of many measurements, not on all samples of one. After the
// first of a type every other core begins with the list's second half: cores that share caches or
// arithmetic units hold each other up least where they do different things, as often in a step.
std::vector<Measured> measure_on_cores(int cores, Stop& stop) {
  std::vector<Measured> measured(static_cast<std::size_t>(cores));
  std::vector<std::thread> threads;
  for (std::size_t core = 0; core < measured.size(); ++core) {
    threads.emplace_back([&mine = measured[core], core, &stop] {
      const std::unique_ptr<Device> device = make_cpu_device();
      std::vector<double> copies;
      for (std::size_t round = 0; round < std::size(kBenchRounds) && !stop.raised(); ++round) {
        const BenchSizes sizes = cpu_bench_sizes().in(kBenchRounds[round]);
        const auto products = [&] {
          append(mine.products,
                 measure_products(*device, sizes, Clock::now() + kProductBudget, stop));
        };
        const bool products_first = round > 1 && core % 2 == 1;
        if (products_first) products();
        append(mine.kernels, measure_kernels(*device, sizes, stop));
        copies.push_back(measure_copy(*device, sizes));
        if (!products_first) products();
      }
      mine.copy = median(copies);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return measured;
}

constexpr std::int64_t kSmall = 64, kLarge = 4'000'000;  // bytes of messages

struct Findings {
  std::vector<Measured> cores;
  double launch = 0, small_message = 0, large_message = 0;  // seconds
  std::vector<CollectiveTime> collectives;
  std::vector<TransferPoint> transfers;
};

constexpr Sentence kStages[] = {Sentence{"doing-products", "matrix products and kernels"},
                                Sentence{"doing-op", "the cost of an op"},
                                Sentence{"doing-messages", "messages and collectives of a step"},
                                Sentence{"doing-collectives", "collectives alone"}};

// What is under way stands in `stage`, an index of kStages.
Findings measure_all(int cores, const std::atomic<bool>* cancel, Stop& stop,
                     std::atomic<int>& stage) {
  Findings found;
  found.cores = measure_on_cores(cores, stop);
  stage = 1;
  found.launch = launch_seconds(cores, stop);
  stage = 2;
  found.small_message = message_seconds(kSmall, found.launch, cores, stop);
  found.large_message = message_seconds(kLarge, found.launch, cores, stop);
  for (const int ranks : std::set{2, cores}) {
    if (ranks < 2 || ranks > cores || stop.raised()) continue;
    append(found.collectives, measure_collectives(ranks, kSmall, kLarge, stop));
  }
  stage = 3;
  if (cores >= 2 && !stop.raised()) {
    Result<std::vector<TransferPoint>> points = measure_transfers(cores, cancel);
    if (points)
      found.transfers = std::move(*points);
    else
      stop.raise(points.error());
  }
  return found;
}

Result<Machine> machine_from(Findings found, int cores) {
  Machine machine = uncalibrated_local_machine();
  const Origin origin = measured_here(today());
  std::vector<ProductTime> products;
  std::vector<KernelTime> kernels;
  std::vector<double> copies;
  for (const Measured& core : found.cores) {
    append(products, core.products);
    append(kernels, core.kernels);
    copies.push_back(core.copy);
  }
  machine.matmuls = points_of(products, origin);
  machine.kernels = rates_of(kernels, origin);
  if (machine.matmuls.empty() || machine.kernels.empty())
    return message("calibration-empty", "The calibration measured nothing; run it again.");
  set_peaks(machine, origin);
  machine.memory_bytes_per_second = {median(copies), origin};
  machine.launch_seconds = {found.launch, origin};
  machine.intra_node.latency_seconds = {found.small_message, origin};
  // A message is at least one copy, however much the small one was held up.
  const double transfer = std::max(found.large_message - found.small_message,
                                   static_cast<double>(kLarge) / median(copies));
  machine.intra_node.bytes_per_second = {static_cast<double>(kLarge - kSmall) / transfer, origin};
  machine.collectives = rates_of(found.collectives, origin);
  machine.transfers = std::move(found.transfers);
  machine.inter_node = machine.intra_node;
  for (Sourced* number :
       {&machine.inter_node.latency_seconds, &machine.inter_node.bytes_per_second})
    number->origin = with_note({}, "origin-note-only-node");
  machine.lanes_share_core = true;
  machine.cores = cores;
  machine.bf16_products = bf16_products_here();
  machine.calibrated = today() + " on " + this_host();
  return machine;
}

}  // namespace

const char* bf16_products_here() { return matmul_takes_bf16() ? kNativeBf16 : kWidenedBf16; }

Result<Machine> calibrate(const RunControl& control) {
  const std::vector<Core> all_cores = available_cores();
  const auto cores = static_cast<int>(all_cores.size());
  const std::optional<CoreClocks> began = core_clocks(all_cores);
  Stop stop;
  // Progress and cancel are the calling thread's; the work is another's.
  std::atomic<int> stage{0};
  std::atomic<bool> done{false};
  Findings found;
  std::thread work([&] {
    found = measure_all(cores, control.cancel, stop, stage);
    done = true;
  });
  std::optional<TimePoint> cancelled;
  for (int reported = -1; !done;) {
    if (control.cancel != nullptr && control.cancel->load()) {
      if (!cancelled) cancelled = Clock::now();
      stop.raise(message("cancelled.calibration", "The calibration was cancelled."));
      // Where other work keeps the cores, a probe may be long in ending.
      if (control.abandon && Clock::now() - *cancelled > kLateCalibration)
        control.abandon(stop.why());
    }
    if (const int now = stage; now != reported && control.progress) {
      reported = now;
      control.progress(now == 0 ? 0 : 0.4 + 0.1 * now, message(kStages[now]));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  work.join();
  if (stop.raised()) return stop.why();
  Result<Machine> machine = machine_from(std::move(found), cores);
  const std::optional<CoreClocks> ended = core_clocks(all_cores);
  if (machine && began && ended)
    machine->cores_used_by_others = cores_used_by_others(*began, *ended);
  if (machine && control.progress) control.progress(1, message("doing-end", "done"));
  return machine;
}

}  // namespace parallelarium
