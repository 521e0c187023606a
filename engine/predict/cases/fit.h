// SPDX-License-Identifier: Apache-2.0
// The rates of a Machine that explain measured steps.
#pragma once

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
  Machine machine;             // with the shares that were found, their origin saying so
  std::vector<double> errors;  // predicted / measured - 1, by step
  double mean_error = 0, worst_error = 0;  // of absolute values
};

// Finds the shares that devices, memory and links sustain (Machine::sustained, memory_efficiency,
// Link::sustained) so that the logarithms of predicted and measured steps differ least in squares.
// A single step cannot tell them apart, so devices and memory then change alike; nor can steps
// without any communication between nodes tell of its links. A share of which the steps tell next
// to nothing stays near that of `start`. Errors: no steps, as of predict(), or "fit-fails": with no
// shares is every step predicted within a factor of 1.25.
Result<Fit> fit_machine(const Machine& start, const std::vector<MeasuredStep>& steps);

}  // namespace parallelarium
