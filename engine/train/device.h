// SPDX-License-Identifier: Apache-2.0
// Where a rank's tensors live and its kernels run.
//
// train/ and run/ see device memory only through this interface. They pass addresses on and add to
// them but never dereference them, so the same pieces run on a CPU thread and on a GPU.
//
// One Device object stands for one lane of one rank: it does its launches in order. On a GPU it is
// a CUDA stream; on the CPU it is the calling thread, and a launch has finished when it returns.
// Objects of one rank share addresses. A failed launch sticks: later launches may be skipped, and
// finish() says why. Not thread-safe: one thread uses one object.
//
// Legend: see engine/plan/program/pieces.h. A launch computes what the CPU function of the same
// name in kernels/ computes; its header has shapes and requirements. All Values of a launch are
// fp32, or all are bf16, except that gradients of weights and moments may be fp32 beside bf16.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/train/values.h"
#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/block_attention.h"
#include "kernels/dropout.h"
#include "kernels/rotary.h"
#include "kernels/router.h"
#include "kernels/runs.h"

namespace parallelarium {

// Dropout of stored probabilities, see DroppedProbabilities.
struct DroppedValues {
  std::uint8_t* mask = nullptr;  // null: none
  Values dropped;
  AttentionDropout of;
  template <class T>
  DroppedProbabilities<T> as() const {
    return {mask, dropped.as<T>(), of};
  }
};

class Device {
 public:
  virtual ~Device() = default;

