// SPDX-License-Identifier: Apache-2.0
// Cross-entropy in three parts, cut where ranks that share a vocabulary exchange numbers
// (Megatron's parallel cross-entropy): row maxima; sums of exponentials and the target's logit; the
// loss. Legend: N tokens, V vocabulary entries of this rank, which begin at entry `first`; logits
// [N,V], whose rows are `pitch` apart (pitch.h); targets [N] count through the whole vocabulary.
#pragma once

#include <cstdint>

namespace parallelarium {

// row_max[n] = max over v of logits[n,v].
void loss_max_cpu(float* row_max, const float* logits, std::int64_t N, std::int64_t V,
                  std::int64_t pitch = 0);

// sum_exp[n] = sum over v of exp(logits[n,v] - row_max[n]);
// target_logit[n] = logits[n, targets[n] - first], or 0 where another rank holds the target, so
// that the sum over ranks is the target's logit.
void loss_sum_cpu(float* sum_exp, float* target_logit, const float* logits, const float* row_max,
                  const std::int32_t* targets, std::int64_t N, std::int64_t V,
                  std::int64_t first = 0, std::int64_t pitch = 0);

// Does both at once, for ranks that need not exchange the maxima in between.
void loss_max_sum_cpu(float* row_max, float* sum_exp, float* target_logit, const float* logits,
                      const std::int32_t* targets, std::int64_t N, std::int64_t V,
                      std::int64_t pitch = 0);

// loss[0] += sum over n of row_max[n] + log(sum_exp[n]) - target_logit[n], in double precision.
void loss_cpu(double* loss, const float* row_max, const float* sum_exp, const float* target_logit,
              std::int64_t N);

// In place: logits[n,v] = (exp(logits[n,v] - row_max[n]) / sum_exp[n] - [first + v == targets[n]])
// * scale. Without targets (null) no number is taken off.
void loss_grad_cpu(float* logits, const float* row_max, const float* sum_exp,
                   const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                   std::int64_t first = 0, std::int64_t pitch = 0);

}  // namespace parallelarium
