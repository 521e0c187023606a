// SPDX-License-Identifier: Apache-2.0
// What a rank has its devices load before any of them may wait for another rank's: a driver that
// loads a kernel may wait until its GPU is idle, where a kernel of NCCL may wait for a rank whose
// host waits for that driver. Source: CUDA programming guide, "Lazy Loading", "Concurrent
// execution"; cuBLAS loads the kernels of a product when it first meets its shape.
#include <algorithm>
#include <limits>
#include <set>

#include "engine/run/train/executor/executor.h"

namespace parallelarium {

namespace {

// Of no step: what an op remembers of its step is not taken for one of the run.
constexpr std::int64_t kLoading = std::numeric_limits<std::int32_t>::max();

// All that kernels and products are chosen by: ops of one key load the same.
std::vector<std::int64_t> load_key(const RankProgram& rank, const Op& op, const Arena& arena) {
  constexpr std::uintptr_t kWidest = 256;  // no kernel asks for more
  std::vector<std::int64_t> key = {
      static_cast<std::int64_t>(op.kind),       static_cast<std::int64_t>(op.lane),
      static_cast<std::int64_t>(op.piece),      static_cast<std::int64_t>(op.phase),
      static_cast<std::int64_t>(op.collective), static_cast<std::int64_t>(op.reduction),
      static_cast<std::int64_t>(op.type),       op.block};
  for (const Operand& operand : rank.operands_of(op)) {
    const auto address = reinterpret_cast<std::uintptr_t>(arena.address(operand));
    const Tensor tensor = rank.buffers[static_cast<std::size_t>(operand.buffer)].tensor;
    key.insert(
        key.end(),
        {static_cast<std::int64_t>(tensor), static_cast<std::int64_t>(operand.type), operand.count,
         static_cast<std::int64_t>(operand.access), static_cast<std::int64_t>(address % kWidest)});
  }
  return key;
}

}  // namespace

Result<void> Executor::load() {
  if (!behind_ || !transport_.waits_on_devices()) return {};
  std::set<std::vector<std::int64_t>> loaded;
  for (std::size_t i = 0; i < rank_.ops.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (!loaded.insert(load_key(rank_, rank_.ops[i], arena_)).second) continue;
    if (stop_.raised()) return stopped();
    if (!load_op(index)) return stopped();
  }
  if (Result<void> done = arena_.clear(); !done) {
    outside(done.error());
    return stopped();
  }
  return {};
}

bool Executor::load_op(std::int32_t index) {
  const Op& op = op_at(index);
  Device& device = device_of(index);
  // Where buffers share memory, what one op leaves would be another's indices.
  for (const Operand& operand : rank_.operands_of(op))
    device.zero(arena_.address(operand), operand.count * size_of(operand.type));
  StepScalars scalars;
  scalars.step = kLoading;
  Nanoseconds real_work{0};
  try {
    if (op.kind != OpKind::kCompute)
      load_communication(op, device);
    else if (op.piece == Piece::kExpert ? !load_experts(index, scalars)
                                        : !compute(index, scalars, real_work))
      return false;
  } catch (const std::exception& error) {
    fail(index, message("device-threw", "{}", error.what()));
    return false;
  }
  if (Result<void> done = device.finish(); !done) {
    fail(index, done.error());
    return false;
  }
  return true;
}

bool Executor::load_experts(std::int32_t index, const StepScalars& scalars) {
  const std::span<const Operand> operands = rank_.operands_of(op_at(index));
  const ExpertShape& experts = program_.shape.experts;
  const std::int64_t room = operands[0].count / program_.shape.C;
  const std::int64_t here = std::max<std::int64_t>(experts.model.count / experts.ranks, 1);
  std::set<std::int64_t> sizes = {std::min(experts.even_rows / here, room), room};
  for (std::int64_t rows = 1; rows < room; rows *= 2) sizes.insert(rows);
  std::vector<std::int32_t> counts(static_cast<std::size_t>(operands[1].count), 0);
  for (const std::int64_t rows : sizes) {
    Nanoseconds real_work{0};
    counts.front() = static_cast<std::int32_t>(rows);  // all of one expert
    device_of(index).copy_to_device(arena_.address(operands[1]), counts.data(),
                                    operands[1].count * 4);
    if (!compute(index, scalars, real_work)) return false;
  }
  return true;
}

// What the transport does on the device by itself: it combines what comes, or what it gave.
void Executor::load_communication(const Op& op, Device& device) {
  const std::span<const Operand> operands = rank_.operands_of(op);
  const bool combines = op.reduction == Reduction::kSum || op.reduction == Reduction::kMax;
  if (!combines || operands.empty()) return;
  const bool alone = program_.groups[static_cast<std::size_t>(op.group)].ranks.size() == 1;
  if (op.kind == OpKind::kRecv || (op.kind == OpKind::kCollective && alone)) {
    for (const Operand& operand : operands) {
      std::byte* const target = arena_.address(operand);
      const std::byte* const parts[] = {target, target};
      device.combine(op.type, op.reduction, target, {parts, alone ? std::size_t{1} : 2}, 1,
                     operand.count * size_of(operand.type) / size_of(op.type));
    }
  } else if (op.kind == OpKind::kCollective && operands.size() > 1 &&
             operands[1].access == Access::kAccumulate) {
    std::byte* const own = arena_.address(operands[1]);
    device.accumulate({op.type, own}, {op.type, own}, operands[1].count);
  }
}

}  // namespace parallelarium
