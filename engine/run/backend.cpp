// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "engine/plan/machine/machine.h"
#include "engine/run/cores.h"
#include "engine/run/gpu/check/check_memory.h"
#include "engine/run/gpu/module/module.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "engine/run/net/place.h"
#include "engine/run/train/launch.h"

namespace parallelarium {

namespace {

// GPUs that this process may see, without asking CUDA; 0: not known, as under WSL2.
std::ptrdiff_t visible_gpus(const char* chosen) {
  if (chosen != nullptr) return 1 + std::count(chosen, chosen + std::strlen(chosen), ',');
  std::error_code failed;
  const std::filesystem::directory_iterator found("/proc/driver/nvidia/gpus", failed);
  return failed ? 0 : std::distance(begin(found), end(found));
}

}  // namespace

void prepare_for_gpus() {
  // Streams beyond this number wait for one another as if they were one; three ranks that share a
  // GPU have nine.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  // So that a GPU has the number that nvidia-smi shows; else the fastest is number 0.
  // Source: CUDA programming guide, "CUDA Environment Variables".
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  // Else a kernel is loaded when it is first launched, which may wait until its GPU is idle and
  // keep the process from launching anything meanwhile; NCCL's kernel there may wait for just that
  // on another GPU. Source: CUDA programming guide, "Lazy Loading". Where the user says otherwise,
  // a run loads what it needs before its ranks connect (Executor::load).
  const Result<std::optional<ProcessPlace>> place = find_place(process_environment());
  const bool alone = place && place->has_value();  // with one GPU of its own
  if (!alone && visible_gpus(std::getenv("CUDA_VISIBLE_DEVICES")) != 1)
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

namespace {

ComputerGpu describe(const GpuFacts& facts) {
  ComputerGpu gpu;
  gpu.name = facts.name;
  gpu.uuid = facts.uuid;
  gpu.memory_bytes = facts.memory_bytes;
  gpu.bf16 = has_bf16_tensor_cores(facts);
  gpu.display = facts.ends_long_kernels;
  if (const Result<void> can = check_gpu(facts); !can) gpu.unusable = can.error();
  return gpu;
}

}  // namespace

void look_at_sets(const std::vector<GpuFacts>& gpus, Computer& computer) {
  const Result<CudaModule*> module = cuda_module();
  const Result<Nccl*> nccl = module ? (*module)->nccl() : Result<Nccl*>(module.error());
  const Result<void> meet = nccl ? check_nccl((*nccl)->version(), 1) : nccl.error();
  if (module) computer.groups_take_turns = !runs_groups_at_once((*module)->versions().driver);
  if (!meet)
    computer.gpus_apart = meet.error();
  else
    computer.apart = failed_sets(gpus, **module);
}

Computer computer_of(int cores, const Result<std::vector<GpuFacts>>& gpus) {
  Computer computer;
  computer.cores = cores;
  if (!gpus) computer.no_gpus = gpus.error();
  if (gpus)
    for (const GpuFacts& facts : *gpus) computer.gpus.push_back(describe(facts));
  return computer;
}

Computer computer_here(const RunSettings& run, int ranks, const ProcessPlace* place) {
  const int cores = available_core_count();
  // Loading CUDA's libraries costs time and memory, which a run without GPUs should not show.
  const bool asks =
      run.backend == Backend::kCuda || (run.backend == Backend::kAuto && has_nvidia_driver());
  Computer computer;
  computer.cores = cores;
  if (asks) {
    const Result<std::vector<GpuFacts>> gpus = usable_gpus();
    computer = computer_of(cores, gpus);
    if (gpus && gpus->size() > 1 && ranks > 1) look_at_sets(*gpus, computer);
  }
  computer.gpus_given = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
  if (place != nullptr)
    computer.launched =
        Launched{place->launcher, place->size, place->local_rank, place->local_size};
  return computer;
}

Result<Placement> choose_backend(const Setup& setup, const ProcessPlace* place) {
  if (Result<void> can = can_execute(setup); !can) return can.error();
  const int ranks = setup.mesh.ranks();
  return parallelarium::place(setup.run, ranks, computer_here(setup.run, ranks, place));
}

Result<Placement> choose_collective_backend(const RunSettings& run, int ranks) {
  return place(run, ranks, computer_here(run, ranks), Pacing::kNever);
}

}  // namespace parallelarium
