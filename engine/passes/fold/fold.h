// SPDX-License-Identifier: Apache-2.0
// Folds ops of the compute lane that need no other lane into one op. This is for Programs that
// would be too large piece by piece. A folded Program takes the same time and holds the same bytes.
#pragma once

#include <vector>

#include "engine/passes/pieces.h"

namespace parallelarium {

// The Drafts of an action. They are folded within each stretch of a layer, or across all stretches
// if nothing happens in another lane between two of them.
struct FoldedDrafts {
  std::vector<Draft> stretches, whole;
};

// The actions of one chunk. A forward whose backward is split frees other buffers than one whose
// backward is whole.
struct FoldedActions {
  FoldedDrafts forward, split_forward, backward, input, weight;
  bool across = false;  // some are folded across stretches
};

// Which rings of TP are folded together with what they bring. kWhole: those of actions that are
// folded across stretches; in other actions sharding uses their lane.
enum class FoldedRings : std::uint8_t { kNone, kWhole, kAll };

// What fold_actions() needs to know of a chunk beside its drafts. Its buffers are numbered by
// slots.
struct FoldedSlots {
  // Why ranks wait for each other. `uneven`: experts have unequally many tokens, so ranks wait at
  // exchanges of tokens. `uneven_over_tp`: with whole experts, the ranks of TP then wait for each
  // other too. `unbalanced`: CP ranks compute unequal parts of the causal square.
  bool uneven = false, uneven_over_tp = false, unbalanced = false;
  bool across = true;  // some actions have no other lane's work between two stretches
  FoldedRings rings = FoldedRings::kNone;
  std::int32_t count = 0;
  // The slots whose buffers transfers bring or take away between two actions. The first is what a
  // forward reads.
  std::vector<std::int32_t> transfers;
};

// Folds the drafts of a chunk and adds the Folds to the Program. Buffers that only the compute lane
// touches are joined into one buffer if they are open equally long. The joined buffers get slots
// from `slots.count` on, which then counts them. The drafts must have slots and works.
FoldedActions fold_actions(Program& program, const ActionDrafts& pieces, FoldedSlots& slots);

}  // namespace parallelarium
