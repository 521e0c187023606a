// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <system_error>

#include "engine/plan/machine.h"
#include "engine/run/cores.h"
#include "engine/run/gpu/module.h"
#include "engine/run/gpu/nccl_rules.h"
#include "engine/run/launch.h"
#include "engine/run/net/place.h"

namespace parallelarium {

namespace {
std::string counted(int count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}
}  // namespace

Result<BackendChoice> choose_gpus(const Setup& setup, const std::vector<GpuFacts>& gpus,
                                  const ProcessPlace* place, bool given) {
  Result<std::vector<int>> devices = device_list(setup.run.devices);
  if (!devices) return devices.error();
  const auto refused = [](Message why, const char* field) {
    why.field = field;
    return why;
  };
  for (const int gpu : *devices) {
    if (gpu < static_cast<int>(gpus.size())) continue;
    return refused(
        message("devices-absent", "There is no GPU {}; this computer has {}.", gpu,
                gpus.size() == 1 ? "GPU 0 only" : fmt::format("GPUs 0 to {}", gpus.size() - 1)),
        "run.devices");
  }
  if (devices->empty()) {
    devices->resize(gpus.size());
    std::iota(devices->begin(), devices->end(), 0);
  }
  const int ranks = setup.mesh.ranks(), count = static_cast<int>(devices->size());
  // The processes of one host share its GPUs; each chooses for itself, unless its launcher has
  // chosen already, as with srun --gpus-per-task=1.
  const bool chosen = place != nullptr && given && gpus.size() == 1;
  const int here = chosen ? 1 : place != nullptr ? place->local_size : ranks;
  BackendChoice choice{Backend::kCuda, Source::kMeasured, {}, {}};
  if (here <= count) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int local = chosen ? 0 : place != nullptr ? place->local_rank : rank;
      choice.gpus.push_back((*devices)[static_cast<std::size_t>(local)]);
    }
  } else if (place != nullptr) {
    return refused(message("gpus-few",
                           "{} started {} processes on this host, which has {} for them; start one "
                           "for each GPU, or use --backend cpu.",
                           place->launcher, here, counted(count, "GPU")),
                   "run.devices");
  } else if (count == 1) {
    choice.source = Source::kSharedGpu;
    choice.gpus.assign(static_cast<std::size_t>(ranks), devices->front());
  } else {
    return refused(message("gpus-few",
                           "{} ranks are more than {} GPUs, and several ranks share one GPU only "
                           "alone; use --devices {} to put all on one, or {} ranks.",
                           ranks, count, devices->front(), count),
                   "run.devices");
  }
  const std::string& name = gpus[static_cast<std::size_t>(choice.gpus.front())].name;
  const bool several = (chosen || here > 1) && choice.source == Source::kMeasured;
  choice.why = message("backend", "{} on {}: {}", counted(ranks, "rank"),
                       several ? fmt::format("a {} each", name) : name, name_of(choice.source));
  return choice;
}

namespace {

// One process for each rank, on CPUs.
Result<BackendChoice> for_process(const Setup& setup, const ProcessPlace& place, int cores) {
  if (setup.run.backend == Backend::kPaced) {
    Message why =
        message("processes-paced",
                "Ranks in processes of their own run unpaced; use --backend cpu, or start "
                "the engine without {}.",
                place.launcher);
    why.field = "run.backend";
    why.alternatives = {"auto", "cpu"};
    return why;
  }
  const Source source = place.local_size <= cores ? Source::kMeasured : Source::kOversubscribed;
  return BackendChoice{
      Backend::kCpu,
      source,
      message("backend", "{}, each a process of {}, {} on {} here: {}", counted(place.size, "rank"),
              place.launcher, place.local_size, counted(cores, "core"), name_of(source)),
      {}};
}

// GPUs that this process may see, without asking CUDA; 0: not known.
std::ptrdiff_t visible_gpus(const char* chosen) {
  if (chosen != nullptr) return 1 + std::count(chosen, chosen + std::strlen(chosen), ',');
  std::error_code failed;
  const std::filesystem::directory_iterator found("/proc/driver/nvidia/gpus", failed);
  return failed ? 0 : std::distance(begin(found), end(found));
}

// GPUs for the ranks, if they can also meet.
Result<BackendChoice> on_gpus(const Setup& setup, const ProcessPlace* place,
                              const Computer& computer) {
  const Result<std::vector<GpuFacts>> gpus = computer.gpus();
  if (!gpus) return gpus.error();
  Result<BackendChoice> found = choose_gpus(setup, *gpus, place, computer.gpus_given);
  if (found) {
    for (const int gpu : found->gpus)
      if (const Result<void> can = check_gpu((*gpus)[static_cast<std::size_t>(gpu)]); !can)
        return can.error();
  }
  if (found && found->source == Source::kMeasured && setup.mesh.ranks() > 1) {
    if (const Result<void> nccl = computer.nccl(); !nccl) return nccl.error();
  }
  return found;
}

}  // namespace

