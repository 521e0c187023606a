// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/bounds/bound.h"

#include <algorithm>

#include "engine/collectives/algorithm_names.h"
#include "engine/passes/pieces.h"
#include "engine/passes/shard/shard.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/planner/bounds/stage_of.h"
#include "engine/predict/memory.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

bool has_pairs(const Setup& setup) {
  return setup.overlap_experts && setup.mesh.ep > 1 && setup.mesh.cp == 1;
}

namespace {

std::int64_t states_of(const Setup& setup, const StageTable& table, const std::vector<int>& held) {
  const int stages = stages_of(setup);
  double shared = 0, experts = 0;
  bool first = false, last = false;
  for (const int stage : held) {
    const StageBound& bound = table.stage(stage, false);
    shared += bound.shared;
    experts += bound.experts;
    first = first || stage == 0;
    last = last || stage == stages - 1;
  }
  if (first && last && stages > 1) shared -= table.stage(stages - 1, false).copied_table;
  const Precision held_bytes = held_precision(setup);
  const int zero = held_zero(setup), shards = shards_of(setup);
  const int of_experts = expert_shards(setup.mesh, shards);
  return static_cast<std::int64_t>(model_states(shared, held_bytes, zero, shards).total() +
                                   model_states(experts, held_bytes, zero, of_experts).total());
}

// Bytes of the step's tokens where the first stage is, and of their targets where the last one is,
// beside those of one micro-batch, which the peaks of these stages count.
std::int64_t tokens_of(const Setup& setup, const std::vector<int>& held) {
  const auto holds = [&](int stage) {
    return std::find(held.begin(), held.end(), stage) != held.end() ? 1 : 0;
  };
  const int times = holds(0) + holds(stages_of(setup) - 1);
  return times == 0 ? 0 : times * local_sizes(setup).N * (setup.microbatches - 1) * 4;
}
// How many of a micro-batch's tokens and targets the rank holds that the peak of one of its stages
// does not count.
int uncounted_tokens(const Setup& setup, const std::vector<int>& held, int stage) {
  int times = 0;
  for (const int end : {0, stages_of(setup) - 1})
    if (end != stage && std::find(held.begin(), held.end(), end) != held.end()) ++times;
  return times;
}

// Forwards whose backward is to come that a rank has at once, at least.
std::int64_t under_way(const Setup& setup, int rank) {
  if (setup.schedule == Schedule("interleaved") && setup.mesh.pp > 1) {
    const std::int64_t microbatches = setup.microbatches, chunks = setup.chunks;
    const std::int64_t round =
        interleaved_round(setup.mesh.pp, setup.microbatches, setup.microbatch_group);
    return std::min(microbatches * chunks,
                    (chunks - 1) * round + 2 * (setup.mesh.pp - 1 - rank) + 1);
  }
  if (stages_of(setup) != setup.mesh.pp || setup.mesh.pp == 1) return 1;
  if (setup.schedule == Schedule("1f1b") || setup.schedule == Schedule("zb-h1") ||
      setup.schedule == Schedule("zb-h2"))
    return std::min<std::int64_t>(setup.microbatches, setup.mesh.pp - rank);
  return setup.schedule == Schedule("gpipe") ? setup.microbatches : 1;
}

void widen(Bound& bound, std::int64_t bytes, std::int64_t states, int rank) {
  if (bytes <= bound.bytes) return;
  bound.bytes = bytes;
  bound.states = states;
  bound.stage = rank;
}

}  // namespace

namespace {

// How long what enters at the first stage is under way to each, and what leaves each to the end,
// at least.
struct Ways {
  std::vector<std::int64_t> in, out;
};
Ways ways_of(const StageOf& of) {
  Ways ways{{0}, {0}};
  for (int stage = 0; stage < of.stages(); ++stage) {
    ways.in.push_back(ways.in.back() + of.passage(stage, ActionKind::kForward));
    ways.out.push_back(ways.out.back() + of.passage(stage, ActionKind::kBackward));
  }
  return ways;
}

// What a rank takes that holds these stages: before its first action what it needs has to come,
// less what it may do before; and where backwards are whole, after its last action what leaves it
// has to come to the first stage. Where it holds one stage, all its gradients are added up after
// its last backward began.
struct RankTime {
  std::int64_t actions = 0;
  std::int64_t until_reduce = 0;  // 0: not known
};
RankTime rank_time(const Setup& setup, const StageOf& of, const Ways& ways,
                   const std::vector<int>& held) {
  std::int64_t busy = 0;
  for (const int stage : held) busy += of.busy(stage);
  const int first = *std::min_element(held.begin(), held.end());
  std::int64_t need = 0, rest = 0;
  for (const int stage : held) {
    need = std::max(need, of.action(stage, ActionKind::kForward).until_need);
    const ActionBound out = of.action(stage, ActionKind::kBackward);
    rest = std::max(rest, out.duration - out.until_have);
  }
  const auto at = static_cast<std::size_t>(first);
  RankTime time;
  time.actions = setup.microbatches * busy + std::max<std::int64_t>(0, ways.in[at] - need);
  if (of.splits()) return time;
  if (held.size() == 1)
    time.until_reduce = time.actions - of.action(held.front(), ActionKind::kBackward).duration;
  time.actions += std::max<std::int64_t>(0, ways.out[at] - rest);
  return time;
}

}  // namespace

