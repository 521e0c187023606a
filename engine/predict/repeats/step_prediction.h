// SPDX-License-Identifier: Apache-2.0
// The figures of a step of many micro-batches, from a Program of fewer.
//
// Between warm-up and drain a pipeline does the same for each micro-batch, or each round of them.
// So a Program of few micro-batches is built and timed, a part of it is found that repeats itself
// in every respect, and the step is that Program with this part as often as the micro-batches ask
// for. All that makes this true is looked at, and where it cannot be shown, every op is built.
#pragma once

#include <functional>

#include "engine/plan/program/repeats.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// Time and memory of the whole step, to the last bit those of predict() with a folded Program.
// Order, Program and spans have what `repeats` names once only. It has no traffic and no formulas.
struct StepPrediction {
  Prediction prediction;
  Repeats repeats;
  BuildOptions built;
  // What the watch has heard of its time; and whether it has stopped the prediction, which then has
  // its memory alone.
  Nanoseconds at_least{0};
  bool stopped = false;
};
// Hears what is known of a step before its time is: its memory, and what it takes at least, if that
// is more than 0. True: that is enough. A step that repeats itself has nothing to tell.
using StepWatch = std::function<bool(const Prediction& of, Nanoseconds at_least)>;
// Error: predict()'s.
Result<StepPrediction> predict_step(const Setup& setup, const Machine& machine,
                                    const StepWatch& watch = {});
// Bubble and figures of the step, likewise. Cost: that of looking at every op of the whole step.
void add_step_figures(StepPrediction& step);

}  // namespace parallelarium
