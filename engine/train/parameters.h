// SPDX-License-Identifier: Apache-2.0
// Initial values of the parameters. They follow from (seed, parameter, layer) alone, so every mesh
// starts from the same model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// The values of one whole parameter with `count` elements.
//
// Weights and tables are normal with deviation 0.02; projection and MLP out, which end on the
// residual stream, have 0.02 / sqrt(2 layers). Gains are 1 and biases 0. Every computer gets the
// same bits. Source: Radford et al. 2019 (GPT-2), section 2.3, as in nanoGPT.
std::vector<float> initial_values(std::uint64_t seed, Parameter parameter, int layer,
                                  std::int64_t count, int layers);

// Where a rank's slice of a parameter stands in the whole one: `times` stretches of `length`
// elements; from one to the next it is `slice_step` in the slice and `whole_step` in the whole.
struct SliceStretches {
  std::int64_t slice = 0, whole = 0;  // where the first begins
  std::int64_t length = 0, times = 1;
  std::int64_t slice_step = 0, whole_step = 0;
};
// The slice of rank `index` of `tp` tensor-parallel ranks: columns of row-parallel weights, rows of
// column-parallel ones (heads; both halves of a gate), rows of the vocabulary's tables, and the
// whole of all others. If TP does not divide the vocabulary, slices of the last ranks are longer
// than their stretches, since their rows are padded. TP must divide heads and ffn, and it must
// divide the key/value heads or be a multiple of them. `layer` says whether the MLP is of shared
// experts; `share` says which experts the rank holds.
struct ExpertShare {
  int ranks = 1, rank = 0;  // of EP
  ExpertPlacement placement = ExpertPlacement::kBlocked;
  bool whole = false;  // TP does not cut them
};
std::vector<SliceStretches> slice_of(const Model& model, Parameter parameter, int tp, int index,
                                     int layer = -1, const ExpertShare& share = {});
// Elements of the whole parameter.
std::int64_t whole_count(const Model& model, Parameter parameter, int layer = -1);

// Whether AdamW's weight decay applies: to matrices and tables, not to gains and biases.
bool decays(Parameter parameter);

// "layer 3 MLP in weight", layers counted from 0; "token table".
Message describe(Parameter parameter, int layer);

}  // namespace parallelarium
