// SPDX-License-Identifier: Apache-2.0
// Folds what the compute lane does without a look at another lane into one op, for Programs that
// would be too large piece by piece. A folded Program takes the same time and holds the same bytes.
#pragma once

#include <vector>

#include "engine/passes/pieces.h"

namespace parallelarium {

// The Drafts of an action, folded within each stretch of a layer, or across all of them where
// nothing happens in another lane between two stretches.
struct FoldedDrafts {
  std::vector<Draft> stretches, whole;
};

// The actions of one chunk. A forward whose backward is split frees other buffers than one whose
// backward is whole.
struct FoldedActions {
  FoldedDrafts forward, split_forward, backward, input, weight;
  bool across = false;  // some are folded across stretches
};

// Which rings of TP are folded with what they bring: those of actions that are folded across
// stretches, where sharding shares their lane in others, or all.
enum class FoldedRings : std::uint8_t { kNone, kWhole, kAll };

// What fold_actions() needs to know of a chunk beside its drafts. Its buffers are numbered by
// slots.
struct FoldedSlots {
  // Ranks wait for each other: experts have unequally many tokens, and whole ones those of the
  // ranks of TP, too; CP ranks unequal parts of the causal square.
  bool uneven = false, uneven_over_tp = false, unbalanced = false;
  bool across = true;  // some actions have no other lane's work between two stretches
  FoldedRings rings = FoldedRings::kNone;
  std::int32_t count = 0;
  // The slots whose buffers transfers bring or take away between two actions; first, what a forward
  // reads.
  std::vector<std::int32_t> transfers;
};

// Folds the drafts of a chunk and adds the Folds to the Program. Buffers that only the compute lane
// touches become one for all that are open equally long; they get slots from `slots.count` on,
// which counts them.
// The drafts must have slots and works.
FoldedActions fold_actions(Program& program, const ActionDrafts& pieces, FoldedSlots& slots);

}  // namespace parallelarium
