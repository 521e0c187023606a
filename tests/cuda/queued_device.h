// SPDX-License-Identifier: Apache-2.0
// A Device that runs behind, as a stream of a GPU does: launches go to a thread of their own, which
// takes them one after another, now and then a little late. Marks and waits are those of CUDA
// events: a wait is for the mark as it stood when the wait was called. The queue is finite.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/train/device.h"

namespace parallelarium {

class QueuedDevice : public Device {
 public:
  // `before_linear` runs before every forward product, on the device's thread.
  explicit QueuedDevice(std::chrono::microseconds late,
                        std::function<void()> before_linear = nullptr)
      : late_(late), before_linear_(std::move(before_linear)) {
    worker_ = std::thread([this] { work(); });
  }
  ~QueuedDevice() override {
    launch({});
    worker_.join();
  }
  QueuedDevice(const QueuedDevice&) = delete;
  QueuedDevice& operator=(const QueuedDevice&) = delete;

  bool runs_behind() const override { return true; }
  void reserve_marks(std::int32_t count) override {
    marks_.resize(static_cast<std::size_t>(count));
  }
  void mark(std::int32_t index) override {
    auto point = std::make_shared<Point>();
    {
      const std::lock_guard lock(mutex_);
      marks_[static_cast<std::size_t>(index)] = point;
    }
    launch([point] {
      const std::lock_guard lock(point->mutex);
      point->passed = true;
      point->time = std::chrono::steady_clock::now();
      point->changed.notify_all();
    });
  }
  void wait(const Device& other, std::int32_t index) override {
    const std::shared_ptr<Point> point = static_cast<const QueuedDevice&>(other).point(index);
    if (point == nullptr) return;  // a CUDA event that was never recorded delays nobody
    launch([point] {
      std::unique_lock lock(point->mutex);
      point->changed.wait(lock, [&] { return point->passed; });
    });
  }
  bool passed(std::int32_t index) const override {
    const std::shared_ptr<Point> found = point(index);
    if (found == nullptr) return false;
    const std::lock_guard lock(found->mutex);
    return found->passed;
  }
  // Whether a launch had to wait for room.
  bool was_full() const {
    const std::lock_guard lock(mutex_);
    return was_full_;
  }
  // A kernel of the test's own.
  void enqueue(std::function<void()> kernel) { launch(std::move(kernel)); }
  Result<std::chrono::steady_clock::time_point> time_of(std::int32_t index) override {
    const std::shared_ptr<Point> found = point(index);
    if (found == nullptr) return message("mark-unknown", "Nobody set mark {}.", index);
    return found->time;
  }
  Result<void> finish() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return queue_.empty() && !busy_; });
    return {};
  }

  Result<std::byte*> allocate(std::int64_t bytes) override { return inner_->allocate(bytes); }
  void release(std::byte* address) override { inner_->release(address); }
  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    launch([=, this, all = std::vector<const std::byte*>(parts.begin(), parts.end())] {
      inner_->combine(type, reduction, target, all, divisor, count);
    });
  }
  void zero(std::byte* address, std::int64_t bytes) override {
    launch([=, this] { inner_->zero(address, bytes); });
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    launch([=, this] { inner_->copy(to, from, bytes); });
  }
  void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) override {
    // Taken at once, as into pinned memory.
    const auto* from = static_cast<const std::byte*>(from_host);
    launch([this, to, taken = std::vector<std::byte>(from, from + bytes)] {
      inner_->copy_to_device(to, taken.data(), static_cast<std::int64_t>(taken.size()));
    });
  }
  void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) override {
    launch([=, this] { inner_->copy_to_host(to_host, from, bytes); });
  }
  void swap(std::byte* a, std::byte* b, std::int64_t bytes) override {
    launch([=, this] { inner_->swap(a, b, bytes); });
  }
  void accumulate(Values sum, ConstValues part, std::int64_t count) override {
    launch([=, this] { inner_->accumulate(sum, part, count); });
  }
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    launch([=, this] {
      if (before_linear_) before_linear_();
      inner_->linear_forward(y, x, w, bias, N, M, K, y_pitch);
    });
  }
  void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N, std::int64_t M,
                         std::int64_t K, std::int64_t y_pitch) override {
    launch([=, this] { inner_->linear_input_grad(dx, dy, w, N, M, K, y_pitch); });
  }
  void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                          std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    launch([=, this] { inner_->linear_weight_grad(dw, db, dy, x, N, M, K, y_pitch); });
  }
  void layer_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, ConstValues bias,
                          std::int64_t N, std::int64_t C) override {
    launch([=, this] { inner_->layer_norm_forward(y, stats, x, gain, bias, N, C); });
  }
  void rms_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, std::int64_t N,
                        std::int64_t C) override {
    launch([=, this] { inner_->rms_norm_forward(y, stats, x, gain, N, C); });
  }
  void layer_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                             const float* stats, bool accumulate, std::int64_t N,
                             std::int64_t C) override {
    launch([=, this] { inner_->layer_norm_input_grad(dx, dy, x, gain, stats, accumulate, N, C); });
  }
  void rms_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                           const float* stats, bool accumulate, std::int64_t N,
                           std::int64_t C) override {
    launch([=, this] { inner_->rms_norm_input_grad(dx, dy, x, gain, stats, accumulate, N, C); });
  }
  void norm_weight_grad(Values dgain, Values dbias, ConstValues dy, ConstValues x,
                        const float* stats, std::int64_t N, std::int64_t C) override {
    launch([=, this] { inner_->norm_weight_grad(dgain, dbias, dy, x, stats, N, C); });
  }
  void attention_forward(Values context, Values probabilities, ConstValues qkv,
                         const AttentionShape& shape, const DroppedValues& dropout) override {
    launch([=, this] { inner_->attention_forward(context, probabilities, qkv, shape, dropout); });
  }
  void attention_backward(Values dqkv, float* scratch, ConstValues dcontext, ConstValues qkv,
                          ConstValues probabilities, const AttentionShape& shape,
                          const DroppedValues& dropout) override {
    launch([=, this] {
      inner_->attention_backward(dqkv, scratch, dcontext, qkv, probabilities, shape, dropout);
    });
  }
  void fused_attention_forward(Values context, float* lse, float* scratch, ConstValues qkv,
                               const AttentionShape& shape) override {
    launch([=, this] { inner_->fused_attention_forward(context, lse, scratch, qkv, shape); });
  }
  void fused_attention_backward(Values dqkv, float* scratch, ConstValues dcontext, ConstValues qkv,
                                ConstValues context, const float* lse,
                                const AttentionShape& shape) override {
    launch([=, this] {
      inner_->fused_attention_backward(dqkv, scratch, dcontext, qkv, context, lse, shape);
    });
  }
  void block_attention_forward(Values context, float* row_max, float* row_sum, float* scratch,
                               ConstValues qkv, ConstValues keys_values,
                               const AttentionBlock& block) override {
    launch([=, this] {
      inner_->block_attention_forward(context, row_max, row_sum, scratch, qkv, keys_values, block);
    });
  }
  void block_attention_finish(Values context, float* row_max, const float* row_sum,
                              const AttentionShape& shape) override {
    launch([=, this] { inner_->block_attention_finish(context, row_max, row_sum, shape); });
  }
  void block_attention_backward(Values dqkv, Values dkeys_values, float* scratch,
                                ConstValues dcontext, ConstValues qkv, ConstValues keys_values,
                                ConstValues context, const float* lse,
                                const AttentionBlock& block) override {
    launch([=, this] {
      inner_->block_attention_backward(dqkv, dkeys_values, scratch, dcontext, qkv, keys_values,
                                       context, lse, block);
    });
  }
  void copy_rows(Values to, std::int64_t to_stride, ConstValues from, std::int64_t from_stride,
                 std::int64_t rows, std::int64_t width) override {
    launch([=, this] { inner_->copy_rows(to, to_stride, from, from_stride, rows, width); });
  }
  void rotary(Values qkv, Turn turn, std::int64_t first, const AttentionShape& shape) override {
    launch([=, this] { inner_->rotary(qkv, turn, first, shape); });
  }
  void accumulate_rows(Values sum, std::int64_t sum_stride, ConstValues part,
                       std::int64_t part_stride, std::int64_t rows, std::int64_t width) override {
    launch([=, this] { inner_->accumulate_rows(sum, sum_stride, part, part_stride, rows, width); });
  }
  void fill_rows(Values to, std::int64_t stride, float value, std::int64_t rows,
                 std::int64_t width) override {
    launch([=, this] { inner_->fill_rows(to, stride, value, rows, width); });
  }
  void residual_add(Values out, ConstValues stream, ConstValues branch,
                    std::int64_t count) override {
    launch([=, this] { inner_->residual_add(out, stream, branch, count); });
  }
  void dropout_residual(Values out, std::uint8_t* mask, ConstValues stream, ConstValues branch,
                        const Dropout& dropout, std::int64_t first, std::int64_t count) override {
    launch(
        [=, this] { inner_->dropout_residual(out, mask, stream, branch, dropout, first, count); });
  }
  void dropout_grad(Values dbranch, ConstValues dx, const std::uint8_t* mask, float scale,
                    std::int64_t count) override {
    launch([=, this] { inner_->dropout_grad(dbranch, dx, mask, scale, count); });
  }
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    launch([=, this] { inner_->gelu_forward(g, u, count); });
  }
  void gelu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t count) override {
    launch([=, this] { inner_->gelu_backward(du, dg, u, count); });
  }
  void swiglu_forward(Values g, ConstValues u, std::int64_t N, std::int64_t F) override {
    launch([=, this] { inner_->swiglu_forward(g, u, N, F); });
  }
  void swiglu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t N,
                       std::int64_t F) override {
    launch([=, this] { inner_->swiglu_backward(du, dg, u, N, F); });
  }
  void embedding_forward(Values x, const std::int32_t* tokens, ConstValues table,
                         ConstValues positions, std::int64_t N, std::int64_t T,
                         std::int64_t C) override {
    launch([=, this] { inner_->embedding_forward(x, tokens, table, positions, N, T, C); });
  }
  void embedding_grad(Values dtable, Values dpositions, ConstValues dx, const std::int32_t* tokens,
                      std::int64_t N, std::int64_t T, std::int64_t C) override {
    launch([=, this] { inner_->embedding_grad(dtable, dpositions, dx, tokens, N, T, C); });
  }
  void loss_max(float* row_max, ConstValues logits, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override {
    launch([=, this] { inner_->loss_max(row_max, logits, N, V, pitch); });
  }
  void loss_sum(float* sum_exp, float* target_logit, ConstValues logits, const float* row_max,
                const std::int32_t* targets, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override {
    launch([=, this] {
      inner_->loss_sum(sum_exp, target_logit, logits, row_max, targets, N, V, pitch);
    });
  }
  void loss_max_sum(float* row_max, float* sum_exp, float* target_logit, ConstValues logits,
                    const std::int32_t* targets, std::int64_t N, std::int64_t V,
                    std::int64_t pitch) override {
    launch([=, this] {
      inner_->loss_max_sum(row_max, sum_exp, target_logit, logits, targets, N, V, pitch);
    });
  }
  void loss(double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
            std::int64_t N) override {
    launch([=, this] { inner_->loss(sum, row_max, sum_exp, target_logit, N); });
  }
  void loss_grad(Values logits, const float* row_max, const float* sum_exp,
                 const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                 std::int64_t pitch) override {
    launch([=, this] { inner_->loss_grad(logits, row_max, sum_exp, targets, scale, N, V, pitch); });
  }
  void route(float* gates, std::int32_t* routes, float* record, const float* logits,
             const float* bias, const RouterShape& shape) override {
    launch([=, this] { inner_->route(gates, routes, record, logits, bias, shape); });
  }
  void route_grad(float* dlogits, const float* dgates, const float* logits, const float* gates,
                  const std::int32_t* routes, float scale, const RouterShape& shape) override {
    launch([=, this] { inner_->route_grad(dlogits, dgates, logits, gates, routes, scale, shape); });
  }
  void update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                   std::int64_t E) override {
    launch([=, this] { inner_->update_bias(bias, loads, rate, layers, E); });
  }
  void dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes, std::int64_t N,
                     std::int64_t k, std::int64_t C) override {
    launch([=, this] { inner_->dispatch_rows(rows, y, routes, N, k, C); });
  }
  void dispatch_rows_grad(Values dy, ConstValues drows, const std::int32_t* routes, bool adds,
                          std::int64_t N, std::int64_t k, std::int64_t C) override {
    launch([=, this] { inner_->dispatch_rows_grad(dy, drows, routes, adds, N, k, C); });
  }
  void combine_rows(Values out, ConstValues rows, const float* gates, ConstValues shared,
                    const std::int32_t* routes, std::int64_t N, std::int64_t k,
                    std::int64_t C) override {
    launch([=, this] { inner_->combine_rows(out, rows, gates, shared, routes, N, k, C); });
  }
  void combine_rows_grad(Values drows, float* dgates, ConstValues dout, ConstValues rows,
                         const float* gates, const std::int32_t* routes, std::int64_t N,
                         std::int64_t k, std::int64_t C) override {
    launch([=, this] {
      inner_->combine_rows_grad(drows, dgates, dout, rows, gates, routes, N, k, C);
    });
  }
  void sum_of_squares(double* sum, ConstValues values, const Runs& counted) override {
    launch([=, this] { inner_->sum_of_squares(sum, values, counted); });
  }
  void adamw(Values parameters, float* master, ConstValues gradients, Values first_moment,
             Values second_moment, const double* square_sum, float clip, const AdamW& settings,
             const Runs& decayed) override {
    launch([=, this] {
      inner_->adamw(parameters, master, gradients, first_moment, second_moment, square_sum, clip,
                    settings, decayed);
    });
  }

 private:
  struct Point {
    std::mutex mutex;
    std::condition_variable changed;
    bool passed = false;
    std::chrono::steady_clock::time_point time;
  };

  std::shared_ptr<Point> point(std::int32_t index) const {
    const std::lock_guard lock(mutex_);
    return marks_[static_cast<std::size_t>(index)];
  }
  // Nothing: the thread ends. Waits for room where a driver would.
  void launch(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    was_full_ = was_full_ || queue_.size() >= kRoom;
    room_.wait(lock, [&] { return queue_.size() < kRoom; });
    queue_.push_back(std::move(task));
    changed_.notify_one();
  }
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !queue_.empty(); });
      const std::function<void()> task = std::move(queue_.front());
      queue_.pop_front();
      room_.notify_all();
      if (!task) return;
      busy_ = true;
      lock.unlock();
      if (late_.count() > 0 && ++taken_ % 8 == 0) std::this_thread::sleep_for(late_);
      task();
      lock.lock();
      busy_ = false;
      if (queue_.empty()) idle_.notify_all();
    }
  }

  static constexpr std::size_t kRoom = 1000;
  const std::chrono::microseconds late_;
  const std::function<void()> before_linear_;
  std::unique_ptr<Device> inner_ = make_cpu_device();
  mutable std::mutex mutex_;
  std::condition_variable changed_, idle_, room_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false, was_full_ = false;
  unsigned taken_ = 0;
  std::vector<std::shared_ptr<Point>> marks_;
  std::thread worker_;
};

}  // namespace parallelarium
