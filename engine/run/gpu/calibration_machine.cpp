// SPDX-License-Identifier: Apache-2.0
// From what was measured on GPUs to a Machine.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/run/gpu/calibration.h"

namespace parallelarium {

namespace {

// What a kernel's work takes beyond what every kernel takes. Where that is less than a share of its
// time it is noise, and the share stands for it: of kernels a small one, so that an op that does
// almost nothing costs what launch_seconds was measured with; of products more where the best rate
// of all becomes the GPU's peak.
constexpr double kLeast = 0.1, kLeastOfPeak = 0.5;
double without_launch(double seconds, double empty, double least) {
  return std::max(seconds - empty, seconds * least);
}

std::vector<PairLink> links_of(const std::vector<PairTime>& times, const Origin& origin) {
  std::map<std::pair<int, int>, std::vector<TimedBytes>> by_pair;
  for (const PairTime& time : times)
    by_pair[{time.from, time.to}].push_back({static_cast<double>(time.bytes), time.seconds});
  std::vector<PairLink> links;
  for (const auto& [pair, points] : by_pair)
    links.push_back({pair.first, pair.second, link_through(points, origin)});
  return links;
}

// The middle of what a call needs in all types and sizes.
std::vector<HostCall> host_calls_of(const GpuMeasurements& measured, const Origin& origin) {
  std::map<std::string, std::vector<double>> seconds;
  if (measured.empty.host_seconds > 0) seconds[kHostLaunch] = {measured.empty.host_seconds};
  if (measured.read_seconds > 0) seconds[kHostRead] = {measured.read_seconds};
  for (const KernelTime& time : measured.kernels)
    if (time.host_seconds > 0) seconds[time.kernel].push_back(time.host_seconds);
  for (const ProductTime& time : measured.products)
    if (time.host_seconds > 0)
      seconds[time.type == kFp8Product ? fmt::format("{} {}", kFp8Product, time.phase) : time.phase]
          .push_back(time.host_seconds);
  std::vector<HostCall> calls;
  for (auto& [call, of_call] : seconds) calls.push_back({call, {median(of_call), origin}});
  return calls;
}

}  // namespace

std::vector<int> gpus_to_measure(const std::vector<GpuFacts>& gpus,
                                 const std::vector<int>& chosen) {
  std::vector<int> all(gpus.size());
  std::iota(all.begin(), all.end(), 0);
  const bool alike = std::all_of(
      gpus.begin(), gpus.end(), [&](const GpuFacts& gpu) { return gpu.name == gpus.front().name; });
  if (alike || chosen.empty()) {
    std::erase_if(all, [&](int gpu) { return !check_gpu(gpus[static_cast<std::size_t>(gpu)]); });
    return all;
  }
  const std::set<int> each(chosen.begin(), chosen.end());
  return {each.begin(), each.end()};
}

Result<Machine> machine_of(const GpuMeasurements& measured, const std::string& date,
                           const std::string& host) {
  const Origin origin = measured_here(date);
  const bool mixed =
      std::any_of(measured.gpus.begin(), measured.gpus.end(),
                  [&](const GpuFacts& gpu) { return gpu.name != measured.gpus.front().name; });
  const Origin rates =
      mixed ? with_note(origin, "origin-note-slowest-kind", {measured.slowest}) : origin;
  Machine machine;
  machine.local = true;
  const auto products = [&](double least) {
    std::vector<ProductTime> times = measured.products;
    for (ProductTime& time : times)
      time.seconds = without_launch(time.seconds, measured.empty.seconds, least);
    std::vector<MatmulPoint> points = points_of(times, rates);
    std::erase_if(points,
                  [&](const MatmulPoint& point) { return !(point.flops_per_second.value > 0); });
    return points;
  };
  std::vector<KernelTime> kernels = measured.kernels;
  for (KernelTime& time : kernels)
    time.seconds = without_launch(time.seconds, measured.empty.seconds, kLeast);
  machine.matmuls = products(kLeastOfPeak);
  machine.kernels = rates_of(kernels, rates);
  std::erase_if(machine.kernels,
                [](const KernelRate& rate) { return !(rate.elements_per_second.value > 0); });
  if (measured.gpus.empty() || machine.matmuls.empty() || machine.kernels.empty() ||
      !(measured.copy_bytes_per_second > 0))
    return message("calibration-empty", "The calibration measured nothing; run it again.");

  std::vector<std::string> names;
  for (const GpuFacts& gpu : measured.gpus) names.push_back(gpu.name);
  set_gpus(machine, names);
  machine.devices_per_node = static_cast<int>(measured.gpus.size());
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();
  for (const GpuFacts& gpu : measured.gpus) memory = std::min(memory, gpu.memory_bytes);
  machine.memory_bytes = {static_cast<double>(memory), origin};
  machine.memory_bytes_per_second = {measured.copy_bytes_per_second, rates};
  set_peaks(machine, rates);
  machine.matmuls = products(kLeast);
  if (!measured.half_failure.empty())
    machine.half_flops_per_second.origin =
        with_note(with_note({}, "origin-note-rate-of-fp32"), "origin-note-bf16-failed",
                  {measured.half_failure});
  machine.launch_seconds = {measured.launch_seconds, origin};
  machine.host_seconds = {measured.host_seconds, origin};
  machine.host_calls = host_calls_of(measured, rates);
  machine.host_message_seconds = {measured.host_message_seconds, origin};
  machine.pairs = links_of(measured.pairs, origin);
  machine.collectives = rates_of(measured.collectives, origin);
  if (machine.pairs.empty()) {
    // Ranks that share the one GPU copy within its memory: read and written.
    machine.intra_node = {{0},
                          {measured.copy_bytes_per_second / 2, with_note({}, "origin-note-copy")}};
  } else {
    const auto slower = [](const PairLink& a, const PairLink& b) {
      return a.link.bytes_per_second.value < b.link.bytes_per_second.value;
    };
    machine.intra_node = std::min_element(machine.pairs.begin(), machine.pairs.end(), slower)->link;
    for (Sourced* number :
         {&machine.intra_node.latency_seconds, &machine.intra_node.bytes_per_second})
      number->origin = with_note(origin, "origin-note-slowest-pair");
  }
  machine.inter_node = machine.intra_node;
  for (Sourced* number :
       {&machine.inter_node.latency_seconds, &machine.inter_node.bytes_per_second})
    number->origin = with_note({}, "origin-note-only-node");
  machine.calibrated = date + " on " + host;
  return machine;
}

}  // namespace parallelarium
