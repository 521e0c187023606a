// SPDX-License-Identifier: Apache-2.0
#include <hwloc.h>

#include <algorithm>
#include <numeric>

#include "engine/run/gpu/module.h"
#include "engine/run/launch.h"
#include "engine/run/net/place.h"

namespace parallelarium {

namespace {
std::string counted(int count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}
}  // namespace

int available_cores() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return 1;
  int cores = 0;
  if (hwloc_topology_load(topology) == 0) {
    // Cores with at least one processing unit that this process may use.
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (allowed != nullptr && hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
      const int all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
      for (int i = 0; i < all; ++i) {
        const hwloc_obj_t core =
            hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        cores += hwloc_bitmap_intersects(core->cpuset, allowed);
      }
      // Some virtual machines show processing units and no cores.
      if (cores == 0) cores = hwloc_bitmap_weight(allowed);
    }
    hwloc_bitmap_free(allowed);
  }
  hwloc_topology_destroy(topology);
  return std::max(cores, 1);
}

Result<BackendChoice> choose_gpus(const Setup& setup, const std::vector<GpuFacts>& gpus,
                                  const ProcessPlace* place) {
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
  // The processes of one host share its GPUs; each chooses for itself.
  const int here = place != nullptr ? place->local_size : ranks;
  BackendChoice choice{Backend::kCuda, Source::kMeasured, {}, {}};
  if (here <= count) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int local = place != nullptr ? place->local_rank : rank;
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
  const bool several = here > 1 && choice.source == Source::kMeasured;
  choice.why = message("backend", "{} on {}: {}", counted(ranks, "rank"),
                       several ? fmt::format("a {} each", name) : name, name_of(choice.source));
  return choice;
}

namespace {

// One process for each rank, on CPUs.
Result<BackendChoice> for_process(const Setup& setup, const ProcessPlace& place) {
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
  const int cores = available_cores();
  const Source source = place.local_size <= cores ? Source::kMeasured : Source::kOversubscribed;
  return BackendChoice{
      Backend::kCpu,
      source,
      message("backend", "{}, each a process of {}, {} on {} here: {}", counted(place.size, "rank"),
              place.launcher, place.local_size, counted(cores, "core"), name_of(source)),
      {}};
}

}  // namespace

Result<BackendChoice> choose_backend(const Setup& setup, const ProcessPlace* place) {
  if (Result<void> can = can_execute(setup); !can) return can.error();
  if (place != nullptr && setup.run.backend != Backend::kCuda) return for_process(setup, *place);
  const int ranks = setup.mesh.ranks(), cores = available_cores();
  const std::string where = counted(ranks, "rank") + " on " + counted(cores, "core");
  const auto choice = [&](Backend backend, Source source) {
    return BackendChoice{backend, source, message("backend", "{}: {}", where, name_of(source)), {}};
  };
  switch (setup.run.backend) {
    case Backend::kCuda: {
      const Result<CudaModule*> module = cuda_module();
      const auto gpus = module ? (*module)->gpus() : Result<std::vector<GpuFacts>>(module.error());
      Result<BackendChoice> found =
          gpus ? choose_gpus(setup, *gpus, place) : Result<BackendChoice>(gpus.error());
      if (found && found->source == Source::kMeasured && ranks > 1) {
        if (const Result<Nccl*> nccl = (*module)->nccl(); !nccl) found = nccl.error();
      }
      if (found || !found.error().field.empty()) return found;
      Message why = found.error();
      why.field = "run.backend";
      why.alternatives = {"auto", "cpu", "paced"};
      return why;
    }
    case Backend::kPaced:
      return choice(Backend::kPaced, Source::kPaced);
    case Backend::kCpu:
      return choice(Backend::kCpu, ranks <= cores ? Source::kMeasured : Source::kOversubscribed);
    case Backend::kAuto:
      break;
  }
  return ranks <= cores ? choice(Backend::kCpu, Source::kMeasured)
                        : choice(Backend::kPaced, Source::kPaced);
}

}  // namespace parallelarium
