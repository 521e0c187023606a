// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/formulas/critical_batch.h"

#include <cmath>

namespace parallelarium {

double CriticalBatch::saved_by_twice(double batch) const {
  return 1 - (1 + tokens / (2 * batch)) / (1 + tokens / batch);
}

double critical_tokens(double loss) {
  constexpr double kTokens = 2.1e8, kExponent = 0.21;
  return kTokens / std::pow(loss, 1 / kExponent);
}

CriticalBatch critical_batch(const Model& model) {
  constexpr double kParameters = 8.8e13, kExponent = 0.076;
  const ParameterCounts counts = count_parameters(model);
  CriticalBatch critical;
  critical.parameters =
      static_cast<double>(counts.active - counts.embedding - counts.positions - counts.head);
  critical.loss = std::pow(kParameters / critical.parameters, kExponent);
  critical.tokens = critical_tokens(critical.loss);
  return critical;
}

}  // namespace parallelarium
