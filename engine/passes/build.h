// SPDX-License-Identifier: Apache-2.0
// Setup and Order to Program: each action is cut into pieces, transfers and collectives are placed
// by one walk over all ranks (`arrange`), memory is planned, replicas are made.
#pragma once

#include "engine/plan/order/order.h"
#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct BuildOptions {
  // All ranks even where representatives would do; the engine needs them.
  bool all_ranks = false;
  // Build at stage level whatever the size.
  bool stage_level = false;
};

// Piece-level Programs above this many ops (over the built ranks) are made at stage level instead.
inline constexpr std::int64_t kMostPieceOps = 200'000;
// All ranks are built up to this many; above, one representative per pipeline stage.
inline constexpr int kMostBuiltRanks = 64;

// Requires: validate(setup) is empty and the order fits mesh.pp ranks.
Result<Program> build_program(const Setup& setup, const Order& order,
                              const BuildOptions& options = {});

// Bytes at whose multiples buffers begin: a cache line, which vector loads like too.
inline constexpr std::int64_t kBufferAlignment = 64;

// Gives every buffer an offset in its rank's allocation. Where a buffer takes the place of one that
// an op of another lane used last, an `after` edge keeps them apart, so the plan holds whatever the
// timing. Piece level alone: a Program of whole stages is never executed, so it has no places, only
// sizes and lifetimes.
void plan_memory(RankProgram& rank);

}  // namespace parallelarium
