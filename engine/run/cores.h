// SPDX-License-Identifier: Apache-2.0
// Binds threads to cores.
#pragma once

#include "engine/plan/placement/cores.h"

namespace parallelarium {

// Keeps the calling thread on a core. Two threads that wait for each other awake on one core, while
// another is idle, lose a time slice of the system (milliseconds) with each message. Has no effect
// if the system refuses.
void stay_on(const Core& core);

}  // namespace parallelarium
