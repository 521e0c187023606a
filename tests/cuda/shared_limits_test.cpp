// SPDX-License-Identifier: Apache-2.0
// CUDA is asked once for each kernel and GPU, and limits only rise.
#include "kernels/base/shared_limits.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <utility>
#include <vector>

namespace parallelarium {
namespace {

TEST(SharedLimits, AreAskedOfTheGpuOnceForEachKernelThere) {
  SharedLimits limits;
  const int kernels[2] = {};
  int asked = 0;
  const auto allow = [&](int kernel, int device, std::size_t bytes, int status = 0) {
    return limits.allow(&kernels[kernel], device, bytes, 0, [&](std::size_t) {
      ++asked;
      return status;
    });
  };
  for (int again = 0; again < 3; ++again)
    for (int device = 0; device < 17; ++device) EXPECT_EQ(allow(0, device, 1000), 0);
  EXPECT_EQ(asked, 17);
  EXPECT_EQ(allow(0, 16, 900), 0);
  EXPECT_EQ(asked, 17) << "less than is allowed";
  EXPECT_EQ(allow(1, 16, 900), 0);
  EXPECT_EQ(allow(0, 16, 1001), 0);
  EXPECT_EQ(allow(0, 16, 1001), 0);
  EXPECT_EQ(asked, 19) << "another kernel, and more";
  EXPECT_EQ(allow(0, 16, 5000, 1), 1);
  EXPECT_EQ(allow(0, 16, 5000, 1), 1) << "a failure is told each time";
  EXPECT_EQ(allow(0, 16, 1001), 0);
  EXPECT_EQ(asked, 21);
}

TEST(SharedLimits, HoldAmongThreads) {
  SharedLimits limits;
  const int kernels[8] = {};
  std::map<std::pair<const int*, int>, std::size_t> now;  // of the GPU: under the lock alone
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t i = 0; i < 4000; ++i) {
        const int* const kernel = &kernels[i % 8];
        const int device = thread % 2;
        limits.allow(kernel, device, i, 0, [&](std::size_t bytes) {
          std::size_t& limit = now[{kernel, device}];
          EXPECT_LT(limit, bytes) << "never lowered";
          limit = bytes;
          return 0;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(now.size(), 16u);
}

}  // namespace
}  // namespace parallelarium
