// SPDX-License-Identifier: Apache-2.0
#include "engine/run/collective/combine_op.h"

#include <array>

namespace parallelarium {

Result<void> combine_op(DeviceStream& device, const Program& program, const RankProgram& rank,
                        const Op& op, std::byte* arena) {
  constexpr std::size_t kMostParts = 64;
  const std::span<const Operand> operands = rank.operands_of(op);
  const auto address = [&](const Operand& operand) {
    return arena + rank.buffers[static_cast<std::size_t>(operand.buffer)].offset +
           operand.offset * size_of(operand.type);
  };
  if (operands.size() == 2 && operands[0].type != operands[1].type) {
    device.cast({operands[0].type, address(operands[0])}, {operands[1].type, address(operands[1])},
                operands[0].count);
    return {};
  }
  const bool averages = op.reduction == Reduction::kAvg;
  const bool grouped = op.group >= 0 && op.group < static_cast<std::int32_t>(program.groups.size());
  bool alike = operands.size() >= 2 && operands.size() <= kMostParts + 1;
  for (const Operand& operand : operands) {
    alike = alike && operand.count == operands[0].count && operand.type == op.type;
  }
  if (!alike || (averages && !grouped)) {
    return message("combine-operands", "A combine needs 2 to {} operands of one size and type.",
                   kMostParts + 1);
  }
  std::array<const std::byte*, kMostParts> parts;
  for (std::size_t i = 1; i < operands.size(); ++i) parts[i - 1] = address(operands[i]);
  const int divisor =
      averages ? static_cast<int>(program.groups[static_cast<std::size_t>(op.group)].ranks.size())
               : 1;
  device.combine(op.type, op.reduction, address(operands[0]),
                 std::span<const std::byte* const>(parts.data(), operands.size() - 1), divisor,
                 operands[0].count);
  return {};
}

}  // namespace parallelarium
