// SPDX-License-Identifier: Apache-2.0
// A layer of the predicted Program with what its ranks really send: the Program's exchanges of
// expert tokens are as large as even routing makes them, on every rank.
#pragma once

#include "engine/plan/layer/layer_steps.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// As layer_steps(), and where a skew or a capacity below 1 makes routing uneven each rank's own
// bytes of tokens and FLOPs of experts. Rows of tensors, and bytes that are kept, stay those of
// even routing.
LayerSteps predicted_layer(const Prediction& prediction, const LayerChoice& choice);

}  // namespace parallelarium
