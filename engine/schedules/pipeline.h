// SPDX-License-Identifier: Apache-2.0
// What the generators of Orders share.
#pragma once

#include <string>
#include <utility>

#include "engine/plan/order.h"

namespace parallelarium {

// An Order without actions in which rank r holds stage r alone.
// Requires: ranks >= 1, microbatches >= 1.
inline Order pipeline(std::string name, int ranks, int microbatches) {
  Order order;
  order.name = std::move(name);
  order.microbatches = microbatches;
  order.stages = ranks;
  order.ranks.resize(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) order.stage_of.push_back({rank});
  return order;
}

}  // namespace parallelarium
