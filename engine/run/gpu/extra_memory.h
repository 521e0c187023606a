// SPDX-License-Identifier: Apache-2.0
// What a rank needs of its GPU beside its arena, reckoned before it runs, so that a GPU that is too
// small is refused with a sentence. Pure.
#pragma once

#include <cstdint>

#include "engine/plan/program/program.h"
#include "engine/run/gpu/module.h"

namespace parallelarium {

struct ExtraMemory {
  std::int64_t workspace = 0;      // of cuBLASLt, for its products
  std::int64_t scratch = 0;        // of kernels, at most, and of the transport
  std::int64_t communicators = 0;  // NCCL's buffers, about
  std::int64_t code = 0;           // of both libraries, about
  std::int64_t sum() const { return workspace + scratch + communicators + code; }
};

inline constexpr std::int64_t kMatmulWorkspace = std::int64_t{32} << 20;  // NVIDIA's for Hopper

// `gpu`: the rank's. `nccl`: whether ranks meet through it.
//
// NCCL's buffers: a rank keeps, for each channel and each neighbour that sends to it, one for each
// of the protocols LL, LL128 and Simple: 512 KiB, 4800 KiB and 4 MiB; those that reach each other's
// memory keep them on the GPU, others in the host's. A ring has one neighbour that sends, with the
// tree two; on Hopper and newer NVLS takes 1 MiB twice for each channel and rank. A communicator
// connects what it uses. Source: NVIDIA/nccl, src/init.cc (computeBuffSizes), transport/p2p.cc,
// transport/nvls.cc. Channels are those of the fastest links of a GPU's generation, so that this is
// an upper bound: they were not measured, nor was the code's size, see kCode in the source.
ExtraMemory extra_memory(const Program& program, const RankProgram& rank, const GpuFacts& gpu,
                         bool nccl);

// NCCL's alone, of one group of `ranks` in which this one has so many peers that send to it.
std::int64_t nccl_buffer_bytes(const GpuFacts& gpu, std::int64_t ranks, bool collectives,
                               std::int64_t senders);

}  // namespace parallelarium
