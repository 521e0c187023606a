// SPDX-License-Identifier: Apache-2.0
// A line of the formula column by its name.
#pragma once

#include <string>
#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {

// -1 where there is none.
inline double value_of(const std::vector<Formula>& formulas, const std::string& name) {
  for (const Formula& formula : formulas)
    if (formula.name.text == name) return formula.value;
  return -1;
}

}  // namespace parallelarium
