// SPDX-License-Identifier: Apache-2.0
// Cross-entropy in the three parts where a vocabulary split over ranks exchanges numbers
// (Megatron's parallel cross-entropy): row maxima, sums of exponentials with the target's logit,
// the loss. Legend: N tokens, V vocabulary; logits [N,V], targets [N].
#pragma once

#include <cstdint>

namespace parallelarium {

// row_max[n] = max over v of logits[n,v].
void loss_max_cpu(float* row_max, const float* logits, std::int64_t N, std::int64_t V);

// sum_exp[n] = sum over v of exp(logits[n,v] - row_max[n]); target_logit[n] = logits[n,targets[n]].
// Requires: 0 <= targets[n] < V.
void loss_sum_cpu(float* sum_exp, float* target_logit, const float* logits, const float* row_max,
                  const std::int32_t* targets, std::int64_t N, std::int64_t V);

// loss[0] += sum over n of row_max[n] + log(sum_exp[n]) - target_logit[n], in double precision.
void loss_cpu(double* loss, const float* row_max, const float* sum_exp, const float* target_logit,
              std::int64_t N);

// In place: logits[n,v] = (exp(logits[n,v] - row_max[n]) / sum_exp[n] - [v == targets[n]]) * scale.
void loss_grad_cpu(float* logits, const float* row_max, const float* sum_exp,
                   const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V);

}  // namespace parallelarium
