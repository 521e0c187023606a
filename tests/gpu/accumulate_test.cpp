// SPDX-License-Identifier: Apache-2.0
// Needs a GPU; skips with the driver's reason where there is none.
#include "kernels/accumulate.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/accumulate_cuda.h"

namespace parallelarium {
namespace {

class AccumulateOnGpu : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no GPU: "
                   << (status == cudaSuccess ? "none found" : cudaGetErrorString(status));
  }
};

TEST_P(AccumulateOnGpu, EqualsTheCpuTwinToTheBit) {
  const std::size_t count = GetParam();
  const std::size_t bytes = count * sizeof(float);
  std::vector<float> sum(count + 1);
  std::vector<float> part(count + 1);
  for (std::size_t at = 0; at <= count; ++at) {
    sum[at] = static_cast<float>(at) * 0.1F;
    part[at] = static_cast<float>(at % 97) * -0.3F;
  }
  float* device_sum = nullptr;
  float* device_part = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_sum), bytes + sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_part), bytes + sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_sum, sum.data(), bytes + sizeof(float), cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_part, part.data(), bytes + sizeof(float), cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(accumulate(device_sum, device_part, count, nullptr), cudaSuccess);
  std::vector<float> got(count + 1);
  EXPECT_EQ(cudaMemcpy(got.data(), device_sum, bytes + sizeof(float), cudaMemcpyDeviceToHost),
            cudaSuccess);
  accumulate_cpu(sum.data(), part.data(), count);
  EXPECT_EQ(got, sum);  // the element behind the range included
  cudaFree(device_sum);
  cudaFree(device_part);
}

// One block, one more than a block, and more than one turn of the grid-stride loop.
INSTANTIATE_TEST_SUITE_P(Counts, AccumulateOnGpu,
                         testing::Values(0, 1, 3, 256, 257, 1024 * 256 + 7, 1 << 20));

}  // namespace
}  // namespace parallelarium
