// SPDX-License-Identifier: Apache-2.0
// AdamW, the optimizer of nearly every language model.
// Source: Loshchilov & Hutter 2019, algorithm 2, in the order of operations of torch.optim.AdamW.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parallelarium {

struct AdamW {
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.95F;  // as GPT-3 (Brown et al. 2020, appendix B) and Llama
  float epsilon = 1e-8F;
  float weight_decay = 0.1F;  // as GPT-3; the caller gives 0 for what is not a matrix
  std::int64_t step = 1;      // counted from 1, for the bias correction
};

// For i in [0, count), with g = gradient * scale:
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
//   p = p (1 - learning_rate weight_decay) - learning_rate m^ / (sqrt(v^) + epsilon)
// where m^ = m / (1 - beta1^step), v^ = v / (1 - beta2^step).
//
// clip > 0 bounds the global gradient norm sqrt(sum_of_squares[0]): scale = min(1, clip / norm), as
// torch.nn.utils.clip_grad_norm_; with clip 0 the scale is 1 and sum_of_squares is not read.
// Traffic: 28 bytes per element.
void adamw_cpu(float* parameters, const float* gradients, float* first_moment, float* second_moment,
               const double* sum_of_squares, float clip, const AdamW& settings, std::size_t count);

}  // namespace parallelarium
