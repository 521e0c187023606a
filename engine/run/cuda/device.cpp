// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/device.h"

#include <array>
#include <optional>

#include "engine/run/cuda/stream.h"
#include "kernels/gpu.h"
#include "kernels/gpu_matmul.h"
#include "kernels/launch.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMatmulWorkspace = std::size_t{32} << 20;  // NVIDIA's advice for Hopper

// A launch for every function of Device.
class CudaDevice final : public CudaStream {
 public:
  CudaDevice(int gpu, int rank) : CudaStream(gpu, rank), stream_(stream()) {
    if (use()) note(cudaMalloc(&workspace_, kMatmulWorkspace), "cudaMalloc");
    if (good()) matmul_.emplace(workspace_, kMatmulWorkspace, false);
  }
  ~CudaDevice() override {
    static_cast<void>(cudaSetDevice(gpu()));
    if (stream_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
    matmul_.reset();
    static_cast<void>(cudaFree(workspace_));
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  void reduce(float* target, std::span<const float* const> parts, bool largest, bool adds,
              std::int64_t count) override {
    reduce_parts(target, parts, largest, adds, count);
  }
  void reduce(double* target, std::span<const double* const> parts, bool largest, bool adds,
              std::int64_t count) override {
    reduce_parts(target, parts, largest, adds, count);
  }
  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    if (reduction == Reduction::kNone) return copy(target, parts[0], count * size_of(type));
    switch (type) {
      case DataType::kF32:
        return combine_parts<float>(reduction, target, parts, divisor, count);
      case DataType::kBf16:
        return combine_parts<Bf16>(reduction, target, parts, divisor, count);
      case DataType::kF64:
        return combine_parts<double>(reduction, target, parts, divisor, count);
      case DataType::kI32:
        return combine_parts<std::int32_t>(reduction, target, parts, divisor, count);
      case DataType::kU8:  // bytes are moved, not reckoned with
        return note(cudaErrorInvalidValue, "combine");
    }
  }
  void swap(std::byte* a, std::byte* b, std::int64_t bytes) override {
    if (use()) note(parallelarium::swap_bytes(a, b, size(bytes), stream_), "swap");
  }
  void accumulate(float* sum, const float* part, std::int64_t count) override {
    if (use()) note(parallelarium::accumulate(sum, part, size(count), stream_), "accumulate");
  }
  void accumulate(double* sum, const double* part, std::int64_t count) override {
    if (use()) note(parallelarium::accumulate(sum, part, size(count), stream_), "accumulate");
  }

  void linear_forward(float* y, const float* x, const float* w, const float* bias, std::int64_t N,
                      std::int64_t M, std::int64_t K) override {
    if (use())
      note(parallelarium::linear_forward(*matmul_, y, x, w, bias, N, M, K, stream_),
           "linear_forward");
  }
  void linear_input_grad(float* dx, const float* dy, const float* w, std::int64_t N, std::int64_t M,
                         std::int64_t K) override {
    if (use())
      note(parallelarium::linear_input_grad(*matmul_, dx, dy, w, N, M, K, stream_),
           "linear_input_grad");
  }
  void linear_weight_grad(float* dw, float* db, const float* dy, const float* x, std::int64_t N,
                          std::int64_t M, std::int64_t K) override {
    if (use())
      note(parallelarium::linear_weight_grad(*matmul_, dw, dy, x, N, M, K, stream_),
           "linear_weight_grad");
    if (db == nullptr) return;
    void* space = scratch(column_sums_workspace(size(N), size(M)));
    if (good()) note(column_sums(db, dy, space, N, M, stream_), "linear_weight_grad");
  }

  void layer_norm_forward(float* y, float* stats, const float* x, const float* gain,
                          const float* bias, std::int64_t N, std::int64_t C) override {
    if (use())
      note(parallelarium::layer_norm_forward(y, stats, x, gain, bias, N, C, stream_),
           "layer_norm_forward");
  }
  void rms_norm_forward(float* y, float* stats, const float* x, const float* gain, std::int64_t N,
                        std::int64_t C) override {
    if (use())
      note(parallelarium::rms_norm_forward(y, stats, x, gain, N, C, stream_), "rms_norm_forward");
  }
  void layer_norm_input_grad(float* dx, const float* dy, const float* x, const float* gain,
                             const float* stats, bool adds, std::int64_t N,
                             std::int64_t C) override {
    if (use())
      note(parallelarium::layer_norm_input_grad(dx, dy, x, gain, stats, adds, N, C, stream_),
           "layer_norm_input_grad");
  }
  void rms_norm_input_grad(float* dx, const float* dy, const float* x, const float* gain,
                           const float* stats, bool adds, std::int64_t N, std::int64_t C) override {
    if (use())
      note(parallelarium::rms_norm_input_grad(dx, dy, x, gain, stats, adds, N, C, stream_),
           "rms_norm_input_grad");
  }
  void norm_weight_grad(float* dgain, float* dbias, const float* dy, const float* x,
                        const float* stats, std::int64_t N, std::int64_t C) override {
    void* space = scratch(column_sums_workspace(size(N), size(C)));
    if (good())
      note(parallelarium::norm_weight_grad(dgain, dbias, dy, x, stats, space, N, C, stream_),
           "norm_weight_grad");
  }

  void attention_forward(float* context, float* probabilities, const float* qkv,
                         const AttentionShape& shape,
                         const DroppedProbabilities<float>& dropout) override {
    if (use())
      note(parallelarium::attention_forward(*matmul_, context, probabilities, qkv, shape, stream_,
                                            dropout),
           "attention_forward");
  }
  void attention_backward(float* dqkv, float* scratch_floats, const float* dcontext,
                          const float* qkv, const float* probabilities, const AttentionShape& shape,
                          const DroppedProbabilities<float>& dropout) override {
    if (use())
      note(parallelarium::attention_backward(*matmul_, dqkv, scratch_floats, 1, dcontext, qkv,
                                             probabilities, shape, stream_, dropout),
           "attention_backward");
  }
  void block_attention_forward(float* context, float* row_max, float* row_sum, float*,
                               const float* qkv, const float* keys_values,
                               const AttentionBlock& block) override {
    if (use())
      note(parallelarium::block_attention_forward(context, row_max, row_sum, qkv, keys_values,
                                                  block, stream_),
           "block_attention_forward");
  }
  void block_attention_finish(float* context, float* row_max, const float* row_sum,
                              const AttentionShape& shape) override {
    if (use())
      note(parallelarium::block_attention_finish(context, row_max, row_sum, shape, stream_),
           "block_attention_finish");
  }
  void block_attention_backward(float* dqkv, float* dkeys_values, float*, const float* dcontext,
                                const float* qkv, const float* keys_values, const float* context,
                                const float* lse, const AttentionBlock& block) override {
    if (use())
      note(parallelarium::block_attention_backward(dqkv, dkeys_values, dcontext, qkv, keys_values,
                                                   context, lse, block, stream_),
           "block_attention_backward");
  }
  void rotary(float* qkv, Turn turn, std::int64_t first, const AttentionShape& shape) override {
    if (use()) note(parallelarium::rotary(qkv, turn, shape, stream_, first), "rotary");
  }
  void copy_rows(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                 std::int64_t rows, std::int64_t width) override {
    if (use() && rows > 0 && width > 0)
      note(cudaMemcpy2DAsync(to, size(to_stride) * sizeof(float), from,
                             size(from_stride) * sizeof(float), size(width) * sizeof(float),
                             size(rows), cudaMemcpyDeviceToDevice, stream_),
           "copy_rows");
  }

  void fill_rows(float* to, std::int64_t stride, float value, std::int64_t rows,
                 std::int64_t width) override {
    if (use()) note(parallelarium::fill_rows(to, stride, value, rows, width, stream_), "fill_rows");
  }
  void residual_add(float* out, const float* stream, const float* branch,
                    std::int64_t count) override {
    if (use())
      note(parallelarium::residual_add(out, stream, branch, size(count), stream_), "residual_add");
  }
  void dropout_residual(float* out, std::uint8_t* mask, const float* stream, const float* branch,
                        const Dropout& dropout, std::int64_t first, std::int64_t count) override {
    if (use())
      note(parallelarium::dropout_residual(out, mask, stream, branch, dropout, first, size(count),
                                           stream_),
           "dropout_residual");
  }
  void dropout_grad(float* dbranch, const float* dx, const std::uint8_t* mask, float scale,
                    std::int64_t count) override {
    if (use())
      note(parallelarium::dropout_grad(dbranch, dx, mask, scale, size(count), stream_),
           "dropout_grad");
  }
  void gelu_forward(float* g, const float* u, std::int64_t count) override {
    if (use()) note(parallelarium::gelu_forward(g, u, size(count), stream_), "gelu_forward");
  }
  void gelu_backward(float* du, const float* dg, const float* u, std::int64_t count) override {
    if (use()) note(parallelarium::gelu_backward(du, dg, u, size(count), stream_), "gelu_backward");
  }
  void swiglu_forward(float* g, const float* u, std::int64_t N, std::int64_t F) override {
    if (use()) note(parallelarium::swiglu_forward(g, u, N, F, stream_), "swiglu_forward");
  }
  void swiglu_backward(float* du, const float* dg, const float* u, std::int64_t N,
                       std::int64_t F) override {
    if (use()) note(parallelarium::swiglu_backward(du, dg, u, N, F, stream_), "swiglu_backward");
  }

  void embedding_forward(float* x, const std::int32_t* tokens, const float* table,
                         const float* positions, std::int64_t N, std::int64_t T,
                         std::int64_t C) override {
    if (use())
      note(parallelarium::embedding_forward(x, tokens, table, positions, N, T, C, stream_),
           "embedding_forward");
  }
  void embedding_grad(float* dtable, float* dpositions, const float* dx, const std::int32_t* tokens,
                      std::int64_t N, std::int64_t T, std::int64_t C) override {
    void* space = scratch(embedding_grad_workspace(size(N)));
    if (good())
      note(parallelarium::embedding_grad(dtable, dpositions, dx, tokens, space, N, T, C, stream_),
           "embedding_grad");
  }

  void loss_max(float* row_max, const float* logits, std::int64_t N, std::int64_t V) override {
    if (use()) note(parallelarium::loss_max(row_max, logits, N, V, stream_), "loss_max");
  }
  void loss_sum(float* sum_exp, float* target_logit, const float* logits, const float* row_max,
                const std::int32_t* targets, std::int64_t N, std::int64_t V) override {
    if (use())
      note(parallelarium::loss_sum(sum_exp, target_logit, logits, row_max, targets, N, V, 0,
                                   stream_),
           "loss_sum");
  }
  void loss(double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
            std::int64_t N) override {
    if (use()) note(parallelarium::loss(sum, row_max, sum_exp, target_logit, N, stream_), "loss");
  }
  void loss_grad(float* logits, const float* row_max, const float* sum_exp,
                 const std::int32_t* targets, float scale, std::int64_t N,
                 std::int64_t V) override {
    if (use())
      note(parallelarium::loss_grad(logits, row_max, sum_exp, targets, scale, N, V, 0, stream_),
           "loss_grad");
  }

  void route(float* gates, std::int32_t* routes, float* record, const float* logits,
             const float* bias, const RouterShape& shape) override {
    void* space = scratch(route_workspace(size(shape.N), size(shape.E)));
    if (good())
      note(parallelarium::route(gates, routes, record, logits, bias, shape, space, stream_),
           "route");
  }
  void route_grad(float* dlogits, const float* dgates, const float* logits, const float* gates,
                  const std::int32_t* routes, float scale, const RouterShape& shape) override {
    if (use())
      note(parallelarium::route_grad(dlogits, dgates, logits, gates, routes, scale, shape, stream_),
           "route_grad");
  }
  void update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                   std::int64_t E) override {
    if (use())
      note(parallelarium::update_bias(bias, loads, rate, layers, E, stream_), "update_bias");
  }
  void dispatch_rows(float* rows, const float* y, const std::int32_t* routes, std::int64_t N,
                     std::int64_t k, std::int64_t C) override {
    if (use())
      note(parallelarium::dispatch_rows(rows, y, routes, N, k, C, stream_), "dispatch_rows");
  }
  void dispatch_rows_grad(float* dy, const float* drows, const std::int32_t* routes, bool adds,
                          std::int64_t N, std::int64_t k, std::int64_t C) override {
    if (use())
      note(parallelarium::dispatch_rows_grad(dy, drows, routes, adds, N, k, C, stream_),
           "dispatch_rows_grad");
  }
  void combine_rows(float* out, const float* rows, const float* gates, const float* shared,
                    const std::int32_t* routes, std::int64_t N, std::int64_t k,
                    std::int64_t C) override {
    if (use())
      note(parallelarium::combine_rows(out, rows, gates, shared, routes, N, k, C, stream_),
           "combine_rows");
  }
  void combine_rows_grad(float* drows, float* dgates, const float* dout, const float* rows,
                         const float* gates, const std::int32_t* routes, std::int64_t N,
                         std::int64_t k, std::int64_t C) override {
    if (use())
      note(parallelarium::combine_rows_grad(drows, dgates, dout, rows, gates, routes, N, k, C,
                                            stream_),
           "combine_rows_grad");
  }
  void sum_of_squares(double* sum, const float* values, std::int64_t count) override {
    void* space = scratch(sum_of_squares_workspace());
    if (good())
      note(parallelarium::sum_of_squares(sum, values, space, size(count), stream_),
           "sum_of_squares");
  }
  void adamw(float* parameters, const float* gradients, float* first_moment, float* second_moment,
             const double* square_sum, float clip, const AdamW& settings,
             std::int64_t count) override {
    float* const no_master = nullptr;
    if (use())
      note(parallelarium::adamw(parameters, no_master, gradients, first_moment, second_moment,
                                square_sum, clip, settings, size(count), stream_),
           "adamw");
  }

