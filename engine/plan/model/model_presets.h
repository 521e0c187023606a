// SPDX-License-Identifier: Apache-2.0
// Presets that are looked for without a copy of each: every changed setting of a model asks.
#pragma once

#include "engine/plan/model/model.h"

namespace parallelarium {

// The first preset, in the order of model_names(), whose shape is this: all but its name, title and
// sources. Null if there is none.
const Model* preset_of_shape(const Model& shape);
// The first whose shape is this but for the length of its sequences. Null if there is none.
const Model* preset_at_any_sequence(const Model& shape);

}  // namespace parallelarium
