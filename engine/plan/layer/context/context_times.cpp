// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/context/context_times.h"

#include <algorithm>
#include <chrono>

#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

std::vector<double> attention_seconds(const Setup& setup, const Program& program,
                                      const Timeline& timeline) {
  if (setup.mesh.cp == 1 || timeline.ranks.size() != program.ranks.size()) return {};
  std::vector<double> seconds(static_cast<std::size_t>(setup.mesh.cp), 0);
  std::vector<int> ranks(seconds.size(), 0);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const RankProgram& built = program.ranks[rank];
    const std::vector<Span>& spans = timeline.ranks[rank].spans;
    const auto cp = static_cast<std::size_t>(built.at.cp);
    ++ranks[cp];
    for (std::size_t op = 0; op < std::min(spans.size(), built.ops.size()); ++op)
      if (built.ops[op].kind == OpKind::kCompute && built.ops[op].piece == Piece::kAttention)
        seconds[cp] += std::chrono::duration<double>(spans[op].end - spans[op].begin).count();
  }
  for (std::size_t cp = 0; cp < ranks.size(); ++cp) {
    if (ranks[cp] == 0) return {};
    seconds[cp] /= ranks[cp];
  }
  return seconds;
}

ContextTimes context_times(const Setup& setup, const Program& program, const Timeline& timeline) {
  if (setup.mesh.cp == 1) return {};
  return {layer_steps(setup, program, {}).context.blocks_of,
          attention_seconds(setup, program, timeline)};
}

std::vector<double> over_least(const std::vector<double>& of) {
  if (of.empty()) return {};
  const double least = *std::min_element(of.begin(), of.end());
  if (!(least > 0)) return {};
  std::vector<double> ratios;
  for (const double each : of) ratios.push_back(each / least);
  return ratios;
}

}  // namespace parallelarium
