// SPDX-License-Identifier: Apache-2.0
// The tensors of one op as matrices.
#pragma once

#include <vector>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

// Of `op` of the built rank `built`, which stands for the rank at `at` of the mesh.
std::vector<LayerTensor> layer_tensors(const Setup& setup, const Shape& shape,
                                       const RankProgram& built, const Op& op,
                                       const Coordinates& at);

}  // namespace parallelarium
