// SPDX-License-Identifier: Apache-2.0
// The order in which all ranks together start their actions and move what goes between stages, in
// simulated time. Its durations are nominal, so that a Program does not depend on a Machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/plan/order/order.h"

namespace parallelarium {

// What the walk knows of a rank, by chunk and ActionKind.
struct NominalRank {
  std::vector<std::array<double, 4>> seconds;
  std::vector<std::array<bool, 4>> rings;  // the action has messages in the pipeline lane
};

// What leaves a stage after an action and goes to the next one, or back to the one before.
struct NominalTransfer {
  int from = 0, to = 0;  // ranks; the same where both stages are on one
  int to_chunk = 0;
  const Action* action = nullptr;
  bool forward = false;
  bool exchanged = false;  // with the latest transfer of both ranks, which went the other way
};

class NominalSink {
 public:
  virtual ~NominalSink() = default;
  // Whether the rank's action `index` and the one behind it are under way together.
  virtual bool is_paired(int rank, std::size_t index) const = 0;
  virtual void start(int rank, std::size_t index, bool paired) = 0;
  virtual void transfer(const NominalTransfer& transfer) = 0;
};

// Starts every action when its inputs are there, and moves each result at its end. Returns how many
// actions each rank could do: all unless the order waits for ever.
std::vector<int> walk_nominally(const Order& order, const std::vector<NominalRank>& ranks,
                                std::int64_t boundary_bytes, NominalSink& sink);

}  // namespace parallelarium
