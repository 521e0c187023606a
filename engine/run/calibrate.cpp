// SPDX-License-Identifier: Apache-2.0
// Measures this computer with as many ranks busy as there are cores, so that shared caches, memory
// and clock rates are as in a run. Never uses the run that it will be compared with.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <thread>
#include <tuple>

#include "engine/run/bench.h"
#include "engine/run/cpu/fabric.h"
#include "engine/run/executor.h"
#include "engine/run/launch.h"

namespace parallelarium {

namespace {

constexpr auto kProductBudget = std::chrono::milliseconds{3000};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A hand-made Program: every rank has the same held buffer and small additions as Compute ops.
class ProbeProgram {
 public:
  ProbeProgram(int ranks, std::int64_t bytes) {
    program_.world = ranks;
    program_.shape.B = program_.shape.T = 1;
    program_.shape.C = 16;
    Group group{Axis::kWorld, {}};
    for (int r = 0; r < ranks; ++r) group.ranks.push_back(r);
    program_.groups = {group};
    program_.ranks.resize(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) {
      RankProgram& rank = program_.ranks[static_cast<std::size_t>(r)];
      rank.rank = r;
      Buffer buffer;
      buffer.bytes = rank.arena_bytes = std::max<std::int64_t>(bytes, 64);
      buffer.offset = 0;
      rank.buffers = {buffer};
    }
  }

  // One op of 16 additions, in lane order; `after` is the rank's op before it when that is of
  // another lane.
  void compute(int rank) {
    Op op;
    op.piece = Piece::kResidual1;
    add(rank, op,
        {{0, Access::kRead, DataType::kF32, -1, 0, 16},
         {0, Access::kRead, DataType::kF32, -1, 0, 16},
         {0, Access::kWrite, DataType::kF32, -1, 0, 16}});
  }
  void transfer(int from, int to, std::int64_t bytes) {
    for (const bool send : {true, false}) {
      Op op;
      op.kind = send ? OpKind::kSend : OpKind::kRecv;
      op.lane = Lane::kPipeline;
      op.piece = Piece::kTransfer;
      op.peer = send ? to : from;
      op.group = 0;
      op.bytes = bytes;
      const Access access = send ? Access::kRead : Access::kWrite;
      add(send ? from : to, op, {{0, access, DataType::kF32, -1, 0, bytes / 4}});
    }
  }
  const Program& program() const { return program_; }

 private:
  void add(int rank_index, Op op, const std::vector<Operand>& operands) {
    RankProgram& rank = program_.ranks[static_cast<std::size_t>(rank_index)];
    op.operand_first = static_cast<std::int32_t>(rank.operands.size());
    op.operand_count = static_cast<std::int32_t>(operands.size());
    rank.operands.insert(rank.operands.end(), operands.begin(), operands.end());
    op.after_first = static_cast<std::int32_t>(rank.after.size());
    if (!rank.ops.empty() && rank.ops.back().lane != op.lane) {
      rank.after.push_back(static_cast<std::int32_t>(rank.ops.size()) - 1);
      op.after_count = 1;
    }
    rank.ops.push_back(op);
  }

