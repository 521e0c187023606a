// SPDX-License-Identifier: Apache-2.0
// A ring of TP cuts a product into blocks of tokens (Setup::ring_tensor): each step multiplies one
// block while the next is on its way. Before a product cut by columns the tokens travel; behind one
// cut by rows the partial sums do, until they come home.
// Source: Wang et al. 2023, "Overlap communication with dependent computation via decomposition".
#pragma once

#include <optional>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct RingBlock {
  int tp = 0;         // the rank of TP whose tokens the block has
  bool sums = false;  // of partial sums that travel; else tokens do
};

// The block that an op of a ring multiplies, adds up, sends or receives; none: the op is of no such
// ring. The op must stand in `rank`, and `shape` must be made from `setup`.
std::optional<RingBlock> ring_block_of(const Setup& setup, const Shape& shape,
                                       const RankProgram& rank, const Op& op);

}  // namespace parallelarium
