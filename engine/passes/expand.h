// SPDX-License-Identifier: Apache-2.0
// Last pass: replaces collectives in place by the sends, receives and combines of an algorithm.
#pragma once

#include <string>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"

namespace parallelarium {

// The Program with its collectives done by steps. Every step stands where its collective stood, in
// the same lane and on all members alike, so order and waiting stay what they were. Scratch gets a
// place of its own behind the arena, one for each lane.
//
// `algorithms`: as algorithm_names() reads it. An exchange of tokens stays, since how many there
// are is not known here. Requires: all ranks are built, memory is planned. Errors: an algorithm
// that there is not, or that does not work with that many ranks. Source: the algorithms of
// engine/collectives; the idea of the pass is MSCCL's (Cowan et al. 2023).
Result<Program> expand(const Program& program, const std::string& algorithms);

}  // namespace parallelarium
