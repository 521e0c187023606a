// SPDX-License-Identifier: Apache-2.0
// Who waits for whom in an Order. The graph knows where every action is and what it needs, and
// walks over all ranks accordingly.
#pragma once

#include <vector>

#include "engine/plan/order/order.h"

namespace parallelarium {

// The place of an action: rank and index in that rank's line.
struct ActionRef {
  int rank = -1, index = -1;
  bool operator==(const ActionRef&) const = default;
};

class OrderGraph {
 public:
  // No action may be in the Order twice. An action that is missing keeps nobody waiting.
  explicit OrderGraph(const Order& order);

  // The action of this kind, stage and micro-batch; {-1, -1} if there is none (B if the backward is
  // split, I and W if it is not).
  ActionRef at(ActionKind kind, int stage, int microbatch) const;

  // The actions that must have ended before this one may start, at most two. {-1, -1} stands for
  // one that is not in the Order:
  //   F(s,j) after F(s-1,j); B or I(s,j) after B or I(s+1,j) and after F(s,j); W(s,j) after I(s,j).
  std::vector<ActionRef> needs_of(ActionRef action) const;

  // Walks every rank's line in order. A rank goes as far as what it needs has been walked. Calls
  // visit(rank, first, count) for each action (count 1) or overlapped pair (count 2). Returns how
  // many actions of each rank were walked. If these are not all, the Order has a circle.
  template <class Visit>
  std::vector<int> walk(const Visit& visit) const;

  // The first action of another rank that keeps the unit at `ref` (an action or a pair) from
  // starting when `walked` actions of each rank are done; {-1, -1} if nothing does.
  ActionRef missing(ActionRef ref, const std::vector<int>& walked) const;

  // 2 for the first half of an overlapped pair, else 1.
  int unit_size(ActionRef ref) const;

 private:
  const Order* order_;
  std::vector<ActionRef> places_;  // [kind][stage][microbatch]
};

template <class Visit>
std::vector<int> OrderGraph::walk(const Visit& visit) const {
  const std::size_t ranks = order_->ranks.size();
  std::vector<int> walked(ranks, 0), ready;
  std::vector<std::vector<int>> waiting(ranks);  // the ranks that wait for something of this rank
  for (std::size_t rank = ranks; rank-- > 0;) ready.push_back(static_cast<int>(rank));
  while (!ready.empty()) {
    const int rank = ready.back();
    const auto r = static_cast<std::size_t>(rank);
    ready.pop_back();
    const int before = walked[r];
    while (walked[r] < static_cast<int>(order_->ranks[r].size())) {
      const ActionRef next{rank, walked[r]};
      const ActionRef need = missing(next, walked);
      if (need.rank >= 0) {
        waiting[static_cast<std::size_t>(need.rank)].push_back(rank);
        break;
      }
      const int count = unit_size(next);
      visit(rank, next.index, count);
      walked[r] += count;
    }
    if (walked[r] == before) continue;
    ready.insert(ready.end(), waiting[r].begin(), waiting[r].end());
    waiting[r].clear();
  }
  return walked;
}

}  // namespace parallelarium
