// SPDX-License-Identifier: Apache-2.0
// What context parallelism establishes, checked on the tensors that a run had: gathered keys and
// values are those of all ranks, a ring brings every rank the others', Ulysses' all-to-all turns
// tokens into heads and loses no element, and the outputs of all ranks together are one rank's.
#pragma once

#include <vector>

#include "engine/plan/layer/layer_steps.h"
#include "engine/run/train/probe/probe_identity.h"

namespace parallelarium {

// Tells the identities of one layer, micro-batch and direction in the training step `step`, in the
// order of the layer, as far as their pieces were probed. See identities_of() for the rest.
std::vector<ProbedIdentity> context_identities(const LayerSteps& layer, int step,
                                               const std::vector<ProbedRank>& probes,
                                               const std::vector<ProbedRank>& one_rank);

}  // namespace parallelarium