namespace {

// What the data lane of some rank takes: ZeRO 2 and 3 reduce in every micro-batch, where ZeRO 3
// gathers, too, and ZeRO 1 and 2 may gather once in the step's first forwards.
std::int64_t data_time(const Setup& setup, const StepEnd& end) {
  const int zero = shards_of(setup) > 1 ? held_zero(setup) : 0;
  // A stage that is held twice has only its share of the micro-batches on either rank.
  const std::int64_t microbatches = setup.microbatches / (holds_stages_twice(setup) ? 2 : 1);
  const std::int64_t reduces = zero >= 2 ? microbatches : 1;
  const std::int64_t gathers = zero >= 3              ? microbatches * (setup.zero_reshard ? 2 : 1)
                               : gathers_ahead(setup) ? 1
                                                      : 0;
  std::int64_t most = 0;
  for (const RankEnd& rank : end)
    most = std::max(most, reduces * rank.reduce + gathers * rank.gather + rank.across);
  return most;
}

}  // namespace

std::int64_t with_end(const StepEnd& end, std::int64_t actions) {
  std::int64_t norm = INT64_MAX, update = 0;
  for (const RankEnd& rank : end) {
    norm = std::min(norm, rank.norm);
    update = std::max(update, rank.update);
  }
  return actions + (end.empty() ? 0 : norm) + update;
}

QuickBound::QuickBound(const Setup& setup, StageTable table) : table_(std::move(table)) {
  const StageOf of(setup, table_);
  const Ways ways = ways_of(of);
  const int ranks = setup.mesh.pp;
  std::int64_t all = 0;
  for (int stage = 0; stage < of.stages(); ++stage) all += of.busy(stage);
  // Some rank has at least its share of all work.
  actions_ = all * setup.microbatches / ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    RankBound& bound = ranks_.emplace_back();
    bound.held = stages_on(setup, rank);
    // A stage that is held twice has its micro-batches on either rank.
    if (!holds_stages_twice(setup)) {
      const RankTime time = rank_time(setup, of, ways, bound.held);
      actions_ = std::max(actions_, time.actions);
      bound.until_reduce = time.until_reduce;
    }
    // The last of those under way may be of the stage that holds least.
    std::int64_t kept = of.kept(bound.held.front());
    for (const int stage : bound.held) kept = std::min(kept, of.kept(stage));
    const std::int64_t under = under_way(setup, rank);
    bound.beside = (under - 1) * kept;
    if (bound.held.size() > 1 && under > 1) bound.alone = under * kept;
    bound.tokens = tokens_of(setup, bound.held);
  }
}

Bound QuickBound::of(const Setup& setup, const StepEnd& end) const {
  const StageOf of(setup, table_);
  Bound bound;
  bound.nanoseconds = std::max(actions_, data_time(setup, end));
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const RankBound& known = ranks_[rank];
    const RankEnd& own_end = end[rank];
    if (known.until_reduce > 0)
      bound.nanoseconds =
          std::max(bound.nanoseconds, known.until_reduce + own_end.reduce + own_end.across);
    std::int64_t own = 0;
    for (const int stage : known.held) own = std::max(own, of.peak(stage, own_end));
    const std::int64_t states = states_of(setup, table_, known.held);
    const std::int64_t held = known.alone > 0 ? std::max(own, known.alone) : own + known.beside;
    widen(bound, states + known.tokens + held, states, static_cast<int>(rank));
  }
  bound.nanoseconds = with_end(end, bound.nanoseconds);
  return bound;
}

bool may_bound(const Setup& setup, const Machine& machine) {
  return machine.torus.empty() && !by_steps(setup.collectives) &&
         setup.context_parallel != ContextParallel::kLocal &&
         find_schedule_rule(setup.schedule) != nullptr;
}

Result<Bound> bound_of(const Setup& setup, const Machine& machine) {
  const Result<StageTable> table = stage_table(setup, machine, false);
  if (!table) return table.error();
  const StepEnd end = step_end(setup, machine);
  const Result<OrderWalk> walk = walk_order(setup, *table);
  if (!walk) return walk.error();
  const Bound quick = QuickBound(setup, *table).of(setup, end);
  Bound bound = walked_bound(setup, *table, end, *walk);
  bound.nanoseconds = std::max(bound.nanoseconds, quick.nanoseconds);
  if (quick.bytes > bound.bytes) widen(bound, quick.bytes, quick.states, quick.stage);
  return bound;
}

Bound walked_bound(const Setup& setup, const StageTable& table, const StepEnd& end,
                   const OrderWalk& walk) {
  const StageOf of(setup, table);
  const std::vector<int> layers = layers_of_stages(setup);
  const std::int64_t tokens = local_sizes(setup).N * 4;  // bytes of a micro-batch's
  Bound bound;
  bound.nanoseconds = with_end(end, std::max(walk.nanoseconds, data_time(setup, end)));
  for (std::size_t rank = 0; rank < walk.stages.size(); ++rank) {
    const std::vector<int>& stages = walk.stages[rank];
    const auto layers_at = [&](int stage) { return layers[static_cast<std::size_t>(stage)]; };
    const std::int64_t states = states_of(setup, table, stages);
    const std::int64_t always = states + tokens_of(setup, stages);
    std::int64_t most = states;
    for (const OrderWalk::Held& held : walk.fullest[rank]) {
      const int stage = stages[static_cast<std::size_t>(held.chunk)];
      std::int64_t peak = of.peak(stage, held.kind, end[rank]);
      if (held.leaving != OrderWalk::kNothing) {
        const int before = stages[static_cast<std::size_t>(held.leaving)];
        const std::int64_t leaving = StageOf::last_gradients(before, end[rank], layers_at(before));
        if (leaving > 0)
          peak = std::max(peak,
                          leaving + of.first_peak(stage, held.kind, end[rank], layers_at(stage)));
      }
      most = std::max(most,
                      always + uncounted_tokens(setup, stages, stage) * tokens + held.bytes + peak);
    }
    widen(bound, most, states, static_cast<int>(rank));
  }
  return bound;
}

}  // namespace parallelarium
