// SPDX-License-Identifier: Apache-2.0
// The tensors of one op as matrices.
#pragma once

#include <vector>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

// Returns tensors_of() `op` of the built rank `built`. It stands for the rank at `at` of the mesh,
// so the tensors are those of that rank.
std::vector<OpTensor> op_tensors_at(const Setup& setup, const Shape& shape,
                                    const RankProgram& built, const Op& op, const Coordinates& at);

// The same as matrices. Copies of a mere part, which no axis tells, are left to layer_steps().
std::vector<LayerTensor> layer_tensors(const Setup& setup, const Shape& shape,
                                       const RankProgram& built, const Op& op,
                                       const Coordinates& at);

}  // namespace parallelarium