 private:
  template <class Number>
  void reduce_parts(Number* target, std::span<const Number* const> parts, bool largest, bool adds,
                    std::int64_t count) {
    if (use())
      note(parallelarium::reduce(target, parts.data(), static_cast<int>(parts.size()), largest,
                                 adds, size(count), stream_),
           "reduce");
  }
  template <class T>
  void combine_parts(Reduction reduction, std::byte* target,
                     std::span<const std::byte* const> parts, int divisor, std::int64_t count) {
    static_assert(static_cast<int>(Combine::kAverage) == static_cast<int>(Reduction::kAvg));
    if (parts.size() > static_cast<std::size_t>(kMostCombined))
      return note(cudaErrorInvalidValue, "combine");
    std::array<const T*, kMostCombined> typed;
    for (std::size_t i = 0; i < parts.size(); ++i) typed[i] = reinterpret_cast<const T*>(parts[i]);
    if (use())
      note(parallelarium::combine(reinterpret_cast<T*>(target), typed.data(),
                                  static_cast<int>(parts.size()), static_cast<Combine>(reduction),
                                  divisor, size(count), stream_),
           "combine");
  }

  const cudaStream_t stream_;
  void* workspace_ = nullptr;
  std::optional<GpuMatmul> matmul_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int gpu, int rank) {
  return std::make_unique<CudaDevice>(gpu, rank);
}

cudaStream_t stream_of(const Device& device) {
  return static_cast<const CudaStream&>(device).stream();
}
int gpu_of(const Device& device) { return static_cast<const CudaStream&>(device).gpu(); }

}  // namespace parallelarium
