// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/collectives/picture/collective_parts.h"

namespace parallelarium {
namespace {

Result<CollectivePlan> part(const CollectiveChoice& whole, CollectiveKind kind,
                            const char* algorithm) {
  CollectiveChoice choice = whole;
  choice.spec.kind = kind;
  choice.spec.algorithm = algorithm;
  choice.spec.segments = choice.spec.node_size = 0;
  return plan_collective(choice, this_computer(choice.gpus));
}

// Appends the steps, ops and spans of `next`, which begins when `timeline` ends.
void append(CollectivePlan& plan, const CollectivePlan& next) {
  Timeline& timeline = plan.cost.timeline;
  const Nanoseconds start = timeline.duration;
  const int before = plan.steps();
  std::vector<std::int32_t> ops;
  for (std::size_t rank = 0; rank < plan.collective.program.ranks.size(); ++rank) {
    auto& into = plan.collective.program.ranks[rank].ops;
    ops.push_back(std::int32_t(into.size()));
    for (Op op : next.collective.program.ranks[rank].ops) {
      if (op.batch >= 0) op.batch += before;
      into.push_back(op);
    }
    for (const Span& span : next.cost.timeline.ranks[rank].spans)
      timeline.ranks[rank].spans.push_back({span.begin + start, span.end + start});
  }
  for (std::vector<Move> moves : next.collective.steps) {
    for (Move& move : moves) {
      move.send += ops[std::size_t(move.from)];
      move.recv += ops[std::size_t(move.to)];
    }
    plan.collective.steps.push_back(std::move(moves));
  }
  // What the all-gather passes on are the sums: where it holds a chunk, that is everyone's.
  const RankSet everyone = plan.ranks() >= 64 ? ~RankSet{0} : (RankSet{1} << plan.ranks()) - 1;
  const Holding last = plan.holdings.back();
  for (std::size_t step = 1; step < next.holdings.size(); ++step) {
    Holding& now = plan.holdings.emplace_back(last);
    for (std::size_t at = 0; at < now.sets.size(); ++at)
      if (next.holdings[step].sets[at] != 0) now.sets[at] = everyone;
  }
  for (std::size_t rank = 0; rank < plan.cost.sent_bytes.size(); ++rank) {
    plan.cost.sent_bytes[rank] += next.cost.sent_bytes[rank];
    plan.cost.received_bytes[rank] += next.cost.received_bytes[rank];
  }
  timeline.duration += next.cost.timeline.duration;
  plan.cost.seconds += next.cost.seconds;
}

}  // namespace

std::shared_ptr<const CollectiveMotion> reduce_scatter_then_all_gather(const CollectivePlan& plan) {
  if (plan.collective.spec.kind != CollectiveKind::kAllReduce || plan.ranks() < 2) return nullptr;
  const bool halving = plan.collective.spec.algorithm == "halving-doubling";
  Result<CollectivePlan> first =
      part(plan.choice, CollectiveKind::kReduceScatter, halving ? "recursive-halving" : "ring");
  const Result<CollectivePlan> second =
      part(plan.choice, CollectiveKind::kAllGather, halving ? "recursive-doubling" : "ring");
  if (!first || !second || first->collective.chunks != second->collective.chunks) return nullptr;
  append(*first, *second);
  first->collective.spec.kind = CollectiveKind::kAllReduce;
  const auto made = std::make_shared<const CollectivePlan>(std::move(*first));
  return std::make_shared<const CollectiveMotion>(made, made->cost.timeline);
}

Agreement agreement(const CollectiveMotion& a, Nanoseconds at_a, const CollectiveMotion& b,
                    Nanoseconds at_b) {
  const int chunks = a.plan().collective.chunks, ranks = a.plan().ranks();
  if (chunks != b.plan().collective.chunks || ranks != b.plan().ranks()) return {};
  Agreement found{0, ranks * chunks};
  for (int rank = 0; rank < ranks; ++rank)
    for (int chunk = 0; chunk < chunks; ++chunk)
      found.same += a.held(rank, chunk, at_a) == b.held(rank, chunk, at_b);
  return found;
}

}  // namespace parallelarium
