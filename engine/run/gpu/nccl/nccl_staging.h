// SPDX-License-Identifier: Apache-2.0
// NCCL takes a message from one place and puts it into one. A message that lies in several places,
// or is combined with what is there, goes through scratch on the lane's stream, before the group
// and after it. The steps of collectives need this.
#pragma once

#include "engine/plan/program/program.h"
#include "engine/run/transport.h"

namespace parallelarium {

bool is_staged(const TransferPart& part);
// Copies the payload of a send to `scratch`. Returns where the next message's scratch begins.
// is_staged(part) must be true.
std::byte* stage(DeviceStream& lane, const TransferPart& part, std::byte* scratch);
// Puts a received payload from `scratch` where it belongs. is_staged(part) must be true.
void unstage(DeviceStream& lane, const TransferPart& part, const std::byte* scratch);

// Bytes of scratch that the lane's communication needs beside its operands, also for NCCL's own
// collectives.
std::int64_t nccl_scratch_bytes(const Program& program, const RankProgram& rank, Lane lane);

}  // namespace parallelarium
