// SPDX-License-Identifier: Apache-2.0
// Tells which piece made what a collective of a layer sends, and which piece uses what the
// collective leaves. Often both pieces belong to the layer and to the same direction. There are
// three exceptions. The gradient of a layer's output comes from the layer behind it, maybe from
// another stage. The first layer uses what the embedding leaves. A weight gradient gathers once
// more the shards that the forward made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

struct LayerEnd {
  int rank = 0;        // index in Program::ranks
  int op = 0;          // index in that rank's ops
  std::string tensor;  // as OpTensor::name
};
struct LayerEnds {
  std::optional<LayerEnd> made_by, used_by;
};

// Returns the ends of a collective of TP that the layer has at `step`, or of a ring of TP that
// begins there, as the first of the layer's ranks sees them. Any other step has no ends.
LayerEnds ends_of(const Setup& setup, const Program& program, const LayerSteps& layer,
                  std::size_t step);

// A piece whose tensors say what a collective of the layer establishes.
struct LayerPiece {
  int layer = -1;  // -1: the piece is outside of the layers
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  bool operator==(const LayerPiece&) const = default;
};
// Returns the pieces beside the layer's collectives, each once. Some belong to other layers or to
// the other direction.
std::vector<LayerPiece> pieces_beside(const Setup& setup, const Program& program,
                                      const LayerSteps& layer);

}  // namespace parallelarium
