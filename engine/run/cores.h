// SPDX-License-Identifier: Apache-2.0
// The physical cores that this process may use, and threads that stay on one of them.
#pragma once

#include <vector>

namespace parallelarium {

// Numbers of the processing units of one core that this process may use, ascending.
using Core = std::vector<int>;

// By hwloc; at least one core. Where a virtual machine shows processing units and no cores, each is
// one.
std::vector<Core> available_cores();

// Keeps the calling thread on a core: two threads that wait for each other awake on the same one
// while another is idle lose a time slice of the system, milliseconds, with each message. Without
// effect where the system refuses.
void stay_on(const Core& core);

}  // namespace parallelarium
