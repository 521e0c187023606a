// SPDX-License-Identifier: Apache-2.0
// Makes a Program from Setup and Order: cuts each action into pieces, places transfers and
// collectives by one walk over all ranks (`arrange`), plans memory, and makes the replicas.
#pragma once

#include "engine/passes/arrange/nominal_walk.h"
#include "engine/plan/order/order.h"
#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct BuildOptions {
  // Build all ranks even if representatives would do; a run needs them.
  bool all_ranks = false;
  // Build one rank of every stage even where all would do: the others do the same at the same time
  // where all links of a kind are alike, no rank is slow and experts have equally many tokens.
  bool representatives = false;
  // Build at stage level whatever the size.
  bool stage_level = false;
  // Fold rings of TP, too, into one rank of every stage. All ranks must be alike, as above, and
  // lanes must share nothing. At stage level only.
  bool fold_rings = false;
  // Take an order that waits for ever, too, and build it up to where it does (arrange.h).
  bool may_wait = false;
};

// A piece-level Program with more ops than this (over the built ranks) is folded instead: the same
// times and bytes with fewer ops.
inline constexpr std::int64_t kMostPieceOps = 200'000;
// Up to this many ranks all are built; above, one representative per pipeline stage.
inline constexpr int kMostBuiltRanks = 64;

// validate(setup) must be empty, and the order must fit mesh.pp ranks.
Result<Program> build_program(const Setup& setup, const Order& order,
                              const BuildOptions& options = {});

// What a Program's order of actions and transfers stands on (nominal_walk.h), without building it.
// What build_program() demands must hold, and activations must not be offloaded.
std::vector<NominalRank> nominal_ranks(const Setup& setup, const Order& order);
// Of what goes from one stage to the next.
std::int64_t boundary_bytes(const Setup& setup);

// Buffers begin at multiples of this: a cache line, which also suits vector loads.
inline constexpr std::int64_t kBufferAlignment = 64;

// Gives every buffer an offset in its rank's allocation. What the compute lane alone touches lies
// apart from what travels and from what the data lane brings, so that lanes wait for each other
// only where a buffer of another lane takes the place of one: an `after` edge keeps the two apart,
// and the plan holds whatever the timing. A folded Program gets the same edges as one of pieces.
void plan_memory(RankProgram& rank);

}  // namespace parallelarium
