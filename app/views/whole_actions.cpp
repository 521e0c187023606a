// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/whole_actions.h"

#include <algorithm>

namespace parallelarium {
namespace {

const Op& first_op_of(const RankProgram& rank, const Bar& bar) {
  return rank.ops[static_cast<std::size_t>(bar.first_op)];
}

// Whether two bars, one after the other, belong to one line of the Order. What is no action (the
// update with its all-reduce) stays in parts: merged, its waiting would look like work.
bool belong_together(const RankProgram& rank, const Bar& before, const Bar& after) {
  const Op &a = first_op_of(rank, before), &b = first_op_of(rank, after);
  if (a.microbatch < 0 || b.microbatch < 0) return false;
  return a.action == b.action && a.microbatch == b.microbatch && a.chunk == b.chunk;
}

}  // namespace

WholeActions whole_actions(const RankProgram& rank, const std::vector<Bar>& compute) {
  WholeActions wholes;
  for (std::size_t part = 0; part < compute.size(); ++part) {
    const Bar& bar = compute[part];
    if (part == 0 || !belong_together(rank, compute[part - 1], bar)) {
      wholes.bars.push_back(bar);
      wholes.parts.push_back(part);
      continue;
    }
    wholes.merged = true;
    Bar& whole = wholes.bars.back();
    if (whole.kind != OpKind::kCompute && bar.kind == OpKind::kCompute) {
      const Bar front = whole;
      whole = bar;
      whole.first_op = front.first_op;
      whole.span.begin = front.span.begin;
    }
    whole.last_op = bar.last_op;
    whole.span.end = std::max(whole.span.end, bar.span.end);
  }
  wholes.parts.push_back(compute.size());
  return wholes;
}

}  // namespace parallelarium
