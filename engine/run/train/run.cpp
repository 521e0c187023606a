// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/run.h"

#include "engine/run/gpu/extra_memory.h"
#include "engine/run/gpu/module/module.h"
#include "engine/run/gpu/nccl/nccl_launch.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "engine/run/net/socket_transport.h"
#include "engine/run/train/launch.h"

namespace parallelarium {

namespace {

constexpr int kMostStretches = 4;  // that are tried, each larger than the one before

// A rehearsal whose second step shows that its real work needs more stretch begins again with that.
Result<RunResult> launch_with_room(const Setup& setup, const Program& program,
                                   const BackendChoice& choice, RunControl control,
                                   const RunWishes& wishes, const LaunchOptions& options) {
  for (int tried = 1;; ++tried) {
    Result<RunResult> result = launch(setup, program, choice, control, wishes, options);
    const bool is_short = !result && result.error().kind == "stretch-short";
    if (!is_short || tried == kMostStretches) return result;
    control.stretch = std::stod(result.error().alternatives.front());
  }
}

}  // namespace

Result<LaunchOptions> launch_options(const BackendChoice& choice, std::size_t ranks, World* world) {
  LaunchOptions options;
  options.world = world;
  if (world != nullptr) {
    options.transport = "TCP between processes";
    options.make_transport = [world](TransportParts parts) {
      return make_socket_transport(*world, parts.program, parts.stop);
    };
  }
  if (choice.backend != Backend::kCuda) return options;
  const Result<CudaModule*> module = cuda_module();
  if (!module) return module.error();
  options.make_device = [cuda = *module, gpus = choice.gpus](int rank, Lane lane) {
    return cuda->make_device(gpus[static_cast<std::size_t>(rank)], rank, lane);
  };
  options.gpus = choice.gpus;
  options.gpu_bytes = [cuda = *module](int gpu) { return cuda->bytes(gpu); };
  // Ranks on one GPU meet in its memory.
  const bool together = world == nullptr && (ranks == 1 || choice.source == Source::kSharedGpu);
  if (Result<std::vector<GpuFacts>> facts = (*module)->gpus()) {
    options.gpu_extra = [facts = std::move(*facts), gpus = choice.gpus, together](
                            const Program& program, const RankProgram& rank) {
      const int gpu = gpus[static_cast<std::size_t>(rank.rank)];
      return extra_memory(program, rank, facts[static_cast<std::size_t>(gpu)], !together).sum();
    };
  }
  if (together) {
    options.transport = "memory of one GPU";
    return options;
  }
  const Result<Nccl*> nccl = (*module)->nccl();
  if (!nccl) return nccl.error();
  options.nccl = *nccl;
  options.transport = "NCCL " + nccl_version_text((*nccl)->version());
  options.make_transport =
      world != nullptr ? nccl_between_processes(**nccl, *world) : nccl_between_threads(**nccl);
  return options;
}

Result<void> can_slow(const Setup& setup, const BackendChoice& choice) {
  if (setup.run.slow_rank.factor == 1 || choice.backend != Backend::kCuda) return {};
  Message why = message("slow-rank-gpu",
                        "A GPU cannot be slowed down: let the backend be the cores or a rehearsal "
                        "on them, or the slow factor 1.");
  why.field = "run.backend";
  why.alternatives = {"cpu", "paced"};
  return why;
}

Result<RunResult> run(const Setup& setup, const Program& program, const BackendChoice& choice,
                      const RunControl& control, const RunWishes& wishes, World* world) {
  const Result<LaunchOptions> options = launch_options(choice, program.ranks.size(), world);
  if (!options) return options.error();
  Nccl* const nccl = options->nccl;
  if (nccl != nullptr) static_cast<void>(nccl->take_choices());  // of runs and calibrations before
  Result<RunResult> result = launch_with_room(setup, program, choice, control, wishes, *options);
  if (!result || nccl == nullptr) return result;
  result->observation.choices = nccl->take_choices();
  result->observation.transport =
      nccl_text(nccl->version(), (*cuda_module())->versions().driver, plan_splits(program).size());
  return result;
}

}  // namespace parallelarium
