// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement/resolve.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

#include "engine/plan/placement/cores.h"

namespace parallelarium {

namespace {

// Whether CP works through keys block by block, which keeps no scores and runs as fused attention.
bool is_by_blocks(const Setup& setup) {
  return setup.mesh.cp > 1 && (setup.context_parallel == ContextParallel::kRing ||
                               setup.context_parallel == ContextParallel::kAllGather);
}

Setup filled(Setup setup, bool gpus, bool bf16, Backend backend) {
  if (is_auto(setup.precision))
    setup.precision = *find_precision(gpus && bf16 ? "mixed-16-main-grads" : "fp32");
  if (setup.attention == Attention::kAuto)
    setup.attention = gpus || is_by_blocks(setup) ? Attention::kFused : Attention::kUnfused;
  if (setup.run.backend == Backend::kAuto) setup.run.backend = backend;
  if (setup.run.stretch == kAutoStretch) setup.run.stretch = kAnyStretch;
  return setup;
}

bool asks_for_gpus(const Setup& setup) { return setup.run.backend == Backend::kCuda; }

std::vector<std::string> names_of(const Computer& computer) {
  std::vector<std::string> names;
  for (const ComputerGpu& gpu : computer.gpus) names.push_back(gpu.name);
  return names;
}

// Where the ranks would be if nothing kept them from it: the prediction of a Setup that cannot run
// here is of what it asks for.
Placement wished(const Setup& asked, const Computer& computer) {
  Placement placement;
  placement.backend = asks_for_gpus(asked) ? Backend::kCuda : Backend::kCpu;
  if (asked.run.backend == Backend::kPaced ||
      (asked.run.backend == Backend::kAuto && asked.mesh.ranks() > computer.cores)) {
    placement.backend = Backend::kPaced;
    placement.source = Source::kPaced;
  }
  return placement;
}

}  // namespace

bool is_resolved(const Setup& setup) {
  return !is_auto(setup.precision) && setup.attention != Attention::kAuto &&
         setup.run.backend != Backend::kAuto;
}

Setup resolve(Setup setup, const Placement& placement) {
  // Ranks take GPUs in their order unless the Setup names others. Processes take one each.
  std::vector<int> in_order(placement.gpus.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  const std::set<int> distinct(placement.gpus.begin(), placement.gpus.end());
  if (setup.run.devices == "all" && placement.gpus != in_order &&
      distinct.size() == placement.gpus.size())
    setup.run.devices = fmt::format("{}", fmt::join(placement.gpus, ","));
  return filled(std::move(setup), placement.on_gpus(), placement.bf16, placement.backend);
}

Setup resolve(Setup setup, const Machine& machine) {
  const bool gpus = machine.cores == 0;
  const bool few = machine.cores < setup.mesh.ranks();
  // Asked for by name: GPUs that were never calibrated, on the Machine of the cores beside them.
  return filled(std::move(setup), gpus || asks_for_gpus(setup), machine.bf16,
                gpus  ? Backend::kCuda
                : few ? Backend::kPaced
                      : Backend::kCpu);
}

bool is_calibration_of(const Machine& gpus, const Placement& placement, const Computer& computer) {
  if (placement.gpus.empty()) return false;
  const std::vector<std::string> names = names_of(computer);
  const auto name_of_gpu = [&](int gpu) { return names[static_cast<std::size_t>(gpu)]; };
  // A process that sees its own GPU alone cannot tell how many there are: the name counts. So it
  // does for ranks on one GPU where one was measured, as where others failed their check.
  const std::set<int> taken(placement.gpus.begin(), placement.gpus.end());
  if (computer.launched || (gpus.devices_per_node == 1 && taken.size() == 1))
    return is_among(gpus, name_of_gpu(placement.gpus.front()));
  const std::vector<int> measured = calibrated_among(gpus, names);
  std::set<std::string> kinds, wanted;
  for (const int gpu : measured) kinds.insert(name_of_gpu(gpu));
  for (const int gpu : placement.gpus) {
    if (std::find(measured.begin(), measured.end(), gpu) == measured.end()) return false;
    wanted.insert(name_of_gpu(gpu));
  }
  return kinds == wanted;  // rates are those of the slowest kind
}

Machine machine_for(const Placement& placement, const Computer& computer, const FindMachine& find) {
  if (placement.on_gpus()) {
    Result<Machine> gpus = find(kLocalGpus);
    if (gpus && (placement.gpus.empty() || is_calibration_of(*gpus, placement, computer))) {
      // The driver may be newer than the calibration.
      gpus->groups_take_turns = computer.groups_take_turns.value_or(gpus->groups_take_turns);
      return std::move(*gpus);
    }
  }
  Result<Machine> cores = find("local");
  return cores ? std::move(*cores) : uncalibrated_local_machine();
}

Result<Situation> situation_of(const Setup& asked, const Computer& computer,
                               const FindMachine& find) {
  Situation situation{asked, asked, {}, std::nullopt, std::nullopt};
  if (asked.machine != "local") {
    Result<Machine> machine = asked.machine.of(find(asked.machine.name()));
    if (!machine) return machine.error();
    situation.machine = std::move(*machine);
    situation.setup = resolve(asked, situation.machine);
    return situation;
  }
  Result<Placement> placed = place(asked.run, asked.mesh.ranks(), computer);
  if (!placed) situation.refusal = placed.error();
  const Placement placement = placed ? *placed : wished(asked, computer);
  situation.setup = resolve(asked, placement);
  situation.machine = machine_for(placement, computer, find);
  if (placed) situation.placement = std::move(*placed);
  return situation;
}

int gpus_for(const Situation& situation, const Computer& computer) {
  if (situation.machine.name == kLocalGpus) return situation.machine.devices_per_node;
  return situation.takes_gpus() ? most_gpu_ranks(computer) : 0;
}

Source expected_source(const Setup& setup, const Machine& machine) {
  if (!machine.local)
    return setup.run.backend == Backend::kPaced ? Source::kPaced : Source::kPredicted;
  if (machine.name == kLocalGpus)
    return ranks_share_gpu(setup, machine) ? Source::kSharedGpu : Source::kMeasured;
  assert(is_resolved(setup));
  const Backend backend = setup.run.backend;
  if (backend == Backend::kPaced) return Source::kPaced;
  const bool few = backend == Backend::kCpu && machine.cores < setup.mesh.ranks();
  return few ? Source::kOversubscribed : Source::kMeasured;
}

Computer computer_until_told(const FindMachine& find) {
  Computer computer;
  computer.cores = available_core_count();
  if (!has_nvidia_driver()) return computer;
  const Result<Machine> gpus = find(kLocalGpus);
  if (!gpus) return computer;
  const std::vector<std::string>& names = gpus->gpus;
  const bool alike =
      std::adjacent_find(names.begin(), names.end(), std::not_equal_to<>()) == names.end();
  if (names.empty() || !alike) return computer;
  ComputerGpu gpu;
  gpu.name = names.front();
  gpu.memory_bytes = static_cast<std::int64_t>(gpus->memory_bytes.value);
  gpu.bf16 = gpus->bf16;
  computer.gpus.assign(names.size(), gpu);
  return computer;
}

Setup kept_meaning(const Setup& asked, const Setup& there, const Setup& here) {
  Setup kept = asked;
  if (is_auto(asked.precision) && there.precision != here.precision)
    kept.precision = there.precision;
  if (asked.attention == Attention::kAuto && there.attention != here.attention)
    kept.attention = there.attention;
  if (asked.run.backend == Backend::kAuto && there.run.backend != here.run.backend)
    kept.run.backend = there.run.backend;
  return kept;
}

}  // namespace parallelarium
