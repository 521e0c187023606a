// SPDX-License-Identifier: Apache-2.0
// Finds the rates of a Machine that explain measured steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct MeasuredStep {
  std::string name;  // for people: a file
  Setup setup;       // resolved
  double seconds = 0;
};

struct Fit {
  Machine machine;                         // with the shares that were found; their origin says so
  std::vector<double> errors;              // predicted / measured - 1, by step
  double mean_error = 0, worst_error = 0;  // of absolute values
};

// Finds the shares that devices, memory and links sustain (Machine::sustained, memory_efficiency,
// Link::sustained). It minimises the squared differences of the logarithms of predicted and
// measured steps. A single step cannot tell devices from memory, so both then change alike. Steps
// without communication between nodes say nothing about the links between them. A share about which
// the steps say almost nothing stays near that of `start`. Errors: there are no steps; those of
// predict(); "fit-fails": no shares predict every step within a factor of 1.25.
Result<Fit> fit_machine(const Machine& start, const std::vector<MeasuredStep>& steps);

// "fitted (3 measured steps)" of a Machine whose shares fit_machine() found; nothing of another.
std::optional<Origin> own_fit_of(const Machine& machine);

}  // namespace parallelarium
