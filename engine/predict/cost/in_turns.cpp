// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/in_turns.h"

#include <algorithm>
#include <vector>

namespace parallelarium {

namespace {

bool travels(const Program& program, const Op& op) {
  return op.kind != OpKind::kCompute &&
         program.groups[static_cast<std::size_t>(op.group)].ranks.size() > 1;
}

void put_in_turns(const Program& program, RankProgram& rank) {
  std::vector<std::int32_t> after;
  // The unit under way, a communication or the ops of a batch, and the end of the one before it.
  std::int32_t last = -1, before = -1, batch = -1;
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    Op& op = rank.ops[i];
    const auto own = rank.after_of(op);
    const auto first = static_cast<std::int32_t>(after.size());
    after.insert(after.end(), own.begin(), own.end());
    if (travels(program, op)) {
      if (op.batch < 0 || op.batch != batch) before = last;
      batch = op.batch;
      last = static_cast<std::int32_t>(i);
      if (before >= 0 && std::find(own.begin(), own.end(), before) == own.end())
        after.push_back(before);
    }
    op.after_first = first;
    op.after_count = static_cast<std::int32_t>(after.size()) - first;
  }
  rank.after = std::move(after);
}

}  // namespace

Program in_turns(Program program) {
  for (RankProgram& rank : program.ranks) put_in_turns(program, rank);
  return program;
}

bool has_several_groups(const Program& program) {
  return std::any_of(program.ranks.begin(), program.ranks.end(), [&](const RankProgram& rank) {
    std::int32_t first = -1;
    return std::any_of(rank.ops.begin(), rank.ops.end(), [&](const Op& op) {
      if (!travels(program, op)) return false;
      if (first < 0) first = op.group;
      return op.group != first;
    });
  });
}

}  // namespace parallelarium