  Program program_;
};

// Runs the program `repeats` times on rank threads; the seconds of each step on rank 0.
std::vector<double> step_seconds(const Program& program, int repeats, Stop& stop) {
  CpuFabric fabric(program.world, program.groups, stop);
  std::vector<double> seconds;
  std::vector<std::thread> threads;
  for (const RankProgram& rank : program.ranks) {
    threads.emplace_back([&] {
      LaneDevices devices;
      for (std::unique_ptr<Device>& device : devices) device = make_cpu_device();
      Result<std::unique_ptr<Arena>> arena = Arena::make(*devices[0], rank, false);
      if (!arena) {
        stop.raise(arena.error());
        return;
      }
      const std::unique_ptr<Transport> transport = fabric.transport(rank.rank);
      RankProgress progress;
      Executor executor(program, rank, *transport, devices, **arena, stop, progress, {});
      for (int i = 0; i < repeats; ++i) {
        const Result<TimePoint> start = transport->barrier();
        StepRecord record;
        if (!start || !executor.step(*start, {}, record)) break;
        if (rank.rank != 0) continue;
        Nanoseconds begin = Nanoseconds::max(), end{0};
        for (const Span& span : record.spans) {
          begin = std::min(begin, span.begin);
          end = std::max(end, span.end);
        }
        seconds.push_back(std::chrono::duration<double>(end - begin).count());
      }
      // Nobody frees its arena while another may still copy from it.
      static_cast<void>(transport->barrier());
    });
  }
  for (std::thread& thread : threads) thread.join();
  return seconds;
}

// Fixed cost of one op: a step of many small ones on every core.
double launch_seconds(int cores, Stop& stop) {
  constexpr int kOps = 1000;
  ProbeProgram probe(cores, 64);
  for (int rank = 0; rank < cores; ++rank) {
    for (int i = 0; i < kOps; ++i) probe.compute(rank);
  }
  return median(step_seconds(probe.program(), 15, stop)) / kOps;
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
  // The lower quartile: another process on the computer can only add time.
  std::vector<double> steps = step_seconds(probe.program(), 15, stop);
  if (steps.empty()) return 0;
  const auto quartile = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 4);
  std::nth_element(steps.begin(), quartile, steps.end());
  return std::max(*quartile / (2 * kRounds) - launch, 1e-9);
}

struct Measured {
  std::vector<ProductTime> products;
  std::vector<KernelTime> kernels;
  double copy = 0;
};

// The same list on every core at once.
std::vector<Measured> measure_on_cores(int cores, Stop& stop) {
  std::vector<Measured> measured(static_cast<std::size_t>(cores));
  std::vector<std::thread> threads;
  for (Measured& mine : measured) {
    threads.emplace_back([&mine, &stop] {
      const std::unique_ptr<Device> device = make_cpu_device();
      mine.kernels = measure_kernels(*device, stop);
      mine.copy = measure_copy(*device);
      mine.products = measure_products(*device, Clock::now() + kProductBudget, stop);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return measured;
}

// Points of equal shape (a forward and an input gradient may have one) are averaged in time; each
// time is the mean over the cores.
std::vector<MatmulPoint> points_of(const std::vector<Measured>& measured,
                                   const std::string& origin) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<double>> seconds;
  for (const Measured& core : measured) {
    for (const ProductTime& time : core.products) {
      seconds[{time.m, time.n, time.k}].push_back(time.seconds);
    }
  }
  std::vector<MatmulPoint> points;
  for (const auto& [shape, times] : seconds) {
    double sum = 0;
    for (const double time : times) sum += time;
    const auto [m, n, k] = shape;
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    points.push_back({m, n, k, {flops * static_cast<double>(times.size()) / sum, origin}});
  }
  return points;
}

// One rate for each kernel: the geometric mean over sizes and cores.
std::vector<KernelRate> rates_of(const std::vector<Measured>& measured, const std::string& origin) {
  std::vector<KernelRate> rates;
  std::map<std::string, std::pair<double, int>> logs;
  for (const Measured& core : measured) {
    for (const KernelTime& time : core.kernels) {
      auto& [sum, count] = logs[time.kernel];
      sum += std::log(time.elements / time.seconds);
      ++count;
    }
  }
  for (const auto& [kernel, log] : logs) {
    rates.push_back({kernel, {std::exp(log.first / log.second), origin}});
  }
  return rates;
}

}  // namespace

Result<Machine> calibrate(const RunControl& control) {
  const int cores = available_cores();
  Stop stop;
  // Progress and cancel are the calling thread's; the work is another's.
  std::atomic<int> stage{0};
  std::atomic<bool> done{false};
  std::vector<Measured> measured;
  double launch = 0, latency = 0, large = 0;
  constexpr std::int64_t kSmall = 64, kLarge = 4'000'000;
  std::thread work([&] {
    measured = measure_on_cores(cores, stop);
    stage = 1;
    launch = launch_seconds(cores, stop);
    stage = 2;
    latency = message_seconds(kSmall, launch, cores, stop);
    large = message_seconds(kLarge, launch, cores, stop);
    done = true;
  });
  const char* const names[] = {"matrix products and kernels", "the cost of an op",
                               "messages between ranks"};
  for (int reported = -1; !done;) {
    if (control.cancel != nullptr && control.cancel->load()) {
      stop.raise(message("cancelled", "The calibration was cancelled."));
    }
    if (const int now = stage; now != reported && control.progress) {
      reported = now;
      control.progress(now == 0 ? 0 : 0.6 + 0.2 * now, names[now]);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  work.join();
  if (stop.raised()) return stop.why();

  Machine machine = uncalibrated_local_machine();
  const std::string origin = "measured on this computer on " + today();
  machine.matmuls = points_of(measured, origin);
  machine.kernels = rates_of(measured, origin);
  if (machine.matmuls.empty() || machine.kernels.empty()) {
    return message("calibration-empty", "The calibration measured nothing; run it again.");
  }
  double best = 0;
  std::vector<double> rates, copies;
  for (const MatmulPoint& point : machine.matmuls) {
    best = std::max(best, point.flops_per_second.value);
    rates.push_back(point.flops_per_second.value);
  }
  for (const Measured& core : measured) copies.push_back(core.copy);
  machine.fp32_flops_per_second = {best, origin + " (best matrix product)"};
  machine.half_flops_per_second = {best,
                                   "assumed: the rate of fp32, in which the engine computes here"};
  machine.matmul_efficiency = {median(rates) / best, origin};
  machine.memory_bytes_per_second = {median(copies), origin};
  machine.launch_seconds = {launch, origin};
  machine.intra_node.latency_seconds = {latency, origin};
  // A message is at least one copy, however much the small one was held up.
  const double transfer = std::max(large - latency, static_cast<double>(kLarge) / median(copies));
  machine.intra_node.bytes_per_second = {static_cast<double>(kLarge - kSmall) / transfer, origin};
  machine.inter_node = machine.intra_node;
  for (Sourced* number :
       {&machine.inter_node.latency_seconds, &machine.inter_node.bytes_per_second})
    number->origin = "assumed: as within this computer, which is the only node";
  machine.lanes_share_core = true;
  machine.cores = cores;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  machine.calibrated = today() + " on " + host;
  if (control.progress) control.progress(1, "done");
  return machine;
}

}  // namespace parallelarium
