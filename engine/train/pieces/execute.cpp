// SPDX-License-Identifier: Apache-2.0
#include "engine/train/pieces/execute.h"

#include <algorithm>

#include "engine/train/pieces/launch.h"

namespace parallelarium {
namespace {

const LaunchRow* find_entry(Piece piece, Phase phase) {
  for (const auto entries :
       {layer_entries(), attention_entries(), expert_entries(), loss_entries(), update_entries()}) {
    const auto entry =
        std::find_if(entries.begin(), entries.end(), [&](const LaunchRow& candidate) {
          return candidate.piece == piece && candidate.phase == phase;
        });
    if (entry != entries.end()) return &*entry;
  }
  return nullptr;
}

}  // namespace

Result<void> execute_op(Device& device, const Shape& shape, const RankProgram& program,
                        const Op& op, std::byte* arena, const StepScalars& scalars) {
  const Phase phase = op.phase == Phase::kRecompute ? Phase::kForward : op.phase;
  const LaunchRow* entry = find_entry(op.piece, phase);
  const std::span<const Operand> operands = program.operands_of(op);
  if (op.kind != OpKind::kCompute || entry == nullptr || operands.size() < entry->fewest ||
      operands.size() > entry->most)
    return message("piece-unknown",
                   "This version cannot execute the piece {} ({}) with {} operands.",
                   name_of(op.piece), name_of(op.phase), operands.size());
  entry->launch(Launch{device, shape, program, operands, arena, scalars, op, op.block, phase});
  return {};
}

}  // namespace parallelarium
