// SPDX-License-Identifier: GPL-3.0-or-later
// What the Experts view shows: how one layer routes the tokens of one micro-batch, as predicted or
// as a run counted it in one training step, and when the parts of that layer happen on the ranks of
// one EP group. Pure functions.
#pragma once

#include <memory>
#include <optional>

#include "app/state/session.h"
#include "engine/plan/model/balance.h"

namespace parallelarium {

struct ExpertChoice {
  int layer = -1;  // -1: the first with experts
  int microbatch = 0, group = 0;
  // Where a run of the Setup stands, its counts in one training step are drawn, warm-up steps
  // included; -1: in the step whose times are drawn.
  int step = -1;
  bool predicted = false;  // draw what the prediction assumes all the same
  bool operator==(const ExpertChoice&) const = default;
};
// The nearest layer, micro-batch and group that the Setup has. The model must have experts.
ExpertChoice valid_choice(const Setup& setup, ExpertChoice choice);

// Layer, micro-batch and group of the Setup's own routing (its skew). An error says why there is
// none, with models to choose instead.
Result<RoutedLayer> routed(const Setup& setup, ExpertChoice choice);

enum class LayerPart { kRouter, kDispatch, kExperts, kWait, kCombine };
QString part_name(LayerPart part);

// A part of the layer's forward on one rank. Dispatch and combine count from when all ranks of the
// group have come to it; before, a rank waits.
struct LayerSpan {
  LayerPart part = LayerPart::kRouter;
  Span span;
};

// The forward of one layer for one micro-batch on the ranks of one EP group, from a Timeline.
struct LayerTimes {
  Source source = Source::kPredicted;
  std::vector<std::vector<LayerSpan>> homes;  // by rank of the group, by begin
  Span window;                                // from the first router to the last end
  Nanoseconds length() const { return window.end - window.begin; }
  // From the first begin to the last end of a part over all ranks; empty where there is none.
  Span whole(LayerPart part) const;
  // What share of a part is done at `time`, 0 to 1; of the whole group.
  double done(LayerPart part, Nanoseconds time) const;
  const LayerSpan* at(int home, Nanoseconds time) const;
};
// Nothing where the Program has no such ops: it is of whole stages, or of another model.
std::optional<LayerTimes> layer_times(const Prediction& prediction, const Timeline& timeline,
                                      const RoutedLayer& layer);

// The run of the Session's own Setup, if it counted its routing and no lesson hides it; else null.
const Observation* routed_run(const Session& session);
// Index of a training step of the run, warm-up steps included; below 0: the step whose times are
// drawn. The run must have counted its routing.
int training_step(const Observation& run, int step);
// Layer, micro-batch and group as the run counted them in the step of `choice`. Error: the run
// holds no such counts. The run must have counted its routing.
Result<RoutedLayer> counted(const Observation& run, ExpertChoice choice);
// The layer and group of `choice` step by step, all micro-batches together; empty where the run has
// no such layer.
std::vector<LayerBalance> balance_by_step(const Observation& run, ExpertChoice choice);
// What of the settings that act on balance `of` has otherwise than `from`: "balance loss 0".
QString routing_difference(const Setup& of, const Setup& from);

}  // namespace parallelarium
