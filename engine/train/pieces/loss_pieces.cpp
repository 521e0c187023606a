// SPDX-License-Identifier: Apache-2.0
// The three parts of the loss.
#include "engine/train/pieces/launch.h"

namespace parallelarium {
namespace {

void loss_max_forward(const Launch& op) {
  op.device.loss_max(op.f32(1), op.values(0), op.N(), op.shape.V, op.shape.logits_pitch());
}

void loss_sum_forward(const Launch& op) {
  if (!op.shape.cuts_vocabulary())
    return op.device.loss_max_sum(op.f32(1), op.f32(3), op.f32(4), op.values(0), op.i32(2), op.N(),
                                  op.shape.V, op.shape.logits_pitch());
  op.device.loss_sum(op.f32(3), op.f32(4), op.values(0), op.f32(1), op.i32(2), op.N(), op.shape.V,
                     op.shape.logits_pitch());
}

void loss_forward(const Launch& op) {
  op.device.loss(op.f64(3), op.f32(0), op.f32(1), op.f32(2), op.N());
}

void loss_input_grad(const Launch& op) {
  const auto scale = static_cast<float>(1.0 / static_cast<double>(op.shape.global_tokens));
  op.device.loss_grad(op.values(3), op.f32(0), op.f32(1), op.i32(2), scale, op.N(), op.shape.V,
                      op.shape.logits_pitch());
}

constexpr LaunchRow kLossEntries[] = {
    LaunchRow{Piece::kLossMax, kF, 2, 2, loss_max_forward},
    LaunchRow{Piece::kLossSum, kF, 5, 5, loss_sum_forward},
    LaunchRow{Piece::kLoss, kF, 4, 4, loss_forward},
    LaunchRow{Piece::kLoss, kI, 4, 4, loss_input_grad},
};

}  // namespace

std::span<const LaunchRow> loss_entries() { return kLossEntries; }

}  // namespace parallelarium
