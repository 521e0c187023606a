// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cores.h"

#include <pthread.h>
#include <sched.h>

namespace parallelarium {

void stay_on(const Core& core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int unit : core)
    if (unit < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(unit), &set);
  if (CPU_COUNT(&set) > 0) pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace parallelarium
