// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Whether every rank of a stage does the same at the same time, so that one stands for all: none is
// slow, experts have equally many tokens, and a group or a transfer leaves its node, and its leaf
// group of an oversubscribed network, with all replicas or with none.
bool ranks_are_alike(const Setup& setup, const Machine& machine);

}  // namespace parallelarium
