// SPDX-License-Identifier: Apache-2.0
// The part of a Device on a CUDA stream that goes over the vocabulary: embedding and loss.
// experts.h and device.cpp add the other kernels.
#pragma once

#include "engine/run/cuda/stream.h"

namespace parallelarium {

class CudaVocabulary : public CudaStream {
 public:
  using CudaStream::CudaStream;

  void embedding_forward(Values x, const std::int32_t* tokens, ConstValues table,
                         ConstValues positions, std::int64_t N, std::int64_t T,
                         std::int64_t C) override;
  void embedding_grad(Values dtable, Values dpositions, ConstValues dx, const std::int32_t* tokens,
                      std::int64_t N, std::int64_t T, std::int64_t C) override;
  void loss_max(float* row_max, ConstValues logits, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override;
  void loss_sum(float* sum_exp, float* target_logit, ConstValues logits, const float* row_max,
                const std::int32_t* targets, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override;
  void loss_max_sum(float* row_max, float* sum_exp, float* target_logit, ConstValues logits,
                    const std::int32_t* targets, std::int64_t N, std::int64_t V,
                    std::int64_t pitch) override;
  void loss(double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
            std::int64_t N) override;
  void loss_grad(Values logits, const float* row_max, const float* sum_exp,
                 const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                 std::int64_t pitch) override;
};

}  // namespace parallelarium
