// SPDX-License-Identifier: Apache-2.0
// The three parts of the loss.
#include <array>
#include <limits>

#include "engine/train/pieces/launch.h"

namespace parallelarium {
namespace {

// Operand `to` becomes operand `from`, in its own type.
void copy_logits(const Launch& op, std::size_t to, std::size_t from) {
  const Operand& copied = op.operands[to];
  if (copied.type != op.operands[from].type)
    return op.device.cast(op.values(to), op.values(from), copied.count);
  op.device.copy(op.bytes(to), op.bytes(from), copied.count * size_of(copied.type));
}

// The logits that the loss reads: operand 0, or the fp32 copy of them that it writes at `copy`.
ConstValues logits_of(const Launch& op, std::size_t copy) {
  if (op.count() <= copy) return op.values(0);
  copy_logits(op, copy, 0);
  return op.values(copy);
}

void loss_max_forward(const Launch& op) {
  op.device.loss_max(op.f32(1), logits_of(op, 2), op.N(), op.shape.V, op.shape.logits_pitch());
}

void loss_sum_forward(const Launch& op) {
  const ConstValues logits = logits_of(op, 5);
  if (!op.shape.cuts_vocabulary())
    return op.device.loss_max_sum(op.f32(1), op.f32(3), op.f32(4), logits, op.i32(2), op.N(),
                                  op.shape.V, op.shape.logits_pitch());
  op.device.loss_sum(op.f32(3), op.f32(4), logits, op.f32(1), op.i32(2), op.N(), op.shape.V,
                     op.shape.logits_pitch());
}

void loss_forward(const Launch& op) {
  op.device.loss(op.f64(3), op.f32(0), op.f32(1), op.f32(2), op.N());
}

// In place: logits become their gradient, without the targets' part where `targets` is null.
void to_gradient(const Launch& op, std::size_t logits, const float* sum_exp,
                 const std::int32_t* targets) {
  const auto scale = static_cast<float>(1.0 / static_cast<double>(op.shape.global_tokens));
  op.device.loss_grad(op.values(logits), op.f32(0), sum_exp, targets, scale, op.N(), op.shape.V,
                      op.shape.logits_pitch());
}

// As PyTorch does it op by op (LossCopies::kFp32). The gradient of the log-probabilities is that of
// logits of which none is possible, with sums so large that 0 is exact; the softmax, scaled, and
// that add up to the gradient. The place of the softmax holds those sums before.
void loss_input_grad_in_fp32(const Launch& op) {
  constexpr std::size_t kGradient = 3, kLogits = 4, kOfProbabilities = 5, kNext = 6;
  const bool casts = op.operands[kGradient].type != DataType::kF32;
  const std::size_t sum = casts ? op.count() - 1 : kGradient;
  const std::size_t softmax = op.shape.cuts_vocabulary() ? kNext : sum;
  op.device.fill_rows(op.values(kOfProbabilities), op.shape.logits_pitch(), kNoLogit, op.N(),
                      op.shape.logits_pitch());
  op.device.fill_rows(op.values(softmax), op.N(), std::numeric_limits<float>::max(), 1, op.N());
  to_gradient(op, kOfProbabilities, op.f32(softmax), op.i32(2));
  copy_logits(op, softmax, kLogits);
  to_gradient(op, softmax, op.f32(1), nullptr);
  const std::array<const std::byte*, 2> parts = {op.bytes(softmax), op.bytes(kOfProbabilities)};
  op.device.combine(DataType::kF32, Reduction::kSum, op.bytes(sum), parts, 1,
                    op.operands[sum].count);
  if (casts) copy_logits(op, kGradient, sum);
}

void loss_input_grad(const Launch& op) {
  constexpr std::size_t kLogits = 3, kGradient = 4;
  if (op.count() > kGradient + 1) return loss_input_grad_in_fp32(op);
  if (op.count() > kGradient) copy_logits(op, kGradient, kLogits);
  to_gradient(op, op.count() - 1, op.f32(1), op.i32(2));
}

constexpr LaunchRow kLossEntries[] = {
    LaunchRow{Piece::kLossMax, kF, 2, 3, loss_max_forward},
    LaunchRow{Piece::kLossSum, kF, 5, 6, loss_sum_forward},
    LaunchRow{Piece::kLoss, kF, 4, 4, loss_forward},
    LaunchRow{Piece::kLoss, kI, 4, 8, loss_input_grad},
};

}  // namespace

std::span<const LaunchRow> loss_entries() { return kLossEntries; }

}  // namespace parallelarium
