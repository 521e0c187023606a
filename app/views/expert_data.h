// SPDX-License-Identifier: GPL-3.0-or-later
// What the Experts view shows: how one layer routes the tokens of one micro-batch, and when the
// parts of that layer happen on the ranks of one EP group. Pure functions.
#pragma once

#include <memory>
#include <optional>

#include "app/session.h"
#include "engine/plan/routing.h"

namespace parallelarium {

struct ExpertChoice {
  int layer = -1;  // -1: the first with experts
  int microbatch = 0, group = 0;
  bool operator==(const ExpertChoice&) const = default;
};
// The nearest choice that the Setup has. Requires: the model has experts.
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

// Tokens that a rank's experts compute, of all homes; the largest over the mean sets the pace.
std::vector<std::int64_t> tokens_of_ranks(const RoutedLayer& layer);
double fullest_over_mean(const RoutedLayer& layer);
std::int64_t assignments(const RoutedLayer& layer);  // tokens times top_k, of all homes
std::int64_t dropped_of(const RoutedLayer& layer);
std::int64_t dispatched_bytes(const RoutedLayer& layer);  // between ranks, one way
// E sum f P, the mean over the homes: 1 when even.
double balance_of(const RoutedLayer& layer);

}  // namespace parallelarium
