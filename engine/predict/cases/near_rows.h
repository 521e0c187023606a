// SPDX-License-Identifier: Apache-2.0
// The published rows that lie nearest to a Setup that is planned: they tell to which side its
// predicted step may be off, which a mean error over all rows of a machine does not.
#pragma once

#include <cstdint>
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
  enum class Of : std::uint8_t {
    kModel,       // the Setup's model, with products of the same type
    kOtherTypes,  // the same model, with products of other types
    kLikeModels,  // other models with experts, or without, as the Setup's is
  } of = Of::kModel;
};

// Of the cases the rows that no rate was fitted on, on devices of the peak of `machine`: those of
// the first kind above of which there are some. A model is the same with another sequence, too.
// None: there is no such row, or none that can be predicted. Cost: a prediction of each.
std::optional<NearRows> near_rows(const std::vector<Case>& cases, const Setup& setup,
                                  const Machine& machine);
Message words_of(const NearRows& near, const Model& model);
// Returns what near_rows() of the shipped cases says, in words; none: there is no such row. Each
// answer is kept, so that only the first of a model costs predictions. Thread-safe.
std::optional<Message> near_rows_said(const Setup& setup, const Machine& machine);

}  // namespace parallelarium
