// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/calibration.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "engine/run/calibrate/probe_program.h"
#include "engine/run/gpu/check/check_memory.h"
#include "engine/run/gpu/nccl/nccl_launch.h"
#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {

namespace {

constexpr auto kWarmUp = std::chrono::milliseconds{500};
constexpr auto kGpuProductBudget = std::chrono::milliseconds{5000};
constexpr int kRepeats = 7;
constexpr auto kLateGpuCalibration = std::chrono::seconds{2};

// GPU r for rank r, through NCCL where there are several.
LaunchOptions options_of(const GpuRig& rig, int ranks) {
  LaunchOptions options;
  options.make_device = [&rig](int rank, Lane lane) { return rig.make_device(rank, rank, lane); };
  if (ranks > 1) options.make_transport = nccl_between_threads(*rig.nccl);
  return options;
}

// Seconds of an op that has nothing to do: behind a lead its device's, without one its host's. The
// least of several tries, since all predictions of small models stand on it and other work on a
// host comes in bursts (one that met such a burst on an H100 predicted small models 40 to 110 % too
// slow).
double launch_seconds(const GpuRig& rig, const ProbeLead& lead, Stop& stop) {
  constexpr int kTries = 5;
  constexpr auto kApart = std::chrono::milliseconds{60};
  constexpr int kBlocks = 10, kOps = 40;  // fewer than a host may be ahead
  ProbeProgram probe(1, std::max<std::int64_t>(lead.bytes, 64));
  std::vector<int> firsts;
  for (int block = 0; block < kBlocks; ++block) {
    probe.lead(0, lead);
    firsts.push_back(probe.ops_of(0));
    for (int i = 0; i < kOps; ++i) probe.compute(0);
  }
  double least = 0;
  for (int attempt = 0; attempt < kTries && !stop.raised(); ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kApart);
    const ProbeSpans spans = run_probe(probe.program(), kRepeats, stop, options_of(rig, 1));
    std::vector<double> seconds;
    for (const int first : firsts)
      seconds.push_back(probe_seconds(spans, 0, first, first + kOps - 1, 0.5) / kOps);
    const double typical = median(std::move(seconds));
    least = attempt == 0 ? typical : std::min(least, typical);
  }
  return least;
}

// Seconds of a collective of few bytes whose devices wait for their hosts: of two, whose devices
// need least for it.
double host_message_seconds(const GpuRig& rig, Stop& stop) {
  constexpr int kCalls = 30, ranks = 2;
  ProbeProgram probe(ranks, 1024);
  for (int call = 0; call < kCalls; ++call) probe.collective(CollectiveKind::kAllReduce, 64);
  return probe_seconds(
             run_probe(probe.program(), kRepeats, stop, options_of(rig, ranks), rig.limit_seconds),
             0, 0, kCalls - 1) /
         kCalls;
}

// All pairs in one Program, one after another: a pair's messages go back and forth, and before the
// next pair all ranks meet, so that nobody shares a link.
std::vector<PairTime> measure_pairs(const GpuRig& rig, double launch, Stop& stop) {
  constexpr int kRounds = 10;
  const auto count = static_cast<int>(rig.gpus.size());
  ProbeProgram probe(count, std::max(rig.large_bytes, rig.lead.bytes));
  struct Block {
    PairTime time;
    int first = 0, last = 0;  // ops of rank `from`
  };
  std::vector<Block> blocks;
  for (int from = 0; from < count; ++from) {
    for (int to = from + 1; to < count; ++to) {
      for (const std::int64_t bytes : {rig.small_bytes, rig.large_bytes}) {
        probe.collective(CollectiveKind::kAllReduce, 64);
        Block& block = blocks.emplace_back();
        block.time = {from, to, bytes, 0};
        for (const int rank : {from, to}) probe.lead(rank, rig.lead);
        block.first = probe.ops_of(from);
        for (int round = 0; round < kRounds; ++round) {
          probe.compute(from);
          probe.transfer(from, to, bytes);
          probe.compute(to);
          probe.transfer(to, from, bytes);
        }
        block.last = probe.ops_of(from) - 1;
      }
    }
  }
  const ProbeSpans spans =
      run_probe(probe.program(), kRepeats, stop, options_of(rig, count), rig.limit_seconds);
  std::vector<PairTime> times;
  for (const Block& block : blocks) {
    if (spans.empty()) break;
    PairTime time = block.time;
    const double both = probe_seconds(spans, time.from, block.first, block.last) / kRounds;
    time.seconds = std::max(both / 2 - launch, 1e-9);
    times.push_back(time);
    std::swap(time.from, time.to);  // the mean of both ways stands for each
    times.push_back(time);
  }
  return times;
}

