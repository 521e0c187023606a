// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Whether every rank of a stage does the same at the same time, so that one can stand for all. This
// needs three things. No rank is slow. Experts have equally many tokens. A group or a transfer
// leaves its node, and its leaf group of an oversubscribed network, in all replicas or in none.
bool ranks_are_alike(const Setup& setup, const Machine& machine);

}  // namespace parallelarium
