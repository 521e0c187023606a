// SPDX-License-Identifier: Apache-2.0
// The published rows that are nearest to a planned Setup. They show to which side its predicted
// step may be off. A mean error over all rows of a machine does not show that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {

// The least and the most that predicted over published seconds of a step are among the rows.
struct NearRows {
  int rows = 0;
  double least = 0, most = 0;
  enum class Of : std::uint8_t {
    kModel,       // the Setup's model, with products of the same type
    kOtherTypes,  // the same model, with products of other types
    kLikeModels,  // other models, with or without experts as the Setup's model
  } of = Of::kModel;
};

// Takes from the cases the rows that no rate was fitted on, on devices with the peak of `machine`.
// It takes the first kind of NearRows::Of that has rows. A model with another sequence is still the
// same model. None: there is no such row, or none that can be predicted. Cost: a prediction of each
// row.
std::optional<NearRows> near_rows(const std::vector<Case>& cases, const Setup& setup,
                                  const Machine& machine);
Message words_of(const NearRows& near, const Model& model);
// Returns what near_rows() of the shipped cases says, in words. None: there is no such row. It
// keeps each answer, so only the first question about a model costs predictions. Thread-safe.
std::optional<Message> near_rows_said(const Setup& setup, const Machine& machine);

}  // namespace parallelarium
