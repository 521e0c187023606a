// SPDX-License-Identifier: Apache-2.0
// Checks on a run's tensors what context parallelism must achieve. Gathered keys and values are
// those of all ranks. A ring brings every rank those of the others. Ulysses' all-to-all turns
// tokens into heads and loses no element. The outputs of all ranks together equal those of one
// rank.
#pragma once

#include <vector>

#include "engine/plan/layer/layer_steps.h"
#include "engine/run/train/probe/probe_identity.h"

namespace parallelarium {

// Returns the identities of one layer, micro-batch and direction in the training step `step`, in
// the order of the layer. It covers those whose pieces were probed. See identities_of() for the
// rest.
std::vector<ProbedIdentity> context_identities(const LayerSteps& layer, int step,
                                               const std::vector<ProbedRank>& probes,
                                               const std::vector<ProbedRank>& one_rank);

}  // namespace parallelarium
