// SPDX-License-Identifier: Apache-2.0
// Clearing, norm of the gradients, optimizer.
#include <algorithm>

#include "engine/train/launch.h"
#include "engine/train/parameters.h"

namespace parallelarium {
namespace {

void zero_grad(const Launch& op) {
  for (std::size_t index = 0; index < op.count(); ++index)
    op.device.zero(op.bytes(index), op.operands[index].count * size_of(op.operands[index].type));
}

void grad_norm(const Launch& op) {
  const std::size_t sum = op.count() - 1;
  if (op.operands[sum].access == Access::kWrite)
    op.device.zero(op.bytes(sum), size_of(DataType::kF64));
  for (std::size_t index = 0; index < sum; ++index) {
    const std::int64_t first = op.parameter_at(index);
    std::int64_t begin = first, end = first;  // parameters that stand together are one sum
    const auto add = [&] {
      if (end > begin)
        op.device.sum_of_squares(op.f64(sum), op.values(index) + (begin - first), end - begin);
    };
    for (const ParameterSlice& slice : op.program.parameters) {
      const std::int64_t counted = slice.shared_copy ? 0 : slice.count - slice.copied;
      const std::int64_t from = std::max(first, slice.offset);
      const std::int64_t to = std::min(first + op.operands[index].count, slice.offset + counted);
      if (from >= to) continue;
      if (from != end) {
        add();
        begin = from;
      }
      end = to;
    }
    add();
  }
}

// Only matrices decay: neighbours of one kind are one launch.
void optimizer(const Launch& op) {
  AdamW settings;
  settings.learning_rate = static_cast<float>(op.scalars.learning_rate);
  settings.step = op.scalars.step;
  const float decay = settings.weight_decay;
  // Parameters, gradients and moments of every part, and the master where there is one.
  const bool has_master = op.count() > 4 && op.tensor(4) == Tensor::kMaster;
  const std::size_t each = has_master ? 5 : 4, parts = op.count() / each * each;
  const double* square_sum = op.count() > parts ? op.f64(parts) : nullptr;
  for (std::size_t part = 0; part < parts; part += each) {
    const std::int64_t first = op.parameter_at(part);
    std::int64_t begin = first, end = first;
    const auto update = [&] {
      if (begin == end) return;
      const std::int64_t at = begin - first;
      op.device.adamw(op.values(part) + at, has_master ? op.f32(part + 4) + at : nullptr,
                      op.values(part + 1) + at, op.values(part + 2) + at, op.values(part + 3) + at,
                      square_sum, static_cast<float>(op.scalars.clip), settings, end - begin);
    };
    for (const ParameterSlice& slice : op.program.parameters) {
      const std::int64_t from = std::max(first, slice.offset);
      const std::int64_t to = std::min(first + op.operands[part].count, slice.offset + slice.count);
      if (from >= to) continue;
      const float own = decays(slice.parameter) ? decay : 0.0F;
      if (from != end || own != settings.weight_decay) {
        update();
        begin = from;
        settings.weight_decay = own;
      }
      end = to;
    }
    update();
  }
}

constexpr std::size_t kAny = 1 << 20;

constexpr Entry kEntries[] = {
    Entry{Piece::kZeroGrad, kU, 1, kAny, zero_grad},
    Entry{Piece::kZeroGrad, kW, 1, 1, zero_grad},
    Entry{Piece::kGradNorm, kU, 1, kAny, grad_norm},
    Entry{Piece::kOptimizer, kU, 4, kAny, optimizer},
};

}  // namespace

std::span<const Entry> update_entries() { return kEntries; }

}  // namespace parallelarium
