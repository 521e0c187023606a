// SPDX-License-Identifier: Apache-2.0
// The generators of Orders begin here: an Order that says who holds which stage and has no action.
#pragma once

#include <string>
#include <utility>

#include "engine/plan/order/order.h"

namespace parallelarium {

// Rank r holds stage r alone.
// There must be a rank and a micro-batch, or more.
inline Order pipeline(std::string name, int ranks, int microbatches) {
  Order order;
  order.name = std::move(name);
  order.microbatches = microbatches;
  order.stages = ranks;
  order.ranks.resize(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) order.stage_of.push_back({rank});
  return order;
}

// Two chunks on each rank, folded like a V: rank r holds stages r and 2 ranks - 1 - r, so that the
// last stage is beside the first.
inline Order v_pipeline(std::string name, int ranks, int microbatches) {
  Order order = pipeline(std::move(name), ranks, microbatches);
  order.chunks = 2;
  order.stages = 2 * ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    order.stage_of[static_cast<std::size_t>(rank)] = {rank, 2 * ranks - 1 - rank};
  }
  return order;
}

}  // namespace parallelarium
