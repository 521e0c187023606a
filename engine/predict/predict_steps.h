// SPDX-License-Identifier: Apache-2.0
// The steps that predict() is made of, for others that predict.
#pragma once

#include "engine/plan/program/repeats.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// The options that a prediction builds its Program with: with representatives where they would do,
// and with rings of TP inside folds where nothing tells.
BuildOptions prediction_options(const Setup& setup, const Machine& machine, BuildOptions options,
                                const Routing* routing = nullptr);
// A Prediction with its Program alone; then its timeline, see simulate().
Result<Prediction> build_prediction(const Setup& setup, const Machine& machine, Order order,
                                    const BuildOptions& built, const Routing* routing = nullptr);
void add_timeline(Prediction& prediction, const Enough& enough = {});
// Both. The order may have fewer micro-batches than the
// Setup, which must be valid. Error: that of build_program(), or that the routing is not the
// Setup's.
Result<Prediction> time_program(const Setup& setup, const Machine& machine, Order order,
                                const BuildOptions& built, const Routing* routing = nullptr);
void add_memory(Prediction& prediction);
// Bubble and figures of the whole step.
void add_figures(Prediction& prediction, const BuildOptions& built, const Repeats& repeats);

}  // namespace parallelarium
