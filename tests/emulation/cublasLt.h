// SPDX-License-Identifier: Apache-2.0
// The names that kernels/products/gpu_matmul.h needs; products are made in matmul.cpp.
#pragma once

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_NOT_SUPPORTED = 15
};
using cublasLtHandle_t = void*;
