// SPDX-License-Identifier: Apache-2.0
// How even a routing is: the figures that pictures, tables and lessons share. Pure functions.
#pragma once

#include <optional>

#include "engine/plan/model/routing.h"

namespace parallelarium {

// 1 if all are equal, or if there is nothing to share out. `counts` must not be empty.
double largest_over_mean(const std::vector<std::int64_t>& counts);

// Rows that each rank's experts compute, from all homes of the group. The largest over the mean
// sets the pace.
std::vector<std::int64_t> tokens_of_ranks(const RoutedLayer& layer);
double fullest_over_mean(const RoutedLayer& layer);
std::int64_t assignments(const RoutedLayer& layer);  // tokens times top_k, over all homes
std::int64_t dropped_of(const RoutedLayer& layer);
std::int64_t dispatched_bytes(const RoutedLayer& layer);  // between ranks, one way
// E sum f P, averaged over the homes; 1 when even.
double balance_of(const RoutedLayer& layer);

// One layer in one training step: all micro-batches of `replicas` data-parallel ranks, from
// `first_replica` on.
struct LayerBalance {
  double fullest = 1;  // choices of the fullest expert over the mean of all experts
  double balance = 1;  // E sum f P, the mean over micro-batches and replicas
  std::int64_t choices = 0, dropped = 0;
};
// None if the routing has no entry of the layer.
std::optional<LayerBalance> balance_of_layer(const Routing& step, int layer, int first_replica,
                                             int replicas);

}  // namespace parallelarium
