// SPDX-License-Identifier: Apache-2.0
// The part of a Device on a CUDA stream that routes tokens to experts. device.cpp adds the other
// kernels.
#pragma once

#include "engine/run/cuda/vocabulary.h"

namespace parallelarium {

class CudaExperts : public CudaVocabulary {
 public:
  using CudaVocabulary::CudaVocabulary;

  void route(float* gates, std::int32_t* routes, float* record, const float* logits,
             const float* bias, const RouterShape& shape) override;
  void route_grad(float* dlogits, const float* dgates, const float* logits, const float* gates,
                  const std::int32_t* routes, float scale, const RouterShape& shape) override;
  void update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                   std::int64_t E) override;
  void dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes, std::int64_t N,
                     std::int64_t k, std::int64_t C) override;
  void dispatch_rows_grad(Values dy, ConstValues drows, const std::int32_t* routes, bool adds,
                          std::int64_t N, std::int64_t k, std::int64_t C) override;
  void combine_rows(Values out, ConstValues rows, const float* gates, ConstValues shared,
                    const std::int32_t* routes, std::int64_t N, std::int64_t k,
                    std::int64_t C) override;
  void combine_rows_grad(Values drows, float* dgates, ConstValues dout, ConstValues rows,
                         const float* gates, const std::int32_t* routes, std::int64_t N,
                         std::int64_t k, std::int64_t C) override;
};

}  // namespace parallelarium
