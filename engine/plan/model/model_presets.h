// SPDX-License-Identifier: Apache-2.0
// Looks for presets without a copy of each, since every changed setting of a model asks.
#pragma once

#include "engine/plan/model/model.h"

namespace parallelarium {

// The first preset, in the order of model_names(), that has this shape: all but its name, title and
// sources. Null if there is none.
const Model* preset_of_shape(const Model& shape);
// The first preset that has this shape but for the length of its sequences. Null if there is none.
const Model* preset_at_any_sequence(const Model& shape);

}  // namespace parallelarium