// Seconds until a host has read a few bytes, as of experts how many rows each has.
double measure_read(Device& device) {
  constexpr int kReads = 20;
  const DeviceNumbers numbers(device, DataType::kF32, 16);
  if (!numbers.is_there()) return 0;
  float read[16];
  std::vector<double> seconds;
  for (int i = 0; i < kReads; ++i) {
    const TimePoint begin = Clock::now();
    device.copy_to_host(read, numbers.get().address(), sizeof read);
    if (!device.finish()) return 0;
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return median(std::move(seconds));
}

// The kernels of GPU `gpu` into `measured`.
Result<void> measure_kernels_of(const GpuRig& rig, int gpu, GpuMeasurements& measured, Stop& stop) {
  {
    const std::unique_ptr<Device> device = rig.make_device(gpu, 0, Lane::kCompute);
    // Clocks rise when there is work, and fall under much of it: first to where a step has them.
    static_cast<void>(measure_products(*device, rig.sizes, Clock::now() + kWarmUp, stop));
    measured.empty = measure_empty(*device);
    measured.read_seconds = measure_read(*device);
    measured.copy_bytes_per_second = measure_copy(*device, rig.sizes);
    measured.kernels = measure_kernels(*device, rig.sizes, stop);
    measured.products =
        measure_products(*device, rig.sizes, Clock::now() + kGpuProductBudget, stop);
    if (Result<void> state = device->finish(); !state || stop.raised()) return state;
  }
  // On a device of its own: a GPU that cannot do it keeps its fp32.
  const std::unique_ptr<Device> device = rig.make_device(gpu, 0, Lane::kCompute);
  const BenchSizes sizes = rig.sizes.in(DataType::kBf16);
  std::vector<KernelTime> kernels = measure_kernels(*device, sizes, stop);
  std::vector<ProductTime> products =
      measure_products(*device, sizes, Clock::now() + kGpuProductBudget, stop);
  if (const Result<void> half = device->finish(); half) {
    append(measured.kernels, std::move(kernels));
    append(measured.products, std::move(products));
  } else {
    measured.half_failure = half.error().text;
    return {};
  }
  // On one more, for the same reason: without FP8 a calibration is whole, and a Setup in FP8 says
  // that none was measured.
  if (!device->has_fp8()) return {};
  const std::unique_ptr<Device> eighths = rig.make_device(gpu, 0, Lane::kCompute);
  BenchSizes of_fp8 = sizes;
  of_fp8.fp8 = true;
  products = measure_products(*eighths, of_fp8, Clock::now() + kGpuProductBudget, stop);
  if (eighths->finish()) append(measured.products, std::move(products));
  return {};
}

// Whether a kind takes longer than another for what both have measured; without bf16 it does.
bool is_slower(const GpuMeasurements& kind, const GpuMeasurements& other) {
  if (kind.half_failure.empty() != other.half_failure.empty()) return !kind.half_failure.empty();
  double ours = 0, theirs = 0;
  const auto add = [&](const auto& times, const auto& others, const auto& what) {
    for (const auto& time : times)
      for (const auto& beside : others) {
        if (what(time) != what(beside)) continue;
        ours += time.seconds;
        theirs += beside.seconds;
      }
  };
  add(kind.kernels, other.kernels,
      [](const KernelTime& time) { return std::tie(time.kernel, time.type, time.elements); });
  add(kind.products, other.products, [](const ProductTime& time) {
    return std::tie(time.m, time.n, time.k, time.phase, time.type);
  });
  return ours > theirs;
}

// Equal GPUs are taken to be equally fast: one of each kind, and of the kinds the slowest.
Result<void> measure_kinds(const GpuRig& rig, GpuMeasurements& measured, Stop& stop) {
  std::set<std::string> known;
  for (std::size_t gpu = 0; gpu < rig.gpus.size() && !stop.raised(); ++gpu) {
    if (!known.insert(rig.gpus[gpu].name).second) continue;
    GpuMeasurements of_kind;
    const Result<void> state = measure_kernels_of(rig, static_cast<int>(gpu), of_kind, stop);
    if (!state) return state;
    if (known.size() > 1 && !is_slower(of_kind, measured)) continue;
    of_kind.gpus = std::move(measured.gpus);
    of_kind.slowest = rig.gpus[gpu].name;
    measured = std::move(of_kind);
  }
  return {};
}

}  // namespace

