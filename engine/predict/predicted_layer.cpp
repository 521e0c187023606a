// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/predicted_layer.h"

namespace parallelarium {

LayerSteps predicted_layer(const Prediction& prediction, const LayerChoice& choice) {
  LayerSteps layer = layer_steps(prediction.setup, prediction.program, choice);
  if (prediction.rows.even()) return layer;
  for (LayerStep& step : layer.steps)
    for (std::size_t at = 0; at < step.ranks.size(); ++at) {
      LayerRankStep& part = step.ranks[at];
      if (part.first_op < 0) continue;
      const LayerRank& of = layer.ranks[at];
      const Op& op = prediction.program.ranks[static_cast<std::size_t>(of.built)]
                         .ops[static_cast<std::size_t>(part.first_op)];
      if (step.purpose == Purpose::kTokens)
        part.sent_bytes = prediction.rows.volume(op, of.rank).sent;
      else if (step.kind == LayerStepKind::kCompute)
        part.flops *= prediction.rows.share(op, of.rank);
    }
  return layer;
}

}  // namespace parallelarium
