// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/device.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "engine/run/cuda/combine.h"
#include "engine/run/cuda/experts.h"
#include "engine/run/gpu/extra_memory.h"
#include "kernels/base/launch.h"
#include "kernels/base/pitch.h"
#include "kernels/gpu.h"
#include "kernels/products/fp8_linear.h"
#include "kernels/products/gpu_matmul.h"

namespace parallelarium {
namespace {

// A launch for every function of Device that is neither of experts nor of the vocabulary.
class CudaDevice final : public CudaExperts {
 public:
  // Products are the compute lane's; elsewhere they would do without a workspace.
  CudaDevice(int gpu, int rank, Lane lane) : CudaExperts(gpu, rank, lane) {
    const std::size_t workspace = lane == Lane::kCompute ? size(kMatmulWorkspace) : 0;
    if (use() && workspace > 0) note(cudaMalloc(&workspace_, workspace), "cudaMalloc");
    int shared = 0;
    if (good())
      note(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu),
           "cudaDeviceGetAttribute");
    shared_bytes_ = static_cast<std::size_t>(shared);
    int major = 0, minor = 0;
    if (good())
      note(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu),
           "cudaDeviceGetAttribute");
    if (good())
      note(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu),
           "cudaDeviceGetAttribute");
    has_fp8_ = 10 * major + minor >= 89;  // Ada and newer
    if (good()) matmul_.emplace(workspace_, workspace, false);
    // A kernel of NCCL on this GPU would wait for ranks that wait for this one.
    if (good() && workspace > 0) note(matmul_->load(stream_), "cuBLASLt");
  }
  ~CudaDevice() override {
    static_cast<void>(cudaSetDevice(gpu()));
    if (stream_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
    matmul_.reset();
    static_cast<void>(cudaFree(workspace_));
  }
  std::int64_t workspace_bytes() const override {
    return workspace_ != nullptr ? kMatmulWorkspace : 0;
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    if (reduction == Reduction::kNone) return copy(target, parts[0], count * size_of(type));
    if (use())
      note(combine_values(type, reduction, target, parts, divisor, count, stream_), "combine");
  }
  void swap(std::byte* a, std::byte* b, std::int64_t bytes) override {
    if (use()) note(parallelarium::swap_bytes(a, b, size(bytes), stream_), "swap");
  }
  void cast(Values to, ConstValues from, std::int64_t count) override {
    const auto launch = [&](auto* target, const auto* values) {
      if (use()) note(parallelarium::cast(target, values, size(count), stream_), "cast");
    };
    if (to.type() == DataType::kF32)
      launch(to.as<float>(), from.as<Bf16>());
    else
      launch(to.as<Bf16>(), from.as<float>());
  }
  void accumulate(Values sum, ConstValues part, std::int64_t count) override {
    const auto add = [&]<class T>(T* to) {
      if (use())
        note(parallelarium::accumulate(to, part.as<T>(), size(count), stream_), "accumulate");
    };
    if (sum.type() == DataType::kF64) return add(sum.as<double>());
    with_type(sum, add);
  }

  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    with_types(x, y, [&]<class T, class Y>(const T*, Y* to) {
      if (use())
        note(parallelarium::linear_forward(*matmul_, to, x.as<T>(), w.as<T>(), bias.as<Y>(), N, M,
                                           K, stream_, y_pitch),
             "linear_forward");
    });
  }
  void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N, std::int64_t M,
                         std::int64_t K, std::int64_t y_pitch) override {
    typed(dx, "linear_input_grad", [&]<class T>() {
      const T* from = stored_as<T>(dy, N * pitch_of(M, y_pitch));
      if (!good()) return CUBLAS_STATUS_ALLOC_FAILED;
      return parallelarium::linear_input_grad(*matmul_, dx.as<T>(), from, w.as<T>(), N, M, K,
                                              stream_, y_pitch);
    });
  }
  void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                          std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    with_types(x, dw, [&]<class T, class G>(const T*, G*) {
      const T* from = use() ? stored_as<T>(dy, N * pitch_of(M, y_pitch)) : nullptr;
      if (good())
        note(parallelarium::linear_weight_grad(*matmul_, dw.as<G>(), from, x.as<T>(), N, M, K,
                                               stream_, y_pitch),
             "linear_weight_grad");
      if (!db) return;
      assert(pitch_of(M, y_pitch) == M);
      void* space = scratch(column_sums_workspace(size(N), size(M)));
      if (good())
        note(column_sums(db.as<G>(), dy.as<T>(), space, N, M, stream_), "linear_weight_grad");
    });
  }

  bool has_fp8() const override { return has_fp8_; }
  void fp8_linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                          std::int64_t M, std::int64_t K) override {
    void* space = scratch(size(fp8_workspace(N, M, K)));
    if (good())
      note(parallelarium::fp8_linear_forward(*matmul_, y.as<Bf16>(), x.as<Bf16>(), w.as<Bf16>(),
                                             bias.as<Bf16>(), space, N, M, K, stream_),
           "fp8_linear_forward");
  }
  void fp8_linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N,
                             std::int64_t M, std::int64_t K) override {
    void* space = scratch(size(fp8_workspace(N, M, K)));
    if (good())
      note(parallelarium::fp8_linear_input_grad(*matmul_, dx.as<Bf16>(), dy.as<Bf16>(),
                                                w.as<Bf16>(), space, N, M, K, stream_),
           "fp8_linear_input_grad");
  }
  void fp8_linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                              std::int64_t M, std::int64_t K) override {
    with_type(dw, [&]<class G>(G* to) {
      void* space = scratch(size(fp8_workspace(N, M, K)));
      if (good())
        note(parallelarium::fp8_linear_weight_grad(*matmul_, to, dy.as<Bf16>(), x.as<Bf16>(), space,
                                                   N, M, K, stream_),
             "fp8_linear_weight_grad");
      if (!db) return;
      space = scratch(column_sums_workspace(size(N), size(M)));
      if (good())
        note(column_sums(db.as<G>(), dy.as<Bf16>(), space, N, M, stream_),
             "fp8_linear_weight_grad");
    });
  }

  void layer_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, ConstValues bias,
                          std::int64_t N, std::int64_t C) override {
    typed(y, "layer_norm_forward", [&]<class T>() {
      return parallelarium::layer_norm_forward(y.as<T>(), stats, x.as<T>(), gain.as<T>(),
                                               bias.as<T>(), N, C, stream_);
    });
  }
  void rms_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, std::int64_t N,
                        std::int64_t C) override {
    typed(y, "rms_norm_forward", [&]<class T>() {
      return parallelarium::rms_norm_forward(y.as<T>(), stats, x.as<T>(), gain.as<T>(), N, C,
                                             stream_);
    });
  }
  void layer_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                             const float* stats, bool adds, std::int64_t N,
                             std::int64_t C) override {
    typed(dx, "layer_norm_input_grad", [&]<class T>() {
      return parallelarium::layer_norm_input_grad(dx.as<T>(), dy.as<T>(), x.as<T>(), gain.as<T>(),
                                                  stats, adds, N, C, stream_);
    });
  }
  void rms_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                           const float* stats, bool adds, std::int64_t N, std::int64_t C) override {
    typed(dx, "rms_norm_input_grad", [&]<class T>() {
      return parallelarium::rms_norm_input_grad(dx.as<T>(), dy.as<T>(), x.as<T>(), gain.as<T>(),
                                                stats, adds, N, C, stream_);
    });
  }
  void norm_weight_grad(Values dgain, Values dbias, ConstValues dy, ConstValues x,
                        const float* stats, std::int64_t N, std::int64_t C) override {
    with_types(dy, dgain, [&]<class T, class G>(const T*, G*) {
      void* space = scratch(column_sums_workspace(size(N), size(C)));
      if (good())
        note(parallelarium::norm_weight_grad(dgain.as<G>(), dbias.as<G>(), dy.as<T>(), x.as<T>(),
                                             stats, space, N, C, stream_),
             "norm_weight_grad");
    });
  }

  void attention_forward(Values context, Values probabilities, ConstValues qkv,
                         const AttentionShape& shape, const DroppedValues& dropout) override {
    typed(context, "attention_forward", [&]<class T>() {
      return parallelarium::attention_forward(*matmul_, context.as<T>(), probabilities.as<T>(),
                                              qkv.as<T>(), shape, stream_, dropout.as<T>());
    });
  }
  // The plan has scores of one head, which a CPU takes one after another.
  void attention_backward(Values dqkv, float* planned, ConstValues dcontext, ConstValues qkv,
                          ConstValues probabilities, const AttentionShape& shape,
                          const DroppedValues& dropout) override {
    typed(dqkv, "attention_backward", [&]<class T>() {
      const std::int64_t heads = heads_at_once(shape, sizeof(T));
      void* space = heads > 1 ? scratch(size(heads * shape.T * shape.T) * sizeof(T)) : planned;
      if (!good()) return CUBLAS_STATUS_ALLOC_FAILED;
      return parallelarium::attention_backward(
          *matmul_, dqkv.as<T>(), static_cast<T*>(space), heads, dcontext.as<T>(), qkv.as<T>(),
          probabilities.as<T>(), shape, stream_, dropout.as<T>());
    });
  }
  bool fuses(DataType type, std::int64_t D) const override {
    const std::size_t bytes = type == DataType::kBf16 ? fused_attention_shared<Bf16>(D)
                                                      : fused_attention_shared<float>(D);
    return bytes <= shared_bytes_;
  }
  void fused_attention_forward(Values context, float* lse, float*, ConstValues qkv,
                               const AttentionShape& shape) override {
    typed(context, "fused_attention_forward", [&]<class T>() {
      return parallelarium::fused_attention_forward(context.as<T>(), lse, qkv.as<T>(), shape,
                                                    stream_);
    });
  }
  void fused_attention_backward(Values dqkv, float* scratch_floats, ConstValues dcontext,
                                ConstValues qkv, ConstValues context, const float* lse,
                                const AttentionShape& shape) override {
    typed(dqkv, "fused_attention_backward", [&]<class T>() {
      return parallelarium::fused_attention_backward(dqkv.as<T>(), scratch_floats, dcontext.as<T>(),
                                                     qkv.as<T>(), context.as<T>(), lse, shape,
                                                     stream_);
    });
  }
  void block_attention_forward(Values context, float* row_max, float* row_sum, float*,
                               ConstValues qkv, ConstValues keys_values,
                               const AttentionBlock& block) override {
    typed(context, "block_attention_forward", [&]<class T>() {
      return parallelarium::block_attention_forward(context.as<T>(), row_max, row_sum, qkv.as<T>(),
                                                    keys_values.as<T>(), block, stream_);
    });
  }
  void block_attention_finish(Values context, float* row_max, const float* row_sum,
                              const AttentionShape& shape) override {
    typed(context, "block_attention_finish", [&]<class T>() {
      return parallelarium::block_attention_finish(context.as<T>(), row_max, row_sum, shape,
                                                   stream_);
    });
  }
  void block_attention_backward(Values dqkv, Values dkeys_values, float*, ConstValues dcontext,
                                ConstValues qkv, ConstValues keys_values, ConstValues context,
                                const float* lse, const AttentionBlock& block) override {
    typed(dqkv, "block_attention_backward", [&]<class T>() {
      return parallelarium::block_attention_backward(
          dqkv.as<T>(), dkeys_values.as<T>(), dcontext.as<T>(), qkv.as<T>(), keys_values.as<T>(),
          context.as<T>(), lse, block, stream_);
    });
  }
  void rotary(Values qkv, Turn turn, std::int64_t first, const AttentionShape& shape) override {
    typed(qkv, "rotary", [&]<class T>() {
      return parallelarium::rotary(qkv.as<T>(), turn, shape, stream_, first);
    });
  }
  void copy_rows(Values to, std::int64_t to_stride, ConstValues from, std::int64_t from_stride,
                 std::int64_t rows, std::int64_t width) override {
    const std::int64_t each = size_of(to.type());
    if (use() && rows > 0 && width > 0)
      note(cudaMemcpy2DAsync(to.address(), size(to_stride * each), from.address(),
                             size(from_stride * each), size(width * each), size(rows),
                             cudaMemcpyDeviceToDevice, stream_),
           "copy_rows");
  }
  void accumulate_rows(Values sum, std::int64_t sum_stride, ConstValues part,
                       std::int64_t part_stride, std::int64_t rows, std::int64_t width) override {
    typed(sum, "accumulate_rows", [&]<class T>() {
      return parallelarium::accumulate_rows(sum.as<T>(), sum_stride, part.as<T>(), part_stride,
                                            rows, width, stream_);
    });
  }
  void fill_rows(Values to, std::int64_t stride, float value, std::int64_t rows,
                 std::int64_t width) override {
    typed(to, "fill_rows", [&]<class T>() {
      return parallelarium::fill_rows(to.as<T>(), stride, value, rows, width, stream_);
    });
  }
  void residual_add(Values out, ConstValues stream, ConstValues branch,
                    std::int64_t count) override {
    typed(out, "residual_add", [&]<class T>() {
      return parallelarium::residual_add(out.as<T>(), stream.as<T>(), branch.as<T>(), size(count),
                                         stream_);
    });
  }
  void dropout_residual(Values out, std::uint8_t* mask, ConstValues stream, ConstValues branch,
                        const Dropout& dropout, std::int64_t first, std::int64_t count) override {
    typed(out, "dropout_residual", [&]<class T>() {
      return parallelarium::dropout_residual(out.as<T>(), mask, stream.as<T>(), branch.as<T>(),
                                             dropout, first, size(count), stream_);
    });
  }
  void dropout_grad(Values dbranch, ConstValues dx, const std::uint8_t* mask, float scale,
                    std::int64_t count) override {
    typed(dbranch, "dropout_grad", [&]<class T>() {
      return parallelarium::dropout_grad(dbranch.as<T>(), dx.as<T>(), mask, scale, size(count),
                                         stream_);
    });
  }
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    typed(g, "gelu_forward", [&]<class T>() {
      return parallelarium::gelu_forward(g.as<T>(), u.as<T>(), size(count), stream_);
    });
  }
  void gelu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t count) override {
    typed(du, "gelu_backward", [&]<class T>() {
      return parallelarium::gelu_backward(du.as<T>(), dg.as<T>(), u.as<T>(), size(count), stream_);
    });
  }
  void swiglu_forward(Values g, ConstValues gate, ConstValues up, std::int64_t N, std::int64_t F,
                      std::int64_t pitch) override {
    typed(g, "swiglu_forward", [&]<class T>() {
      return parallelarium::swiglu_forward(g.as<T>(), gate.as<T>(), up.as<T>(), N, F, pitch,
                                           stream_);
    });
  }
  void swiglu_backward(Values du, ConstValues dg, ConstValues gate, ConstValues up, std::int64_t N,
                       std::int64_t F, std::int64_t pitch) override {
    typed(du, "swiglu_backward", [&]<class T>() {
      return parallelarium::swiglu_backward(du.as<T>(), dg.as<T>(), gate.as<T>(), up.as<T>(), N, F,
                                            pitch, stream_);
    });
  }

  void sum_of_squares(double* sum, ConstValues values, const Runs& counted) override {
    with_type(values, [&]<class T>(const T*) {
      void* space = scratch(sum_of_squares_workspace());
      if (good())
        note(parallelarium::sum_of_squares(sum, values.as<T>(), space, counted, stream_),
             "sum_of_squares");
    });
  }
  void adamw(Values parameters, float* master, ConstValues gradients, Values first_moment,
             Values second_moment, const double* square_sum, float clip, const AdamW& settings,
             const Runs& decayed) override {
    const auto update = [&]<class P, class G, class M>(P* to, const G* from, M* first) {
      if (use())
        note(parallelarium::adamw(to, master, from, first, second_moment.as<M>(), square_sum, clip,
                                  settings, decayed, stream_),
             "adamw");
    };
    if (master == nullptr)
      return update(parameters.as<float>(), gradients.as<float>(), first_moment.as<float>());
    with_type(gradients, [&](const auto* from) {
      with_type(first_moment, [&](auto* first) { update(parameters.as<Bf16>(), from, first); });
    });
  }

 private:
  // The values themselves, or rounded into scratch: a product takes two operands of one type.
  template <class T>
  const T* stored_as(ConstValues values, std::int64_t count) {
    if (values.type() == data_type_of<T>()) return values.as<T>();
    void* space = scratch(size(count) * sizeof(T));
    if constexpr (std::is_same_v<T, Bf16>)
      if (good())
        note(parallelarium::cast(static_cast<T*>(space), values.as<float>(), size(count), stream_),
             "cast");
    return static_cast<const T*>(space);
  }
  void* workspace_ = nullptr;
  std::size_t shared_bytes_ = 0;  // that a block may have
  bool has_fp8_ = false;
  std::optional<GpuMatmul> matmul_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int gpu, int rank, Lane lane) {
  return std::make_unique<CudaDevice>(gpu, rank, lane);
}

cudaStream_t stream_of(const DeviceStream& device) {
  return static_cast<const CudaStream&>(device).stream();
}
int gpu_of(const DeviceStream& device) { return static_cast<const CudaStream&>(device).gpu(); }

}  // namespace parallelarium
