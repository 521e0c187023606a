// SPDX-License-Identifier: Apache-2.0
// Decisions about NCCL that need no call of it: which communicators a Program needs, in which order
// a rank issues its communication, which versions will do, and errors as sentences. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/run/gpu/nccl/library/nccl.h"
#include "engine/run/net/place.h"

namespace parallelarium {

// One call of ncclCommSplit on the world: every rank says which group of the Program it joins.
struct NcclSplit {
  std::vector<int> group;  // by global rank: index in Program::groups (the color), or kNcclNoColor
  std::vector<int> key;    // by global rank: its place in the group
};

// The splits that give a communicator to every group of two or more ranks that an op uses. One call
// makes groups that share no rank. The same on every rank.
std::vector<NcclSplit> plan_splits(const Program& program);

// By op: its turn among the rank's communication of one step, 0, 1, 2 ...; -1 for compute. Ops of
// one batch have the turn of the first. A rank's ops stand in the Program's one global order, so
// ranks that follow their turns launch the operations of several communicators in one order. NCCL
// asks for that. Source: NCCL user guide, "Using multiple NCCL communicators concurrently".
std::vector<std::int32_t> issue_turns(const RankProgram& rank);

// Checks that this NCCL can run a Program with this many communicators. ncclCommSplit came with
// 2.18; several communicators on a device need NCCL_LAUNCH_ORDER_IMPLICIT, which came with 2.26.
// Error: "nccl-old".
Result<void> check_nccl(int version, int communicators);
// Whether operations of several groups on a GPU may overlap under NCCL_LAUNCH_ORDER_IMPLICIT. Below
// CUDA 12.3, NCCL lets one wait for the end of the other. `driver`: the newest CUDA that it knows
// (12020); 0: not known, then true. NCCL's own CUDA counts too, but NCCL does not tell it. Source:
// NCCL user guide, "Environment Variables"; NVIDIA/nccl, src/enqueue.cc (getImplicitOrder).
bool runs_groups_at_once(int driver);

// The Source of processes on these GPUs, by rank (GpuFacts::uuid): kSharedGpu if two took the same.
// NCCL allows that from 2.30 on with NCCL_MULTI_RANK_GPU_ENABLE; with a different NCCL_HOSTID for
// each it cannot notice. Error "gpu-twice".
Result<Source> source_of_processes(const std::vector<std::string>& gpus, int version,
                                   const Environment& environment);
std::string nccl_version_text(int version);  // "2.28.9" of 22809
// How a report calls it: "NCCL 2.28.9"; if its groups take turns, also that and why.
// `communicators`: the most that a rank has.
std::string nccl_text(int version, int driver, std::size_t communicators);

// `doing`: "connecting", or the op. `last`: what ncclGetLastError said, or empty. Id "nccl-failed".
Message nccl_failure(int rank, NcclStatus status, std::string_view doing, std::string_view last);
// Id "nccl-timeout".
Message nccl_timeout(int rank, std::string_view doing, double seconds);

}  // namespace parallelarium
