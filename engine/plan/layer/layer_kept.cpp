// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_kept.h"

#include <algorithm>
#include <set>

namespace parallelarium {

namespace {

bool reads(const RankProgram& rank, const Op& op, std::int32_t buffer) {
  const auto operands = rank.operands_of(op);
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.buffer == buffer && operand.access != Access::kWrite;
  });
}

// Where a kept buffer counts, as an index in steps.
std::size_t place_of(const RankProgram& rank, const std::vector<const Op*>& backward,
                     const LayerSteps& steps, std::size_t index, std::int32_t buffer) {
  const auto forward_of = [&](std::size_t at) -> const Op* {
    const int op = steps.steps[at].ranks[index].first_op;
    return op < 0 ? nullptr : &rank.ops[static_cast<std::size_t>(op)];
  };
  std::size_t reader = steps.steps.size();
  for (std::size_t at = 0; at < steps.steps.size(); ++at) {
    const Op* forward = forward_of(at);
    if (!forward) continue;
    if (forward->kind == OpKind::kCompute &&
        std::any_of(backward.begin(), backward.end(), [&](const Op* op) {
          return op->piece == forward->piece && op->block == forward->block &&
                 op->kind == OpKind::kCompute && reads(rank, *op, buffer);
        }))
      return at;
    if (reader == steps.steps.size() && reads(rank, *forward, buffer)) reader = at;
  }
  // What is sent counts at the piece that waits for it.
  while (reader + 1 < steps.steps.size() && steps.steps[reader].kind != LayerStepKind::kCompute)
    ++reader;
  return std::min(reader, steps.steps.size() - 1);
}

}  // namespace

void set_kept(const Program& program, LayerSteps& steps) {
  for (std::size_t index = 0; index < steps.ranks.size() && !steps.steps.empty(); ++index) {
    const RankProgram& rank = program.ranks[static_cast<std::size_t>(steps.ranks[index].built)];
    int last_forward = -1;
    for (const LayerStep& step : steps.steps)
      last_forward = std::max(last_forward, step.ranks[index].last_op);
    std::vector<const Op*> backward;
    std::set<std::int32_t> kept;
    for (const Op& op : rank.ops) {
      const bool own = op.layer == steps.choice.layer && op.microbatch == steps.choice.microbatch;
      if (!own || op.phase == Phase::kForward || op.phase == Phase::kUpdate) continue;
      backward.push_back(&op);
      for (const Operand& operand : rank.operands_of(op)) {
        const Buffer& buffer = rank.buffers[static_cast<std::size_t>(operand.buffer)];
        if (buffer.category == Category::kActivations && operand.access != Access::kWrite &&
            buffer.opened_by >= 0 && buffer.opened_by <= last_forward)
          kept.insert(operand.buffer);
      }
    }
    for (const std::int32_t buffer : kept)
      steps.steps[place_of(rank, backward, steps, index, buffer)].ranks[index].kept_bytes +=
          rank.buffers[static_cast<std::size_t>(buffer)].bytes;
  }
}

}  // namespace parallelarium
