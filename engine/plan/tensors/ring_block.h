// SPDX-License-Identifier: Apache-2.0
// A ring of TP cuts a product into blocks of tokens (Setup::ring_tensor): each step multiplies one
// block while the next is on its way. Tokens travel before a product that is cut by columns.
// Partial sums travel behind a product that is cut by rows, until they come home.
// Source: Wang et al. 2023, "Overlap communication with dependent computation via decomposition".
#pragma once

#include <optional>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct RingBlock {
  int tp = 0;         // the rank of TP whose tokens the block has
  bool sums = false;  // partial sums travel; else tokens do
};

// The block that an op of a ring multiplies, adds up, sends or receives. None: the op belongs to no
// such ring.
// The op must be in `rank`, and `shape` be made from `setup`.
std::optional<RingBlock> ring_block_of(const Setup& setup, const Shape& shape,
                                       const RankProgram& rank, const Op& op);

}  // namespace parallelarium
