// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cores.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>

#include <utility>

namespace parallelarium {

namespace {

Core units_of(hwloc_const_bitmap_t set) {
  Core units;
  for (int unit = hwloc_bitmap_first(set); unit >= 0; unit = hwloc_bitmap_next(set, unit))
    units.push_back(unit);
  return units;
}

}  // namespace

std::vector<Core> available_cores() {
  std::vector<Core> cores;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return {Core{}};
  hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  if (allowed != nullptr && hwloc_topology_load(topology) == 0 &&
      hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
    const int all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; i < all; ++i) {
      const hwloc_obj_t core =
          hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
      hwloc_bitmap_t mine = hwloc_bitmap_dup(core->cpuset);
      if (mine == nullptr) continue;
      hwloc_bitmap_and(mine, mine, allowed);
      if (Core units = units_of(mine); !units.empty()) cores.push_back(std::move(units));
      hwloc_bitmap_free(mine);
    }
    if (cores.empty())
      for (const int unit : units_of(allowed)) cores.push_back({unit});
  }
  hwloc_bitmap_free(allowed);
  hwloc_topology_destroy(topology);
  if (cores.empty()) cores.push_back({});
  return cores;
}

void stay_on(const Core& core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int unit : core)
    if (unit < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(unit), &set);
  if (CPU_COUNT(&set) > 0) pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace parallelarium
