// SPDX-License-Identifier: Apache-2.0
// The last pass: replaces collectives by the sends, receives and combines of an algorithm.
#pragma once

#include <string>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"

namespace parallelarium {

// Returns the Program with its collectives done in steps. Every step takes the place of its
// collective, in the same lane and alike on all members. So order and waiting stay the same. Each
// lane gets scratch space behind the arena.
//
// `algorithms`: as algorithm_names() reads it. An exchange of tokens stays as it is, since only a
// run knows their number. All ranks must be built, and memory planned. Errors: an unknown
// algorithm, or one that does not work with that many ranks. Source: the algorithms of
// engine/collectives; the idea of the pass is MSCCL's (Cowan et al. 2023).
Result<Program> expand(const Program& program, const std::string& algorithms);

}  // namespace parallelarium
