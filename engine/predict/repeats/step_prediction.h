// SPDX-License-Identifier: Apache-2.0
// The figures of a step of many micro-batches, from a Program of fewer.
//
// Between warm-up and drain a pipeline does the same for each micro-batch, or each round of them.
// So a Program of few micro-batches is built and timed, and a part of it is found that repeats
// itself in every respect. The step is that Program with this part as often as the micro-batches
// need. All conditions for this are checked. If they cannot be shown, every op is built.
#pragma once

#include <functional>

#include "engine/plan/program/repeats.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// Time and memory of the whole step. They equal those of predict() with a folded Program to the
// last bit. Order, Program and spans have only once what `repeats` names. There are no traffic and
// no formulas.
struct StepPrediction {
  Prediction prediction;
  Repeats repeats;
  // The least time that the watch has heard of; and whether the watch has stopped the prediction,
  // which then has its memory alone.
  Nanoseconds at_least{0};
  bool stopped = false;
};
// Hears what is known of a step before its time is known: its memory and, if that is more than 0,
// the least time that it takes. True: that is enough. A step that repeats itself has nothing to
// tell.
using StepWatch = std::function<bool(const Prediction& of, Nanoseconds at_least)>;
// Error: predict()'s.
Result<StepPrediction> predict_step(const Setup& setup, const Machine& machine,
                                    const StepWatch& watch = {});
// Adds the bubble and the figures of the step. Cost: a look at every op of the whole step.
void add_step_figures(StepPrediction& step);

}  // namespace parallelarium
