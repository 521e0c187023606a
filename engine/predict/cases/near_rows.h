// SPDX-License-Identifier: Apache-2.0
// The published rows that lie nearest to a Setup that is planned: they tell to which side its
// predicted step may be off, which a mean error over all rows of a machine does not.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {

// Predicted over published seconds of a step, the least and the most of the rows.
struct NearRows {
  int rows = 0;
  double least = 0, most = 0;
};

// Of the cases the rows of the Setup's model, with another sequence too, that no rate was fitted
// on, on devices of the peak of `machine`, with products of the same type. None: there is no such
// row, or none that can be predicted. Cost: a prediction of each.
std::optional<NearRows> near_rows(const std::vector<Case>& cases, const Setup& setup,
                                  const Machine& machine);
Message words_of(const NearRows& near, const Model& model);

}  // namespace parallelarium
