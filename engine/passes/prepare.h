// SPDX-License-Identifier: Apache-2.0
// Prepares the work of one chunk of a rank: Drafts that an emitter can take.
#pragma once

#include <array>
#include <vector>

#include "engine/passes/arrange/arrange.h"
#include "engine/passes/emit.h"
#include "engine/passes/pieces.h"

namespace parallelarium {

// The pieces of one action, with the ops that every axis adds to them.
std::vector<Draft> pieces_of(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                             const std::vector<ParameterSlice>& slices, ActionKind kind);

// What is folded at stage level: the work of the compute lane, or rings of TP with it.
enum class Folding : std::uint8_t { kNone, kComputing, kRings };

// The pieces of one chunk with slots, work and nominal times filled in, and folded. `kinds`: which
// actions there are, by ActionKind. The emitter's rank must have its parameters and buckets.
ChunkDrafts prepare_chunk(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                          const std::array<bool, 4>& kinds, Folding folding, RankEmitter& emitter);

// Bytes that go from one stage to the next.
std::int64_t boundary_bytes(const LocalSizes& sizes);

}  // namespace parallelarium
