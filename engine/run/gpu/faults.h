// SPDX-License-Identifier: Apache-2.0
// CUDA's errors as sentences that say what to change. Pure: by number, so that they are tested
// without CUDA.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/plan/result.h"

namespace parallelarium {

// `status`: a cudaError_t that is not cudaSuccess; `words`: what CUDA calls it; `versions`: newest
// CUDA that the driver knows, and the one built with (0: not known). Used where GPUs are looked
// for: id "cuda-missing".
Message cuda_missing(int status, std::string_view words, int driver, int built_with);

// Of a rank that runs: id "cuda-failed". `doing`: the call or kernel, such as "attention_forward";
// `built_with` as above.
Message cuda_failure(int status, std::string_view words, std::string_view doing,
                     int built_with = 0);

// Of a product that cuBLASLt did not do: id "cuda-failed". `status`: a cublasStatus_t that is not
// success.
Message cublas_failure(int status, std::string_view doing, int rank);

// The branch of drivers that came with a CUDA, or with the next of its major version that is known:
// 580 of 13000. 0: not known.
int driver_branch(int cuda);

// A cudaMalloc of `bytes` that failed with `free_bytes` left: id "memory-short".
Message gpu_memory_short(std::int64_t bytes, std::int64_t free_bytes);

// "13.0" of 13000.
std::string cuda_version_text(int version);

}  // namespace parallelarium
