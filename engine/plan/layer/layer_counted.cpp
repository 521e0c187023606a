// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_counted.h"

namespace parallelarium {

LayerCounted layer_counted(const LayerSteps& layer, const Program& program, const Observation& run,
                           int rank) {
  LayerCounted out;
  const auto at = static_cast<std::size_t>(rank);
  const auto built = static_cast<std::size_t>(layer.ranks[at].built);
  out.kept_bytes = kept_in(program, program.ranks[built], run.timeline.ranks[built], layer.choice);
  if (built >= run.sent_bytes.size()) return out;
  const std::vector<std::int64_t>& sent = run.sent_bytes[built];
  out.sent_bytes = 0;
  for (const LayerStep& step : layer.steps) {
    const LayerRankStep& part = step.ranks[at];
    if (part.first_op < 0) continue;
    const std::vector<Op>& ops = program.ranks[built].ops;
    const std::int32_t batch = ops[static_cast<std::size_t>(part.first_op)].batch;
    for (int op = part.first_op; op <= part.last_op; ++op)
      if (ops[static_cast<std::size_t>(op)].batch == batch)
        *out.sent_bytes += sent[static_cast<std::size_t>(op)];
  }
  out.counted = all_counted(run.traffic[built]);
  return out;
}

double layer_flops_per_second(const LayerSteps& layer, const Timeline& timeline, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  const auto built = static_cast<std::size_t>(layer.ranks[at].built);
  double flops = 0;
  Nanoseconds time{0};
  for (const LayerStep& step : layer.steps) {
    const LayerRankStep& part = step.ranks[at];
    if (step.kind != LayerStepKind::kCompute || part.first_op < 0) continue;
    const Span& span = timeline.ranks[built].spans[static_cast<std::size_t>(part.first_op)];
    flops += part.flops;
    time += span.end - span.begin;
  }
  return time.count() > 0 ? flops / seconds_of(time) : 0;
}

}  // namespace parallelarium
