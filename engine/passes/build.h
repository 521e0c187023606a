// SPDX-License-Identifier: Apache-2.0
// Makes a Program from Setup and Order. It cuts each action into pieces, places transfers and
// collectives by one walk over all ranks (`arrange`), plans memory, and makes the replicas.
#pragma once

#include <vector>

#include "engine/passes/arrange/nominal_walk.h"
#include "engine/passes/pieces.h"
#include "engine/plan/order/order.h"
#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct BuildOptions {
  // Build all ranks even if representatives would do; a run needs them.
  bool all_ranks = false;
  // Build one rank of every stage even if all ranks could be built. This is right if the others do
  // the same at the same time: all links of a kind are alike, no rank is slow, and experts have
  // equally many tokens.
  bool representatives = false;
  // Not all ranks of a stage do the same at the same time, so that none stands for the others. Up
  // to kMostBuiltRanks all are built, at stage level where their pieces are too many, unless even
  // so they have more than kMostUnlikeOps.
  bool unlike = false;
  // Build at stage level, whatever the size is.
  bool stage_level = false;
  // Fold rings of TP too, in one rank of every stage. All ranks must be alike, as above, and lanes
  // must share nothing. At stage level only.
  bool fold_rings = false;
  // Accept an order that waits for ever, too, and build it up to where it waits (arrange.h).
  bool may_wait = false;
};

// A piece-level Program with more ops than this (over the built ranks) is folded instead. It then
// has the same times and bytes with fewer ops.
inline constexpr std::int64_t kMostPieceOps = 200'000;
// Up to this many ranks, all are built. Above, one representative per pipeline stage is built.
inline constexpr int kMostBuiltRanks = 64;
// Ops of ranks that are unlike, over all of them: more take seconds.
inline constexpr std::int64_t kMostUnlikeOps = 1'000'000;

// validate(setup) must be empty, and the order must fit mesh.pp ranks.
Result<Program> build_program(const Setup& setup, const Order& order,
                              const BuildOptions& options = {});

// The chunks of each rank of the pipeline, as the Order numbers them.
std::vector<std::vector<Chunk>> placed_chunks(const Setup& setup, const Order& order);

// What decides the order of a Program's actions and transfers (nominal_walk.h). The Program is not
// built. Requires what build_program() requires, and that activations are not offloaded.
std::vector<NominalRank> nominal_ranks(const Setup& setup, const Order& order);
// Bytes that go from one stage to the next.
std::int64_t boundary_bytes(const Setup& setup);

// Buffers begin at multiples of this: a cache line, which also suits vector loads.
inline constexpr std::int64_t kBufferAlignment = 64;

// Gives every buffer an offset in its rank's allocation. Buffers that only the compute lane touches
// lie apart from those that travel and those that the data lane brings. So lanes wait for each
// other only if a buffer takes the place of another lane's buffer. An `after` edge then keeps the
// two apart, so the plan holds whatever the timing is. A folded Program gets the same edges as one
// of pieces.
void plan_memory(RankProgram& rank);

}  // namespace parallelarium
