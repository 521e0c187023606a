// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "engine/run/gpu/faults.h"
#include "kernels/gpu.h"
#include "kernels/gpu_matmul.h"
#include "kernels/launch.h"

namespace parallelarium {
namespace {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using std::chrono::nanoseconds;

constexpr std::size_t kMatmulWorkspace = std::size_t{32} << 20;  // NVIDIA's advice for Hopper
constexpr std::size_t kStaging = std::size_t{1} << 20;           // of pinned memory, each way
constexpr int kAlignTries = 5;
constexpr auto kPoll = std::chrono::microseconds{20};

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

class CudaDevice final : public Device {
 public:
  CudaDevice(int gpu, int rank) : gpu_(gpu), rank_(rank) {
    note(cudaSetDevice(gpu_), "cudaSetDevice");
    if (good())
      note(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    if (good()) note(cudaMalloc(&workspace_, kMatmulWorkspace), "cudaMalloc");
    if (good()) note(cudaMallocHost(&staging_, 2 * kStaging), "cudaMallocHost");
    for (cudaEvent_t* event : {&base_, &staged_[0], &staged_[1]})
      if (good()) note(cudaEventCreate(event), "cudaEventCreate");
    if (good()) matmul_.emplace(workspace_, kMatmulWorkspace, false);
  }
  ~CudaDevice() override {
    // What fails here failed before, and has been told.
    static_cast<void>(cudaSetDevice(gpu_));
    if (stream_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
    matmul_.reset();
    for (cudaEvent_t event : marks_)
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
    for (cudaEvent_t event : {base_, staged_[0], staged_[1]})
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
    static_cast<void>(cudaFreeHost(staging_));
    static_cast<void>(cudaFree(workspace_));
    static_cast<void>(cudaFree(scratch_));
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  Result<std::byte*> allocate(std::int64_t bytes) override {
    if (!use()) return *failure_;
    void* address = nullptr;
    const cudaError_t status = cudaMalloc(&address, std::max(size(bytes), std::size_t{1}));
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      std::size_t free = 0, all = 0;
      static_cast<void>(cudaMemGetInfo(&free, &all));
      return gpu_memory_short(bytes, static_cast<std::int64_t>(free));
    }
    note(status, "cudaMalloc");
    if (!good()) return *failure_;
    return static_cast<std::byte*>(address);
  }
  void release(std::byte* address) override {
    static_cast<void>(cudaSetDevice(gpu_));
    static_cast<void>(cudaFree(address));
  }
  void zero(std::byte* address, std::int64_t bytes) override {
    if (use()) note(cudaMemsetAsync(address, 0, size(bytes), stream_), "cudaMemset");
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    if (use())
      note(cudaMemcpyAsync(to, from, size(bytes), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpy");
  }
  // Through two halves of pinned memory, one filled while the other travels.
  void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) override {
    const auto* from = static_cast<const std::byte*>(from_host);
    for (std::size_t done = 0; done < size(bytes) && use(); done += kStaging, half_ ^= 1U) {
      const std::size_t part = std::min(kStaging, size(bytes) - done);
      note(cudaEventSynchronize(staged_[half_]), "cudaMemcpy");
      if (!good()) return;
      std::byte* pinned = staging_half(half_);
      std::memcpy(pinned, from + done, part);
      note(cudaMemcpyAsync(to + done, pinned, part, cudaMemcpyHostToDevice, stream_), "cudaMemcpy");
      if (good()) note(cudaEventRecord(staged_[half_], stream_), "cudaEventRecord");
    }
  }
  // Waits, since the bytes have to be taken out of pinned memory.
  void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) override {
    for (std::size_t done = 0; done < size(bytes) && use(); done += kStaging) {
      const std::size_t part = std::min(kStaging, size(bytes) - done);
      for (const cudaEvent_t staged : staged_) note(cudaEventSynchronize(staged), "cudaMemcpy");
      std::byte* pinned = staging_half(0);
      if (good())
        note(cudaMemcpyAsync(pinned, from + done, part, cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpy");
      if (good()) note(cudaStreamSynchronize(stream_), "cudaMemcpy");
      if (good()) std::memcpy(static_cast<std::byte*>(to_host) + done, pinned, part);
    }
  }

  // Looks now and then instead of spinning, since ranks may share cores.
  Result<void> finish() override {
    while (use()) {
      const cudaError_t status = cudaStreamQuery(stream_);
      if (status == cudaSuccess) return {};
      if (status == cudaErrorNotReady) {
        std::this_thread::sleep_for(kPoll);
      } else {
        note(status, last_);
      }
    }
    return *failure_;
  }

  bool runs_behind() const override { return true; }
  Result<void> launched() override {
    if (!good()) return *failure_;
    return {};
  }
  void reserve_marks(std::int32_t count) override {
    for (std::size_t i = marks_.size(); i < size(count) && use(); ++i) {
      note(cudaEventCreate(&marks_.emplace_back(nullptr)), "cudaEventCreate");
    }
  }
  void mark(std::int32_t index) override {
    if (use()) note(cudaEventRecord(marks_[size(index)], stream_), "cudaEventRecord");
  }
  void wait(const Device& other, std::int32_t index) override {
    const auto& there = static_cast<const CudaDevice&>(other);
    if (size(index) >= there.marks_.size()) return;  // it failed, and tells so itself
    if (use())
      note(cudaStreamWaitEvent(stream_, there.marks_[size(index)], 0), "cudaStreamWaitEvent");
  }

  // An event between two looks at the clock; the narrowest pair of several is kept. Looked at again
  // here, before the next step: how far the event clock has gone astray since counts too.
  Result<nanoseconds> align() override {
    const Result<void> idle = finish();
    if (!idle) return idle.error();
    nanoseconds drift{0};
    Bracket best;
    for (int i = 0; i < kAlignTries && use(); ++i) {
      cudaEvent_t event = staged_[0];  // idle: nothing travels
      Bracket now;
      now.before = Clock::now();
      note(cudaEventRecord(event, stream_), "cudaEventRecord");
      if (good()) note(cudaEventSynchronize(event), "cudaEventSynchronize");
      now.after = Clock::now();
      if (!good() || now.width() >= best.width()) continue;
      best = now;
      if (aligned_) {
        const Result<TimePoint> told = time_of_event(event);
        if (told)
          drift = std::max(told.value(), now.middle()) - std::min(told.value(), now.middle());
      }
    }
    Bracket kept;
    for (int i = 0; i < kAlignTries && use(); ++i) {
      Bracket now;
      now.before = Clock::now();
      note(cudaEventRecord(base_, stream_), "cudaEventRecord");
      if (good()) note(cudaEventSynchronize(base_), "cudaEventSynchronize");
      now.after = Clock::now();
      kept = now;
      if (now.width() <= best.width() * 2) break;  // as good as this computer does it
    }
    if (!good()) return *failure_;
    aligned_ = true;
    base_time_ = kept.middle();
    return kept.width() / 2 + drift;
  }
  Result<TimePoint> time_of(std::int32_t index) override {
    if (!use()) return *failure_;
    return time_of_event(marks_[size(index)]);
  }

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
    const bool largest = reduction == Reduction::kMax;
    const bool known = largest || reduction == Reduction::kSum;
    if (known && type == DataType::kF32) return combine_parts<float>(target, parts, largest, count);
    if (known && type == DataType::kF64)
      return combine_parts<double>(target, parts, largest, count);
    static_cast<void>(divisor);
    if (good())
      failure_ = message("cuda-combine", "Rank {} has no CUDA kernel for the {} of {} yet.", rank_,
                         name_of(reduction), name_of(type));
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
  struct Bracket {
    TimePoint before{}, after = TimePoint::max();
    nanoseconds width() const { return after - before; }
    TimePoint middle() const { return before + width() / 2; }
  };

  bool good() const { return !failure_.has_value(); }
  // Each thread has a GPU of its own choice; a lane's object may be used by two, one after the
  // other.
  bool use() {
    if (good()) note(cudaSetDevice(gpu_), "cudaSetDevice");
    return good();
  }
  // The first failure stays.
  void note(cudaError_t status, const char* doing) {
    if (good()) last_ = doing;
    if (status == cudaSuccess || !good()) return;
    static_cast<void>(cudaGetLastError());
    failure_ = cuda_failure(static_cast<int>(status), cudaGetErrorString(status), doing);
  }
  void note(cublasStatus_t status, const char* doing) {
    if (good()) last_ = doing;
    if (status == CUBLAS_STATUS_SUCCESS || !good()) return;
    failure_ = message("cuda-failed", "cuBLASLt failed in {} (status {}) on rank {}.", doing,
                       static_cast<int>(status), rank_);
  }

  std::byte* staging_half(unsigned half) const {
    return static_cast<std::byte*>(staging_) + half * kStaging;
  }
  // Grows by waiting for what still uses the smaller one.
  void* scratch(std::size_t bytes) {
    if (!use() || bytes <= scratch_bytes_) return scratch_;
    note(cudaStreamSynchronize(stream_), last_);
    static_cast<void>(cudaFree(scratch_));
    scratch_ = nullptr;
    scratch_bytes_ = 0;
    if (good()) note(cudaMalloc(&scratch_, bytes), "cudaMalloc");
    if (good()) scratch_bytes_ = bytes;
    return scratch_;
  }
  template <class Number>
  void reduce_parts(Number* target, std::span<const Number* const> parts, bool largest, bool adds,
                    std::int64_t count) {
    if (use())
      note(parallelarium::reduce(target, parts.data(), static_cast<int>(parts.size()), largest,
                                 adds, size(count), stream_),
           "reduce");
  }
  template <class T>
  void combine_parts(std::byte* target, std::span<const std::byte* const> parts, bool largest,
                     std::int64_t count) {
    std::vector<const T*> typed;
    for (const std::byte* part : parts) typed.push_back(reinterpret_cast<const T*>(part));
    reduce_parts<T>(reinterpret_cast<T*>(target), typed, largest, false, count);
  }
  Result<TimePoint> time_of_event(cudaEvent_t event) {
    float milliseconds = 0;
    note(cudaEventElapsedTime(&milliseconds, base_, event), "cudaEventElapsedTime");
    if (!good()) return *failure_;
    return base_time_ + nanoseconds{static_cast<std::int64_t>(double{milliseconds} * 1e6)};
  }

  const int gpu_, rank_;
  cudaStream_t stream_ = nullptr;
  void* workspace_ = nullptr;
  void* staging_ = nullptr;  // pinned
  cudaEvent_t staged_[2] = {nullptr, nullptr};
  unsigned half_ = 0;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  std::vector<cudaEvent_t> marks_;
  cudaEvent_t base_ = nullptr;
  TimePoint base_time_{};
  bool aligned_ = false;
  std::optional<GpuMatmul> matmul_;
  std::optional<Message> failure_;
  const char* last_ = "nothing";
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int gpu, int rank) {
  return std::make_unique<CudaDevice>(gpu, rank);
}

}  // namespace parallelarium
