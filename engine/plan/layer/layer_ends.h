// SPDX-License-Identifier: Apache-2.0
// Which piece made what a collective of a layer sends, and which piece uses what it leaves. Often
// both stand in the layer and its direction. But the gradient of a layer's output comes from the
// layer behind it, maybe from another stage; the first layer uses what the embedding leaves; and a
// weight gradient gathers once more the shards that the forward made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

struct LayerEnd {
  int rank = 0;        // as Program::ranks
  int op = 0;          // of that rank
  std::string tensor;  // as OpTensor::name
};
struct LayerEnds {
  std::optional<LayerEnd> made_by, used_by;
};

// Of a collective of TP that the layer has at `step`, or of a ring of TP that begins there, as the
// first of the layer's ranks sees them. Of another step: none.
LayerEnds ends_of(const Setup& setup, const Program& program, const LayerSteps& layer,
                  std::size_t step);

// A piece whose tensors say what a collective of the layer establishes.
struct LayerPiece {
  int layer = -1;  // -1: it stands outside of the layers
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  bool operator==(const LayerPiece&) const = default;
};
// Those beside the layer's collectives, in other layers and the other direction too, each once.
std::vector<LayerPiece> pieces_beside(const Setup& setup, const Program& program,
                                      const LayerSteps& layer);

}  // namespace parallelarium
