// SPDX-License-Identifier: Apache-2.0
// The check of a GPU's kernels against the emulated ones, through the Device of GPUs: what is right
// passes with room to spare, so that the bounds fail nobody.
#include "engine/run/gpu/check/kernels/kernel_check.h"

#include <gtest/gtest.h>

#include "engine/run/cuda/device.h"

namespace parallelarium {
namespace {

TEST(KernelCheck, PassesTheKernelsOfAGpu) {
  for (const DataType type : {DataType::kF32, DataType::kBf16}) {
    for (const KernelFamily& family : kernel_families()) {
      if (type == DataType::kBf16 && !family.half) continue;
      KernelBench bench(1, [](int) { return make_cuda_device(0, 0, Lane::kCompute); },
                        {TimePoint::max(), std::chrono::minutes{10}, nullptr});
      bench.start_family(family.name, type);
      family.check(bench);
      for (const KernelFault& fault : bench.faults())
        ADD_FAILURE() << fault.family.text << " " << fault.shape << ": " << fault.found.text;
      EXPECT_LT(bench.worst(), 0.5)
          << "of the bound, " << family.name.english.text << " " << name_of(type);
    }
  }
}

}  // namespace
}  // namespace parallelarium
