// SPDX-License-Identifier: Apache-2.0
// Initial values of the parameters: a function of (seed, parameter, layer) alone, so every mesh
// starts from the same model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/program.h"

namespace parallelarium {

// The values of one whole parameter with `count` elements.
//
// Weights and tables are normal with deviation 0.02; projection and MLP out, which end on the
// residual stream, with 0.02 / sqrt(2 layers); gains are 1 and biases 0. The same bits on every
// computer. Source: Radford et al. 2019 (GPT-2), section 2.3, as in nanoGPT.
std::vector<float> initial_values(std::uint64_t seed, Parameter parameter, int layer,
                                  std::int64_t count, int layers);

// Whether AdamW's weight decay applies: matrices and tables, not gains and biases.
bool decays(Parameter parameter);

// "layer 3 MLP in weight", layers counted from 0; "token table".
std::string describe(Parameter parameter, int layer);

}  // namespace parallelarium
