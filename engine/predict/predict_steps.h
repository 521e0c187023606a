// SPDX-License-Identifier: Apache-2.0
// The steps that predict() is made of, for others that predict.
#pragma once

#include "engine/plan/program/repeats.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// The options with which a prediction builds its Program. It builds representatives if these are
// enough. It puts rings of TP inside folds if that makes no difference.
BuildOptions prediction_options(const Setup& setup, const Machine& machine, BuildOptions options,
                                const Routing* routing = nullptr);
// build_prediction() returns a Prediction with its Program alone. add_timeline() adds the timeline;
// see simulate() for `enough`.
Result<Prediction> build_prediction(const Setup& setup, const Machine& machine, Order order,
                                    const BuildOptions& built, const Routing* routing = nullptr);
void add_timeline(Prediction& prediction, const Enough& enough = {});
// Does both. The order may have fewer micro-batches than the Setup. The Setup must be valid. Error:
// that of build_program(), or that the routing is not the Setup's.
Result<Prediction> time_program(const Setup& setup, const Machine& machine, Order order,
                                const BuildOptions& built, const Routing* routing = nullptr);
void add_memory(Prediction& prediction);
// Adds what PyTorch reserves (MemoryRow::reserved_bytes) where it trains. Needs the memory. A
// search does without.
void add_reserved(Prediction& prediction);
// Adds the bubble and the figures of the whole step.
void add_figures(Prediction& prediction, const Repeats& repeats);

}  // namespace parallelarium
