// SPDX-License-Identifier: Apache-2.0
// Kernels with planted faults: the shadow (shadow.h) has to find each, and nothing in their mended
// twins.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "kernels/base/vector.cuh"

namespace parallelarium {
namespace {

constexpr unsigned kThreads = 64;

// An array of floats on the device.
class Floats {
 public:
  explicit Floats(std::size_t count) {
    void* address = nullptr;
    EXPECT_EQ(cudaMalloc(&address, count * sizeof(float)), cudaSuccess);
    data_ = static_cast<float*>(address);
    std::fill(data_, data_ + count, 1.0F);
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { cudaFree(data_); }
  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), unsigned blocks, Arguments... arguments) {
  EXPECT_EQ(launch(kernel, blocks, kThreads, 4096, nullptr, arguments...), cudaSuccess);
}

// A failure's text may name nothing but globals and statics.
Floats& numbers() {
  static Floats array(4 * kThreads);
  return array;
}

// The neighbour's number, which another warp may write.
template <bool waits>
__global__ void neighbour_kernel(float* out) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = out[threadIdx.x];
  if (waits) __syncthreads();
  out[threadIdx.x] = shared[(threadIdx.x + 1) % kThreads];
}
TEST(Shadow, FindsAReadOfWhatAnotherThreadWritesWithNoBarrierBetween) {
  EXPECT_NONFATAL_FAILURE(run(neighbour_kernel<false>, 1, numbers().data()),
                          "Two threads touch the same word of shared memory without a barrier");
  run(neighbour_kernel<true>, 1, numbers().data());
}
TEST(Shadow, NamesBothPlacesInTheCode) {
  EXPECT_NONFATAL_FAILURE(run(neighbour_kernel<false>, 1, numbers().data()), "shadow_test.cpp:");
}

// A barrier that is missed once around a loop: the next turn overwrites what others still read.
template <bool waits>
__global__ void loop_kernel(float* out) {
  float* const shared = reinterpret_cast<float*>(dynamic_shared());
  for (int turn = 0; turn < 2; ++turn) {
    if (waits) __syncthreads();
    shared[threadIdx.x] = out[threadIdx.x] + static_cast<float>(turn);
    __syncthreads();
    out[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
  }
}
TEST(Shadow, FindsAWriteOverWhatOthersStillRead) {
  EXPECT_NONFATAL_FAILURE(run(loop_kernel<false>, 1, numbers().data()), "writes (");
  run(loop_kernel<true>, 1, numbers().data());
}

template <bool apart>
__global__ void same_place_kernel(float* out) {
  __shared__ float shared[kThreads];
  shared[apart ? threadIdx.x : threadIdx.x / 32] = 1.0F;
  __syncthreads();
  out[threadIdx.x] = shared[0];
}
TEST(Shadow, FindsTwoThreadsThatWriteTheSameWord) {
  EXPECT_NONFATAL_FAILURE(run(same_place_kernel<false>, 1, numbers().data()),
                          "Two threads touch the same word of shared memory");
  run(same_place_kernel<true>, 1, numbers().data());
}

enum class Waits { kNot, kShuffles, kForWarp };
// The lanes of a warp exchange numbers through shared memory.
template <Waits waits>
__global__ void lanes_kernel(float* out) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = out[threadIdx.x];
  if (waits == Waits::kShuffles) out[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFU, 1.0F, 1);
  if (waits == Waits::kForWarp) __syncwarp();
  out[threadIdx.x] = shared[threadIdx.x ^ 1];
}
TEST(Shadow, TakesOrderWithinAWarpFromSyncwarpAlone) {
  EXPECT_NONFATAL_FAILURE(run(lanes_kernel<Waits::kNot>, 1, numbers().data()), "without a barrier");
  EXPECT_NONFATAL_FAILURE(run(lanes_kernel<Waits::kShuffles>, 1, numbers().data()),
                          "without a barrier");
  run(lanes_kernel<Waits::kForWarp>, 1, numbers().data());
}

// Waits for its warp, and reads what another warp wrote.
__global__ void other_warp_kernel(float* out) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = out[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = shared[threadIdx.x ^ 32];
}
TEST(Shadow, DoesNotTakeSyncwarpForOrderAmongWarps) {
  EXPECT_NONFATAL_FAILURE(run(other_warp_kernel, 1, numbers().data()), "without a barrier");
}

template <bool apart>
__global__ void blocks_kernel(float* out) {
  if (threadIdx.x == 0) out[apart ? blockIdx.x : 0] = static_cast<float>(blockIdx.x);
}
TEST(Shadow, FindsTwoBlocksThatTouchTheSameWord) {
  EXPECT_NONFATAL_FAILURE(run(blocks_kernel<false>, 2, numbers().data()),
                          "Two blocks of a launch touch the same word of device memory");
  run(blocks_kernel<true>, 2, numbers().data());
  run(blocks_kernel<false>, 1, numbers().data());  // launches are ordered
  run(blocks_kernel<false>, 1, numbers().data());
}

// A block adds to what all read.
__global__ void read_by_all_kernel(float* out) {
  const float first = out[0];
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) out[0] = first + 1;
}
TEST(Shadow, FindsABlockThatWritesWhatOthersRead) {
  EXPECT_NONFATAL_FAILURE(run(read_by_all_kernel, 3, numbers().data()),
                          "Two blocks of a launch touch the same word of device memory");
  run(read_by_all_kernel, 1, numbers().data());
}

