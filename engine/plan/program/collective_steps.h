// SPDX-License-Identifier: Apache-2.0
// A collective as one rank has it: one op, or the sends, receives and combines that passes/expand.h
// makes of it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

// Whether the op is a collective, or a step of one.
bool is_collective(const Op& op);

// The index behind the last op of the collective that begins with the rank's op `first`. For any
// other op it is first + 1.
std::int32_t end_of_collective(const RankProgram& rank, std::int32_t first);

// The whole collective that the op is a step of. It serves for the name; its bytes are those of the
// step.
Op whole_of(const Op& step);

// Bytes that the rank sends in the collective that begins with its op `first`, over all repeats.
// The op must be a collective or the first of its steps.
std::int64_t sent_in_collective(const Program& program, const RankProgram& rank,
                                std::int32_t first);

// A message of one step on its way.
struct MovingChunk {
  int to = 0;  // global rank
  // Where the chunk lies in the collective's array, as shares. A chunk that was received before and
  // is passed on from scratch counts as the whole array.
  double begin = 0, end = 1;
  double done = 0;  // share of the step's time
};

// The messages that the rank sends at `time` in the collective whose first step is its op `first`.
// `spans` are those of its ops.
std::vector<MovingChunk> moving_chunks(const RankProgram& rank, const std::vector<Span>& spans,
                                       std::int32_t first, Nanoseconds time);

}  // namespace parallelarium
