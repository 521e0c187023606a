// SPDX-License-Identifier: Apache-2.0
// Turns CUDA's errors into sentences that say what to change. Pure: it takes numbers, so tests need
// no CUDA.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/plan/result.h"

namespace parallelarium {

// `status`: a cudaError_t that is not cudaSuccess; `words`: what CUDA calls it; `versions`: newest
// CUDA that the driver knows, and the one that this was built with (0: not known). Says why no GPU
// was found: id "cuda-missing".
Message cuda_missing(int status, std::string_view words, int driver, int built_with);

// The same where there is no driver at all.
Message driver_missing(int built_with);

// Says why a running rank failed: id "cuda-failed". `doing`: the call or kernel, such as
// "attention_forward"; `built_with` as above.
Message cuda_failure(int status, std::string_view words, std::string_view doing,
                     int built_with = 0);

// Says why cuBLASLt did not do a product: id "cuda-failed". `status`: a cublasStatus_t that is not
// success.
Message cublas_failure(int status, std::string_view doing, int rank);

// The branch of drivers of a CUDA version, or of the next known one of its major version: 580 for
// 13000. 0: not known.
int driver_branch(int cuda);

// Says that cudaMalloc of `bytes` failed with `free_bytes` left: id "memory-short".
Message gpu_memory_short(std::int64_t bytes, std::int64_t free_bytes);

// "13.0" of 13000.
std::string cuda_version_text(int version);

}  // namespace parallelarium
