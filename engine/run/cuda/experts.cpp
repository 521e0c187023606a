// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/experts.h"

#include "kernels/base/launch.h"
#include "kernels/gpu.h"

namespace parallelarium {

void CudaExperts::route(float* gates, std::int32_t* routes, float* record, const float* logits,
                        const float* bias, const RouterShape& shape) {
  void* space = scratch(route_workspace(size(shape.N), size(shape.E)));
  if (good())
    note(parallelarium::route(gates, routes, record, logits, bias, shape, space, stream_), "route");
}

void CudaExperts::route_grad(float* dlogits, const float* dgates, const float* logits,
                             const float* gates, const std::int32_t* routes, float scale,
                             const RouterShape& shape) {
  if (use())
    note(parallelarium::route_grad(dlogits, dgates, logits, gates, routes, scale, shape, stream_),
         "route_grad");
}

void CudaExperts::update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                              std::int64_t E) {
  if (use()) note(parallelarium::update_bias(bias, loads, rate, layers, E, stream_), "update_bias");
}

void CudaExperts::dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes,
                                std::int64_t N, std::int64_t k, std::int64_t C) {
  typed(rows, "dispatch_rows", [&]<class T>() {
    return parallelarium::dispatch_rows(rows.as<T>(), y.as<T>(), routes, N, k, C, stream_);
  });
}

void CudaExperts::dispatch_rows_grad(Values dy, ConstValues drows, const std::int32_t* routes,
                                     bool adds, std::int64_t N, std::int64_t k, std::int64_t C) {
  typed(dy, "dispatch_rows_grad", [&]<class T>() {
    return parallelarium::dispatch_rows_grad(dy.as<T>(), drows.as<T>(), routes, adds, N, k, C,
                                             stream_);
  });
}

void CudaExperts::combine_rows(Values out, ConstValues rows, const float* gates, ConstValues shared,
                               const std::int32_t* routes, std::int64_t N, std::int64_t k,
                               std::int64_t C) {
  typed(out, "combine_rows", [&]<class T>() {
    return parallelarium::combine_rows(out.as<T>(), rows.as<T>(), gates, shared.as<T>(), routes, N,
                                       k, C, stream_);
  });
}

void CudaExperts::combine_rows_grad(Values drows, float* dgates, ConstValues dout, ConstValues rows,
                                    const float* gates, const std::int32_t* routes, std::int64_t N,
                                    std::int64_t k, std::int64_t C) {
  typed(drows, "combine_rows_grad", [&]<class T>() {
    return parallelarium::combine_rows_grad(drows.as<T>(), dgates, dout.as<T>(), rows.as<T>(),
                                            gates, routes, N, k, C, stream_);
  });
}

}  // namespace parallelarium
