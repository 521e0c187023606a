// SPDX-License-Identifier: Apache-2.0
// Prepares what one chunk of a rank does: Drafts that an emitter can take.
#pragma once

#include <array>
#include <vector>

#include "engine/passes/arrange/arrange.h"
#include "engine/passes/emit.h"
#include "engine/passes/pieces.h"

namespace parallelarium {

// The pieces of one action, with what every axis adds to them.
std::vector<Draft> pieces_of(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                             const std::vector<ParameterSlice>& slices, ActionKind kind);

// At stage level: what the compute lane does, and rings of TP with it.
enum class Folding : std::uint8_t { kNone, kComputing, kRings };

// The pieces of one chunk with slots, work and nominal times filled in, and folded. `kinds`: of
// actions, by ActionKind. The emitter's rank must have its parameters and buckets.
ChunkDrafts prepare_chunk(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                          const std::array<bool, 4>& kinds, Folding folding, RankEmitter& emitter);

// Of what goes from one stage to the next.
std::int64_t boundary_bytes(const LocalSizes& sizes);

}  // namespace parallelarium
