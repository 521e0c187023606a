// SPDX-License-Identifier: Apache-2.0
// Threads that stay on one core.
#pragma once

#include "engine/plan/machine/cores.h"

namespace parallelarium {

// Keeps the calling thread on a core: two threads that wait for each other awake on the same one
// while another is idle lose a time slice of the system, milliseconds, with each message. Without
// effect where the system refuses.
void stay_on(const Core& core);

}  // namespace parallelarium
