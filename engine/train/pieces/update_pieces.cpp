// SPDX-License-Identifier: Apache-2.0
// Clearing, norm of the gradients, optimizer.
#include <algorithm>

#include "engine/train/parameters.h"
#include "engine/train/pieces/launch.h"

namespace parallelarium {
namespace {

void zero_grad(const Launch& op) {
  for (std::size_t index = 0; index < op.count(); ++index)
    op.device.zero(op.bytes(index), op.operands[index].count * size_of(op.operands[index].type));
}

// Calls visit(where they begin in the operand, runs) for the operand's parameters: once, unless
// there are more runs than one launch takes or elements between that belong to no parameter.
// marked(slice): so many elements at the slice's beginning are marked.
template <class Marked, class Visit>
void for_runs(const Launch& op, std::size_t index, const Marked& marked, const Visit& visit) {
  const std::int64_t first = op.parameter_at(index), last = first + op.operands[index].count;
  std::int64_t begin = first;
  Runs runs;
  const auto restart_at = [&](std::int64_t at) {
    if (runs.length() > 0) visit(begin - first, runs);
    begin = at;
    runs = {};
  };
  const auto add = [&](std::int64_t until, bool mark) {
    const std::int64_t from = begin + runs.length(), to = std::min(until, last);
    if (from >= to) return;
    if (!runs.takes(mark)) restart_at(from);
    runs.add(to - from, mark);
  };
  for (const ParameterSlice& slice : op.program.parameters) {
    if (slice.offset > begin + runs.length()) restart_at(slice.offset);
    add(slice.offset + marked(slice), true);
    add(slice.offset + slice.count, false);
  }
  restart_at(last);
}

void grad_norm(const Launch& op) {
  const std::size_t sum = op.count() - 1;
  if (op.operands[sum].access == Access::kWrite)
    op.device.zero(op.bytes(sum), size_of(DataType::kF64));
  const auto counted = [](const ParameterSlice& slice) {
    return slice.shared_copy ? 0 : slice.count - slice.copied;
  };
  for (std::size_t index = 0; index < sum; ++index)
    for_runs(op, index, counted, [&](std::int64_t at, Runs& runs) {
      if (!runs.marked[runs.count - 1]) --runs.count;  // nothing to read behind the last
      if (runs.count > 0) op.device.sum_of_squares(op.f64(sum), op.values(index) + at, runs);
    });
}

// Only matrices decay.
void optimizer(const Launch& op) {
  AdamW settings;
  settings.learning_rate = static_cast<float>(op.scalars.learning_rate);
  settings.step = op.scalars.step;
  // Parameters, gradients and moments of every part, and the master where there is one.
  const bool has_master = op.count() > 4 && op.tensor(4) == Tensor::kMaster;
  const std::size_t each = has_master ? 5 : 4, parts = op.count() / each * each;
  const double* square_sum = op.count() > parts ? op.f64(parts) : nullptr;
  const auto decayed = [](const ParameterSlice& slice) {
    return decays(slice.parameter) ? slice.count : 0;
  };
  for (std::size_t part = 0; part < parts; part += each)
    for_runs(op, part, decayed, [&](std::int64_t at, const Runs& runs) {
      op.device.adamw(op.values(part) + at, has_master ? op.f32(part + 4) + at : nullptr,
                      op.values(part + 1) + at, op.values(part + 2) + at, op.values(part + 3) + at,
                      square_sum, static_cast<float>(op.scalars.clip), settings, runs);
    });
}

constexpr std::size_t kAny = 1 << 20;

constexpr LaunchRow kUpdateEntries[] = {
    LaunchRow{Piece::kZeroGrad, kU, 1, kAny, zero_grad},
    LaunchRow{Piece::kZeroGrad, kW, 1, 1, zero_grad},
    LaunchRow{Piece::kGradNorm, kU, 1, kAny, grad_norm},
    LaunchRow{Piece::kOptimizer, kU, 4, kAny, optimizer},
};

}  // namespace

std::span<const LaunchRow> update_entries() { return kUpdateEntries; }

}  // namespace parallelarium
