// SPDX-License-Identifier: Apache-2.0
// The tensors of one op as matrices.
#pragma once

#include <vector>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

// tensors_of() `op` of the built rank `built`, as the rank at `at` of the mesh, for which it
// stands, has them.
std::vector<OpTensor> op_tensors_at(const Setup& setup, const Shape& shape,
                                    const RankProgram& built, const Op& op, const Coordinates& at);

// Of `op` of the built rank `built`, which stands for the rank at `at` of the mesh. Copies
// of a part alone, which no axis tells, are left to layer_steps().
std::vector<LayerTensor> layer_tensors(const Setup& setup, const Shape& shape,
                                       const RankProgram& built, const Op& op,
                                       const Coordinates& at);

}  // namespace parallelarium