void prepare_for_gpus() {
  // Streams beyond this number wait for one another as if they were one; three ranks that share a
  // GPU have nine.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  // Else a kernel is loaded when it is first launched, which may wait until its GPU is idle and
  // keep the process from launching anything meanwhile; NCCL's kernel there may wait for just that
  // on another GPU. Source: CUDA programming guide, "Lazy Loading".
  const Result<std::optional<ProcessPlace>> place = find_place(process_environment());
  const bool alone = place && place->has_value();  // with one GPU of its own
  if (!alone && visible_gpus(std::getenv("CUDA_VISIBLE_DEVICES")) > 1)
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

Computer computer_here() {
  const char* const chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto nccl = []() -> Result<void> {
    const Result<CudaModule*> module = cuda_module();
    if (!module) return module.error();
    const Result<Nccl*> found = (*module)->nccl();
    if (!found) return found.error();
    return check_nccl((*found)->version(), 1);
  };
  // Loading CUDA's libraries costs time and memory, which a run without GPUs should not show.
  return {static_cast<int>(available_cores().size()), has_nvidia_driver(), usable_gpus, nccl,
          chosen != nullptr};
}

namespace {

// `paces`: whether ranks without a core each may be paced.
Result<BackendChoice> choose(const Setup& setup, const ProcessPlace* place,
                             const Computer& computer, bool paces) {
  const int ranks = setup.mesh.ranks(), cores = computer.cores;
  const Backend wish = setup.run.backend;
  std::string not_on_gpus;  // why auto takes no GPUs, where there are some
  if (wish == Backend::kCuda || (wish == Backend::kAuto && computer.driver)) {
    Result<BackendChoice> found = on_gpus(setup, place, computer);
    const bool each = found && found->source == Source::kMeasured;
    if (each || (found && wish == Backend::kCuda)) return found;
    if (wish == Backend::kCuda) {
      Message why = found.error();
      if (why.field.empty()) {
        why.field = "run.backend";
        why.alternatives = {"auto", "cpu"};
        if (paces) why.alternatives.push_back("paced");
      }
      return why;
    }
    if (found) {
      not_on_gpus = " (all on the one GPU with --backend cuda)";
    } else if (found.error().id != "cuda-missing") {
      if (setup.run.devices != "all") return found;  // they were asked for by name
      const std::string& why = found.error().text;
      not_on_gpus = fmt::format(" (not on GPUs: {})", why.substr(0, why.size() - 1));
    }
  }
  if (place != nullptr) return for_process(setup, *place, cores);
  const auto choice = [&](Backend backend, Source source) {
    return BackendChoice{
        backend,
        source,
        message("backend", "{}: {}{}", counted(ranks, "rank") + " on " + counted(cores, "core"),
                name_of(source), not_on_gpus),
        {}};
  };
  if (paces && (wish == Backend::kPaced || (wish == Backend::kAuto && ranks > cores)))
    return choice(Backend::kPaced, Source::kPaced);
  return choice(Backend::kCpu, ranks <= cores ? Source::kMeasured : Source::kOversubscribed);
}

}  // namespace

Result<BackendChoice> choose_backend(const Setup& setup, const ProcessPlace* place) {
  return choose_backend(setup, place, computer_here());
}

Result<BackendChoice> choose_backend(const Setup& setup, const ProcessPlace* place,
                                     const Computer& computer) {
  if (Result<void> can = can_execute(setup); !can) return can.error();
  return choose(setup, place, computer, true);
}

Result<BackendChoice> choose_collective_backend(const RunSettings& run, int ranks,
                                                const Computer& computer) {
  if (run.backend == Backend::kPaced) {
    Message why = message("collective-paced",
                          "A collective alone runs at its own speed and is not paced; use "
                          "--backend auto, cpu or cuda.");
    why.field = "run.backend";
    why.alternatives = {"auto", "cpu", "cuda"};
    return why;
  }
  if (Result<std::vector<int>> devices = device_list(run.devices); !devices) return devices.error();
  Setup setup;  // of nothing but ranks
  setup.mesh = {};
  setup.mesh.dp = ranks;
  setup.run = run;
  return choose(setup, nullptr, computer, false);
}

}  // namespace parallelarium
