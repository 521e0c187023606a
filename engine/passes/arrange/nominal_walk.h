// SPDX-License-Identifier: Apache-2.0
// Finds the order, in simulated time, in which all ranks together start their actions and move data
// between stages. Its durations are nominal, so that a Program does not depend on a Machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/plan/order/order.h"

namespace parallelarium {

// What the walk knows of a rank, by chunk and ActionKind.
struct NominalRank {
  std::vector<std::array<double, 4>> seconds;
  std::vector<std::array<bool, 4>> shares_lane;  // the action has ops in the lane of transfers
};

// Data that leaves a stage after an action and goes to the next stage, or back to the one before.
struct NominalTransfer {
  int from = 0, to = 0;  // ranks; equal if both stages are on one rank
  int to_chunk = 0;
  const Action* action = nullptr;
  bool forward = false;
  // It goes together with the latest transfer of both ranks, which went the other way.
  bool exchanged = false;
};

class NominalSink {
 public:
  virtual ~NominalSink() = default;
  // Whether the rank's action `index` and the next one run together.
  virtual bool is_paired(int rank, std::size_t index) const = 0;
  virtual void start(int rank, std::size_t index, bool paired) = 0;
  virtual void transfer(const NominalTransfer& transfer) = 0;
};

// Starts every action when its inputs are there, and moves each result when the action ends.
// Returns how many actions each rank could do. These are all, unless the order waits for ever.
std::vector<int> walk_nominally(const Order& order, const std::vector<NominalRank>& ranks,
                                std::int64_t boundary_bytes, NominalSink& sink);

}  // namespace parallelarium
