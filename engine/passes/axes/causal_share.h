// SPDX-License-Identifier: Apache-2.0
// How much of the causal square a CP rank computes.
#pragma once

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// A rank's share of the causal square, as a multiple of the even share that all CP ranks have under
// the zigzag split.
struct CausalShare {
  std::int64_t times = 1, over = 1;
  bool is_even() const { return times == over; }
};
// The shares of rank r of n under the contiguous split. Of its own keys it computes an even share
// (half a block), of a block from its left two (a whole block), and of a block from its right none.
// r blocks come before it, so it computes 1 + 2 r over all n blocks: CP 4 computes 1:3:5:7.
// `block`: how many steps against the ring the keys come from.
CausalShare share_of_block(int rank, int block);
CausalShare share_of_all_blocks(int rank, int ranks);

// Gives every rank's attention the Work of its own share if shares are unequal (is_unbalanced). A
// representative gets the share of the last CP rank, for which the others wait.
void share_causal_work(const Setup& setup, Program& program);

}  // namespace parallelarium
