// SPDX-License-Identifier: Apache-2.0
#include <hwloc.h>

#include <algorithm>

#include "engine/run/gpu/module.h"
#include "engine/run/launch.h"

namespace parallelarium {

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

Result<BackendChoice> choose_backend(const Setup& setup) {
  if (Result<void> can = can_execute(setup); !can) return can.error();
  const int ranks = setup.mesh.ranks(), cores = available_cores();
  const auto counted = [](int count, const char* one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  };
  const std::string where = counted(ranks, "rank") + " on " + counted(cores, "core");
  const auto choice = [&](Backend backend, Source source) {
    return BackendChoice{backend, source, message("backend", "{}: {}", where, name_of(source))};
  };
  switch (setup.run.backend) {
    case Backend::kCuda: {
      const Result<std::vector<GpuFacts>> gpus = usable_gpus();
      if (!gpus) {
        Message why = gpus.error();
        why.field = "run.backend";
        why.alternatives = {"auto", "cpu", "paced"};
        return why;
      }
      const Source source = ranks == 1 ? Source::kMeasured : Source::kSharedGpu;
      return BackendChoice{Backend::kCuda, source,
                           message("backend", "{} on {}: {}", counted(ranks, "rank"),
                                   gpus->front().name, name_of(source))};
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