__global__ void wide_load_kernel(float* out, const float* from) {
  if (threadIdx.x == 0) store<4>(out, load<4>(from));
}
TEST(Shadow, FindsALoadOfFourFloatsThatAreNoMultipleOfSixteenBytes) {
  EXPECT_NONFATAL_FAILURE(run(wide_load_kernel, 1, numbers().data(), numbers().data() + 5),
                          "no multiple of 16 bytes");
  EXPECT_NONFATAL_FAILURE(run(wide_load_kernel, 1, numbers().data() + 1, numbers().data() + 4),
                          "no multiple of 16 bytes");
  run(wide_load_kernel, 1, numbers().data(), numbers().data() + 4);
}

template <int pitch>
__global__ void tiles_kernel(float* out) {
  auto* const rows = reinterpret_cast<Bf16*>(dynamic_shared());
  for (unsigned at = threadIdx.x; at < 1024; at += kThreads) rows[at] = Bf16{0};
  __syncthreads();
  std::uint32_t tiles[4];
  load_tiles(tiles, rows + threadIdx.x % 32 * pitch);
  out[threadIdx.x] = static_cast<float>(tiles[0]);
}
TEST(Shadow, FindsRowsForTensorCoresThatAreNoMultipleOfSixteenBytes) {
  EXPECT_NONFATAL_FAILURE(run(tiles_kernel<12>, 1, numbers().data()), "takes 16 bytes");
  run(tiles_kernel<16>, 1, numbers().data());
}

template <bool waits>
__global__ void copy_kernel(float* out, const float* from) {
  auto* const shared = reinterpret_cast<float*>(dynamic_shared());
  copy_async(shared + threadIdx.x, from + threadIdx.x, true);
  __syncthreads();
  if (waits) {
    wait_for_copies();
    __syncthreads();
  }
  out[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
  wait_for_copies();
}
TEST(Shadow, FindsAReadOfWhatACopyIsStillToBring) {
  EXPECT_NONFATAL_FAILURE(run(copy_kernel<false>, 1, numbers().data(), numbers().data() + kThreads),
                          "an asynchronous copy is still to bring");
  run(copy_kernel<true>, 1, numbers().data(), numbers().data() + kThreads);
}

__global__ void copy_grid_kernel(float* out, const float* from) {
  out[blockIdx.x * kThreads + threadIdx.x] = from[blockIdx.x * kThreads + threadIdx.x];
}
TEST(Shadow, FindsATouchOfDeviceMemoryThatIsNotAllocated) {
  static Floats few(kThreads);
  EXPECT_NONFATAL_FAILURE(run(copy_grid_kernel, 2, numbers().data(), few.data()),
                          "device memory that is not allocated");
  run(copy_grid_kernel, 1, numbers().data(), few.data());
}

}  // namespace
}  // namespace parallelarium
