// SPDX-License-Identifier: Apache-2.0
// NCCL takes a message from one place and puts it into one. What lies in several, or is to be
// combined with what is there, as the steps of collectives need it, goes through scratch of its
// lane: before the group and behind it, on the lane's stream.
#pragma once

#include "engine/plan/program/program.h"
#include "engine/run/transport.h"

namespace parallelarium {

bool is_staged(const TransferPart& part);
// Copies what a send sends to `scratch`. Returns where the next message's scratch begins.
// Requires: is_staged(part).
std::byte* stage(DeviceStream& lane, const TransferPart& part, std::byte* scratch);
// Puts what a receive has received in `scratch` where it belongs. Requires: is_staged(part).
void unstage(DeviceStream& lane, const TransferPart& part, const std::byte* scratch);

// Bytes of scratch that the lane's communication needs beside its operands, whole collectives of
// NCCL included.
std::int64_t nccl_scratch_bytes(const Program& program, const RankProgram& rank, Lane lane);

}  // namespace parallelarium
