// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/vocabulary.h"

#include "kernels/base/launch.h"
#include "kernels/gpu.h"

namespace parallelarium {

void CudaVocabulary::embedding_forward(Values x, const std::int32_t* tokens, ConstValues table,
                                       ConstValues positions, std::int64_t N, std::int64_t T,
                                       std::int64_t C) {
  with_type(x, [&]<class P>(P*) {
    if (use())
      note(parallelarium::embedding_forward(x.as<P>(), tokens, table.as<P>(), positions.as<P>(), N,
                                            T, C, stream_),
           "embedding_forward");
  });
}
void CudaVocabulary::embedding_grad(Values dtable, Values dpositions, ConstValues dx,
                                    const std::int32_t* tokens, std::int64_t N, std::int64_t T,
                                    std::int64_t C) {
  with_types(dx, dtable, [&]<class P, class G>(const P*, G*) {
    void* space = scratch(embedding_grad_workspace(size(N)));
    if (good())
      note(parallelarium::embedding_grad(dtable.as<G>(), dpositions.as<G>(), dx.as<P>(), tokens,
                                         space, N, T, C, stream_),
           "embedding_grad");
  });
}

void CudaVocabulary::loss_max(float* row_max, ConstValues logits, std::int64_t N, std::int64_t V,
                              std::int64_t pitch) {
  typed(logits, "loss_max", [&]<class T>() {
    return parallelarium::loss_max(row_max, logits.as<T>(), N, V, stream_, pitch);
  });
}
void CudaVocabulary::loss_sum(float* sum_exp, float* target_logit, ConstValues logits,
                              const float* row_max, const std::int32_t* targets, std::int64_t N,
                              std::int64_t V, std::int64_t pitch) {
  typed(logits, "loss_sum", [&]<class T>() {
    return parallelarium::loss_sum(sum_exp, target_logit, logits.as<T>(), row_max, targets, N, V, 0,
                                   stream_, pitch);
  });
}
void CudaVocabulary::loss_max_sum(float* row_max, float* sum_exp, float* target_logit,
                                  ConstValues logits, const std::int32_t* targets, std::int64_t N,
                                  std::int64_t V, std::int64_t pitch) {
  typed(logits, "loss_max_sum", [&]<class T>() {
    return parallelarium::loss_max_sum(row_max, sum_exp, target_logit, logits.as<T>(), targets, N,
                                       V, stream_, pitch);
  });
}
void CudaVocabulary::loss(double* sum, const float* row_max, const float* sum_exp,
                          const float* target_logit, std::int64_t N) {
  if (use()) note(parallelarium::loss(sum, row_max, sum_exp, target_logit, N, stream_), "loss");
}
void CudaVocabulary::loss_grad(Values logits, const float* row_max, const float* sum_exp,
                               const std::int32_t* targets, float scale, std::int64_t N,
                               std::int64_t V, std::int64_t pitch) {
  typed(logits, "loss_grad", [&]<class T>() {
    return parallelarium::loss_grad(logits.as<T>(), row_max, sum_exp, targets, scale, N, V, 0,
                                    stream_, pitch);
  });
}

}  // namespace parallelarium