  // Memory. allocate: 256-byte aligned or better, contents undefined; error "memory-short" says how
  // much was asked for. release takes an address from allocate, or null.
  virtual Result<std::byte*> allocate(std::int64_t bytes) = 0;
  virtual void release(std::byte* address) = 0;
  virtual void zero(std::byte* address, std::int64_t bytes) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
  // The host may reuse its array at once.
  virtual void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) = 0;
  virtual void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) = 0;

  // Bytes that the object holds beside what it allocated; it gives them back when it ends.
  virtual std::int64_t workspace_bytes() const { return 0; }

  // Waits until everything launched on this object is done. Returns the first failure since the
  // last call.
  virtual Result<void> finish() = 0;

  // Whether launches may return before they are done (a stream of a GPU). Then marks give the order
  // between objects, and times. Otherwise a launch has finished when it returns, and nobody needs
  // marks.
  virtual bool runs_behind() const { return false; }
  // The first launch that failed so far, without waiting; finish() says it too.
  virtual Result<void> launched() { return {}; }
  // Makes room for marks 0 .. count - 1, before other threads see this object.
  virtual void reserve_marks(std::int32_t count) { static_cast<void>(count); }
  // Sets the mark behind all launches so far; setting it again moves it.
  virtual void mark(std::int32_t index) { static_cast<void>(index); }
  // Later launches here begin after `other` has reached its mark. Another thread may have set that
  // mark, but before this call. Requires: the same kind of device.
  virtual void wait(const Device& other, std::int32_t index) {
    static_cast<void>(other), static_cast<void>(index);
  }
  // Ties the device's clock to the process's. Returns by how much they may differ. `like`: another
  // object of the same kind, aligned just now; its alignment is reused if the clock is the same.
  virtual Result<std::chrono::nanoseconds> align(const Device* like = nullptr) {
    return static_cast<void>(like), std::chrono::nanoseconds{0};
  }
  // Whether the device has passed the mark. Requires: the mark is set.
  virtual bool passed(std::int32_t index) const { return static_cast<void>(index), true; }
  // When the mark was passed. Requires: align() before the mark was set, finish() after.
  virtual Result<std::chrono::steady_clock::time_point> time_of(std::int32_t index) {
    return message("mark-unknown", "This device keeps no mark {}.", index);
  }

  // Whether a profiler wants names. Only then the launching thread calls enter_op and leave_op, in
  // pairs. The name outlives the object.
  virtual bool names_ops() const { return false; }
  virtual void enter_op(const char* name) { static_cast<void>(name); }
  virtual void leave_op() {}

  // target[i] = parts[0][i] op parts[1][i] op ..., rounded once: kernels/combine.h's combine_cpu
  // for any type and reduction. target may be one of the parts. The call reads the addresses of the
  // parts, at most 64. A device that cannot combine such a type fails as a launch does.
  virtual void combine(DataType type, Reduction reduction, std::byte* target,
                       std::span<const std::byte* const> parts, int divisor,
                       std::int64_t count) = 0;
  // Swaps two stretches that do not overlap.
  virtual void swap(std::byte* a, std::byte* b, std::int64_t bytes) = 0;

  // sum[i] += part[i], also fp64.
  virtual void accumulate(Values sum, ConstValues part, std::int64_t count) = 0;

  // The output and its gradient may be fp32 beside bf16, but then have no bias. Their rows may be
  // `y_pitch` apart (kernels/pitch.h).
  virtual void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias,
                              std::int64_t N, std::int64_t M, std::int64_t K,
                              std::int64_t y_pitch = 0) = 0;
  virtual void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N,
                                 std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0) = 0;
  virtual void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x,
                                  std::int64_t N, std::int64_t M, std::int64_t K,
                                  std::int64_t y_pitch = 0) = 0;

  virtual void layer_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain,
                                  ConstValues bias, std::int64_t N, std::int64_t C) = 0;
  virtual void rms_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain,
                                std::int64_t N, std::int64_t C) = 0;
  virtual void layer_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                                     const float* stats, bool accumulate, std::int64_t N,
                                     std::int64_t C) = 0;
  virtual void rms_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                                   const float* stats, bool accumulate, std::int64_t N,
                                   std::int64_t C) = 0;
  virtual void norm_weight_grad(Values dgain, Values dbias, ConstValues dy, ConstValues x,
                                const float* stats, std::int64_t N, std::int64_t C) = 0;

  virtual void attention_forward(Values context, Values probabilities, ConstValues qkv,
                                 const AttentionShape& shape, const DroppedValues& dropout) = 0;
  virtual void attention_backward(Values dqkv, float* scratch, ConstValues dcontext,
                                  ConstValues qkv, ConstValues probabilities,
                                  const AttentionShape& shape, const DroppedValues& dropout) = 0;
  // Whether fused_attention_forward and _backward take heads of D such numbers; callers do others
  // by blocks.
  virtual bool fuses(DataType type, std::int64_t D) const {
    return static_cast<void>(D), type == DataType::kBf16;
  }
  virtual void fused_attention_forward(Values context, float* lse, float* scratch, ConstValues qkv,
                                       const AttentionShape& shape) = 0;
  virtual void fused_attention_backward(Values dqkv, float* scratch, ConstValues dcontext,
                                        ConstValues qkv, ConstValues context, const float* lse,
                                        const AttentionShape& shape) = 0;
  virtual void block_attention_forward(Values context, float* row_max, float* row_sum,
                                       float* scratch, ConstValues qkv, ConstValues keys_values,
                                       const AttentionBlock& block) = 0;
  virtual void block_attention_finish(Values context, float* row_max, const float* row_sum,
                                      const AttentionShape& shape) = 0;
  virtual void block_attention_backward(Values dqkv, Values dkeys_values, float* scratch,
                                        ConstValues dcontext, ConstValues qkv,
                                        ConstValues keys_values, ConstValues context,
                                        const float* lse, const AttentionBlock& block) = 0;
  virtual void rotary(Values qkv, Turn turn, std::int64_t first, const AttentionShape& shape) = 0;
  // to = from for rows of `width` elements; each stride is the distance between rows in elements.
  virtual void copy_rows(Values to, std::int64_t to_stride, ConstValues from,
                         std::int64_t from_stride, std::int64_t rows, std::int64_t width) = 0;
  // sum += part for such rows.
  virtual void accumulate_rows(Values sum, std::int64_t sum_stride, ConstValues part,
                               std::int64_t part_stride, std::int64_t rows, std::int64_t width) = 0;

  // to = value for rows of `width` elements, `stride` apart.
  virtual void fill_rows(Values to, std::int64_t stride, float value, std::int64_t rows,
                         std::int64_t width) = 0;

  virtual void residual_add(Values out, ConstValues stream, ConstValues branch,
                            std::int64_t count) = 0;
  virtual void dropout_residual(Values out, std::uint8_t* mask, ConstValues stream,
                                ConstValues branch, const Dropout& dropout, std::int64_t first,
                                std::int64_t count) = 0;
  virtual void dropout_grad(Values dbranch, ConstValues dx, const std::uint8_t* mask, float scale,
                            std::int64_t count) = 0;
  virtual void gelu_forward(Values g, ConstValues u, std::int64_t count) = 0;
  virtual void gelu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t count) = 0;
  virtual void swiglu_forward(Values g, ConstValues u, std::int64_t N, std::int64_t F) = 0;
  virtual void swiglu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t N,
                               std::int64_t F) = 0;

  virtual void embedding_forward(Values x, const std::int32_t* tokens, ConstValues table,
                                 ConstValues positions, std::int64_t N, std::int64_t T,
                                 std::int64_t C) = 0;
  virtual void embedding_grad(Values dtable, Values dpositions, ConstValues dx,
                              const std::int32_t* tokens, std::int64_t N, std::int64_t T,
                              std::int64_t C) = 0;

  // Rows of logits are `pitch` apart.
  virtual void loss_max(float* row_max, ConstValues logits, std::int64_t N, std::int64_t V,
                        std::int64_t pitch = 0) = 0;
  virtual void loss_sum(float* sum_exp, float* target_logit, ConstValues logits,
                        const float* row_max, const std::int32_t* targets, std::int64_t N,
                        std::int64_t V, std::int64_t pitch = 0) = 0;
  // loss_max and loss_sum at once.
  virtual void loss_max_sum(float* row_max, float* sum_exp, float* target_logit, ConstValues logits,
                            const std::int32_t* targets, std::int64_t N, std::int64_t V,
                            std::int64_t pitch = 0) = 0;
  virtual void loss(double* sum, const float* row_max, const float* sum_exp,
                    const float* target_logit, std::int64_t N) = 0;
  virtual void loss_grad(Values logits, const float* row_max, const float* sum_exp,
                         const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                         std::int64_t pitch = 0) = 0;

  virtual void route(float* gates, std::int32_t* routes, float* record, const float* logits,
                     const float* bias, const RouterShape& shape) = 0;
  virtual void route_grad(float* dlogits, const float* dgates, const float* logits,
                          const float* gates, const std::int32_t* routes, float scale,
                          const RouterShape& shape) = 0;
  virtual void update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                           std::int64_t E) = 0;
  virtual void dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes, std::int64_t N,
                             std::int64_t k, std::int64_t C) = 0;
  virtual void dispatch_rows_grad(Values dy, ConstValues drows, const std::int32_t* routes,
                                  bool adds, std::int64_t N, std::int64_t k, std::int64_t C) = 0;
  virtual void combine_rows(Values out, ConstValues rows, const float* gates, ConstValues shared,
                            const std::int32_t* routes, std::int64_t N, std::int64_t k,
                            std::int64_t C) = 0;
  virtual void combine_rows_grad(Values drows, float* dgates, ConstValues dout, ConstValues rows,
                                 const float* gates, const std::int32_t* routes, std::int64_t N,
                                 std::int64_t k, std::int64_t C) = 0;

  // Adds up the marked runs alone.
  virtual void sum_of_squares(double* sum, ConstValues values, const Runs& counted) = 0;
  // Unmarked runs do not decay. master is null exactly if the parameters are fp32.
  virtual void adamw(Values parameters, float* master, ConstValues gradients, Values first_moment,
                     Values second_moment, const double* square_sum, float clip,
                     const AdamW& settings, const Runs& decayed) = 0;
};

// A device of host memory that runs kernels/ on the calling thread.
std::unique_ptr<Device> make_cpu_device();

}  // namespace parallelarium
