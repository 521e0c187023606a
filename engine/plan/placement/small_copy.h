// SPDX-License-Identifier: Apache-2.0
// A Setup of another machine, made small enough to run on this computer.
#pragma once

#include "engine/plan/placement/placement.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// The preset that cores train in the model's place: gpt-tiny, llama-tiny or moe-tiny, of its kind.
const char* tiny_preset_like(const Model& model);

// Puts `big` on this computer. It keeps the mesh, schedule and micro-batches, and takes a small
// preset of the same kind: gpt2-124m if every rank gets a GPU, else a tiny one. It has one sequence
// per micro-batch and no more steps than a new Setup. It is in fp32 if the engine has no kernels
// for the bytes of `big`. Heads, widths, layers and sequence of the preset follow the mesh. If
// there are more ranks than a run can have, the largest degree is halved until they fit. `big`
// must validate and can_execute(). So does the result, resolved for `here`. The error says why
// there is none.
Result<Setup> small_copy(const Setup& big, const Computer& here);

}  // namespace parallelarium
