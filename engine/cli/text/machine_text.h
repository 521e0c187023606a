// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/plan/machine/machine.h"

namespace parallelarium {

// A Machine in full for people, every number with its origin.
std::string machine_text(const Machine& machine);
// What predictions made with it are called: "lower bound at peak rates", "predicted with calibrated
// rates", "predicted with assumed rates", "predicted with published rates and an assumed cost of
// starting an op", ...
std::string word_text(const Machine& machine);

}  // namespace parallelarium
