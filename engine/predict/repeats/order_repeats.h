// SPDX-License-Identifier: Apache-2.0
// Finds which part of an Order comes again, and where.
#pragma once

#include <optional>
#include <vector>

#include "engine/passes/arrange/nominal_walk.h"
#include "engine/plan/order/order.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// How a shorter Order of the same schedule becomes the Setup's Order. On each rank the actions [cut
// - length, cut) come `times` times more behind themselves, each time for micro-batches that are
// `microbatches` later.
struct OrderRepeats {
  struct Line {
    std::size_t cut = 0, length = 0;  // actions
  };
  std::vector<Line> ranks;
  int times = 0, microbatches = 0;
};

// What a rank adds to a Program: the start of an action, or a transfer (nominal_walk.h).
struct NominalStep {
  enum class What : std::uint8_t { kStart, kSend, kReceive, kStay };
  What what = What::kStart;
  ActionKind kind = ActionKind::kForward;
  bool exchanged = false;
  int microbatch = 0, chunk = 0, to_chunk = 0, peer = -1;
  bool operator==(const NominalStep&) const = default;
};
struct NominalSteps {
  std::vector<std::vector<NominalStep>> ranks;
  // For each action of a rank: its index in the rank's steps.
  std::vector<std::vector<std::size_t>> starts;
};
NominalSteps nominal_steps(const Order& order, const std::vector<NominalRank>& ranks,
                           std::int64_t boundary_bytes);

// Whether micro-batches of the Setup are alike: experts have equally many tokens, and no two
// actions are under way together.
bool may_repeat(const Setup& setup);
// The number of micro-batches after which the middle of a step does the same again; 0: it does not.
// Transfers of a pipeline may need several micro-batches until they come in the same order again.
int repeating_microbatches(const Setup& setup, const Order& order, const NominalSteps& steps);
// The Setup's schedule with `dropped` fewer micro-batches. None: there is no such Order.
std::optional<Order> shorter_order(const Setup& setup, int dropped);

// What comes again, by a few cuts, the latest first: a Program may be alike around one and not
// around another. Empty: `order` is not `shorter` with `microbatches` micro-batches repeated, or
// their steps are not. Then one Program is not made of the other's ops.
std::vector<OrderRepeats> order_repeats(const Order& order, const NominalSteps& steps,
                                        const Order& shorter, const NominalSteps& fewer,
                                        int microbatches);

// The Setup's Order as a shorter one whose middle comes again. None: it has no such middle, or too
// few micro-batches to save much. Cost: making the Order.
struct RepeatedOrder {
  Order shorter;
  OrderRepeats repeats;
};
std::optional<RepeatedOrder> repeated_order(const Setup& setup);

}  // namespace parallelarium
