// SPDX-License-Identifier: Apache-2.0
// Estimates before a run what a rank needs of its GPU beside its arena, so that a GPU that is too
// small is refused with a sentence. Pure.
#pragma once

#include <cstdint>

#include "engine/plan/program/program.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {

struct ExtraMemory {
  std::int64_t workspace = 0;      // of cuBLASLt, for products
  std::int64_t scratch = 0;        // the most that kernels and the transport need
  std::int64_t communicators = 0;  // NCCL's buffers, estimated
  std::int64_t code = 0;           // code of both libraries, estimated
  std::int64_t sum() const { return workspace + scratch + communicators + code; }
};

inline constexpr std::int64_t kMatmulWorkspace = std::int64_t{32} << 20;  // NVIDIA's for Hopper

// `gpu`: the rank's. `nccl`: whether ranks meet through it.
//
// NCCL's buffers: for each channel and each neighbour that sends to it, a rank keeps one buffer for
// each of the protocols LL, LL128 and Simple: 512 KiB, 4800 KiB and 4 MiB. GPUs that reach each
// other's memory keep them there, others in the host's memory. A ring has one neighbour that sends,
// with the tree two. On Hopper and newer, NVLS takes 1 MiB twice for each channel and rank. A
// communicator connects what it uses. Source: NVIDIA/nccl, src/init.cc (computeBuffSizes),
// transport/p2p.cc, transport/nvls.cc. This is an upper bound: it takes the channels of the fastest
// links of a GPU's generation. Nobody has measured them, nor the code's size (kCode in the source).
ExtraMemory extra_memory(const Program& program, const RankProgram& rank, const GpuFacts& gpu,
                         bool nccl);

// NCCL's buffers for one group of `ranks`, of which `senders` ranks send to this one.
std::int64_t nccl_buffer_bytes(const GpuFacts& gpu, std::int64_t ranks, bool collectives,
                               std::int64_t senders);

}  // namespace parallelarium
