// SPDX-License-Identifier: Apache-2.0
// The CUDA twins of memory.h: launchers that return the launch status. Addresses are of the
// stream's device; the caller keeps them alive until the stream gets here.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/memory/memory.h"

namespace parallelarium {

inline constexpr int kSharedChainBits = 10;  // places of the chain in shared memory
inline constexpr std::int64_t kChainUnroll = 64;

[[nodiscard]] cudaError_t chain_lines(ChaseLine* lines, int bits, cudaStream_t stream);
// One thread. Loads go through the first cache.
[[nodiscard]] cudaError_t chase(ChainEnd* end, const ChaseLine* lines, int bits,
                                std::uint64_t first, std::int64_t loads, cudaStream_t stream);
// One thread, in shared memory, through 2^kSharedChainBits places.
[[nodiscard]] cudaError_t chase_shared(ChainEnd* end, std::int64_t loads, cudaStream_t stream);
// One thread. Error: cudaErrorInvalidValue unless kChainUnroll divides the steps.
[[nodiscard]] cudaError_t multiply_add_chain(ChainEnd* end, float value, float factor,
                                             float summand, std::int64_t steps,
                                             cudaStream_t stream);

// So many rounds by as many blocks of kCopyThreads; with more than run at once, some would begin
// their first round when others have ended all. Loads go round the first cache, so that what the
// second one gives is measured. A stride of 1 takes 16 bytes at a time where addresses allow.
inline constexpr unsigned kCopyThreads = 256;
[[nodiscard]] cudaError_t copy_strided(float* to, const float* from, std::size_t count,
                                       std::size_t stride, int rounds, unsigned blocks,
                                       cudaStream_t stream);

// c = a b by one thread for each element. tile 1: each loads its row and column; else blocks load
// tiles of both into shared memory, so that every element is loaded n / tile times.
// Error: cudaErrorInvalidValue unless the tile is 1, 4, 8, 16 or 32, and n a multiple of 64.
[[nodiscard]] cudaError_t tiled_product(float* c, const float* a, const float* b, std::size_t n,
                                        int tile, cudaStream_t stream);

}  // namespace parallelarium