Result<GpuMeasurements> measure_gpus(const GpuRig& rig, const RunControl& control) {
  Stop stop;
  std::atomic<int> stage{0};
  std::atomic<bool> done{false};
  GpuMeasurements measured;
  measured.gpus = rig.gpus;
  const auto count = static_cast<int>(rig.gpus.size());
  Result<void> device_state;
  std::thread work([&] {
    device_state = measure_kinds(rig, measured, stop);
    stage = 1;
    if (device_state && !stop.raised()) {
      measured.launch_seconds = launch_seconds(rig, rig.lead, stop);
      measured.host_seconds = launch_seconds(rig, {}, stop);
    }
    stage = 2;
    if (device_state && count > 1 && rig.nccl != nullptr) {
      if (!stop.raised()) measured.pairs = measure_pairs(rig, measured.launch_seconds, stop);
      stage = 3;
      if (!stop.raised()) measured.host_message_seconds = host_message_seconds(rig, stop);
      for (const int ranks : std::set{2, count}) {
        if (stop.raised()) break;
        const std::vector<CollectiveTime> times =
            measure_collectives(ranks, rig.small_bytes, rig.large_bytes, stop,
                                options_of(rig, ranks), rig.lead, rig.limit_seconds);
        measured.collectives.insert(measured.collectives.end(), times.begin(), times.end());
      }
    }
    done = true;
  });
  const Sentence names[] = {Sentence{"doing-gpu-products", "matrix products and kernels of a GPU"},
                            Sentence{"doing-op", "the cost of an op"},
                            Sentence{"doing-gpu-messages", "messages between GPUs"},
                            Sentence{"doing-nccl", "collectives of NCCL"}};
  std::optional<TimePoint> stopped;
  for (int reported = -1; !done;) {
    if (control.cancel != nullptr && control.cancel->load())
      stop.raise(message("cancelled.calibration", "The calibration was cancelled."));
    if (stop.raised()) {
      if (!stopped) stopped = Clock::now();
      // A kernel cannot be interrupted, and an abort of NCCL may wait for one.
      if (control.abandon && Clock::now() - *stopped > kLateGpuCalibration)
        control.abandon(stop.why());
    }
    if (const int now = stage; now != reported && control.progress) {
      reported = now;
      control.progress(0.25 * now, message(names[now]));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  work.join();
  if (stop.raised()) return stop.why();
  if (!device_state) return device_state.error();
  if (control.progress) control.progress(1, message("doing-end", "done"));
  return measured;
}

Result<Machine> calibrate_gpus(const RunControl& control, const std::vector<int>& chosen) {
  const Result<CudaModule*> module = cuda_module();
  if (!module) return module.error();
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  if (!gpus) return gpus.error();
  GpuRig rig;
  std::vector<int> ids = gpus_to_measure(*gpus, chosen);
  if (ids.size() > 1) {
    std::vector<std::vector<int>> apart;
    for (const GpusApart& set : failed_sets(*gpus, **module)) apart.push_back(set.gpus);
    ids = that_meet(std::move(ids), apart);
  }
  if (ids.empty()) return check_gpu(gpus->front()).error();
  for (const int id : ids) {
    rig.gpus.push_back((*gpus)[static_cast<std::size_t>(id)]);
    if (const Result<void> can = check_gpu(rig.gpus.back()); !can) return can.error();
  }
  rig.make_device = [cuda = *module, &ids](int gpu, int rank, Lane lane) {
    return cuda->make_device(ids[static_cast<std::size_t>(gpu)], rank, lane);
  };
  if (ids.size() > 1) {
    // Without NCCL ranks cannot have a GPU each, so nothing between GPUs is ever predicted.
    if (const Result<Nccl*> nccl = (*module)->nccl()) rig.nccl = *nccl;
  }
  Result<GpuMeasurements> measured = measure_gpus(rig, control);
  if (!measured) return measured.error();
  for (PairTime& pair : measured->pairs)
    for (int* side : {&pair.from, &pair.to}) *side = ids[static_cast<std::size_t>(*side)];
  Result<Machine> machine = machine_of(*measured, today(), this_host());
  if (machine) machine->groups_take_turns = !runs_groups_at_once((*module)->versions().driver);
  return machine;
}

}  // namespace parallelarium
