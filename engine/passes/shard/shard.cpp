// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/shard/shard.h"

#include <algorithm>
#include <map>

#include "engine/passes/shard/shard_drafts.h"
#include "engine/plan/model/routing.h"

namespace parallelarium {

namespace {

bool is_norm(Parameter parameter) {
  switch (parameter) {
    case Parameter::kNorm1Gain:
    case Parameter::kNorm1Bias:
    case Parameter::kNorm2Gain:
    case Parameter::kNorm2Bias:
    case Parameter::kFinalNormGain:
    case Parameter::kFinalNormBias:
      return true;
    default:
      return false;
  }
}

// The bucket whose own part has that offset where ranks keep their own parts alone. An expert with
// one replica in its group is its rank's own, and the other groups have it, too.
std::int16_t own_bucket_at(const RankProgram& rank, std::int64_t offset) {
  std::int16_t at = 0;
  for (const Bucket& bucket : rank.buckets) {
    if (offset >= bucket.held && offset < bucket.held + bucket.own_count) break;
    ++at;
  }
  return at;
}

std::int64_t routers_of(const RankProgram& rank) {
  std::int64_t routers = 0;
  for (const ParameterSlice& slice : rank.parameters)
    routers += slice.parameter == Parameter::kRouterWeight ? 1 : 0;
  return routers;
}

}  // namespace

void hold_tensors(const Setup& setup, RankEmitter& emitter, bool first, bool last) {
  const Precision& precision = setup.precision;
  const int zero = zero_stage(setup);
  const std::int64_t all = parameter_count(emitter.rank());
  const std::int64_t own = own_count(emitter.rank());
  const auto kept = [&](int from_stage) { return zero >= from_stage ? own : all; };
  emitter.hold(Tensor::kParameters, kept(3) * precision.parameter_bytes);
  emitter.hold(Tensor::kGradients, kept(2) * precision.gradient_bytes);
  if (!setup.offload_optimizer) {
    if (precision.master_bytes > 0) emitter.hold(Tensor::kMaster, kept(1) * precision.master_bytes);
    emitter.hold(Tensor::kMoments, kept(1) * precision.moments_bytes);
  }
  const std::int64_t tokens_bytes = local_sizes(setup).N * setup.microbatches * 4;
  if (first) emitter.hold(Tensor::kTokens, tokens_bytes);
  if (last) emitter.hold(Tensor::kTargets, tokens_bytes);
  if (last) emitter.hold(Tensor::kLossSum, 8);
  const std::int64_t routers = routers_of(emitter.rank()), E = setup.model.experts.count;
  if (routers > 0) {
    emitter.hold(Tensor::kRouterRecord, routers * setup.microbatches * record_elements(E) * 4);
    if (setup.bias_rate > 0) {
      emitter.hold(Tensor::kRouterLoads, routers * E * 4);
      emitter.hold(Tensor::kRouterBias, routers * E * 4);
    }
  }
  emitter.hold(Tensor::kSquareSum, 8);
}

void ShardPass::hold_states(RankPlan& plan) {
  RankEmitter& emitter = *plan.emitter;
  bool first = false, last = false;
  for (const ChunkDrafts& chunk : plan.chunks) {
    first = first || chunk.chunk.first;
    last = last || chunk.chunk.last;
  }
  hold_tensors(setup_, emitter, first, last);

  const std::int64_t kept =
      zero_stage(setup_) >= 2 ? own_count(emitter.rank()) : parameter_count(emitter.rank());
  Draft clear = compute_draft(Piece::kZeroGrad, kept, kept * setup_.precision.gradient_bytes);
  clear.operands.push_back(
      range(Tensor::kGradients, Access::kWrite, gradient_type(setup_), 0, kept));
  if (emitter.holds(Tensor::kRouterLoads)) {
    const std::int64_t loads = routers_of(emitter.rank()) * setup_.model.experts.count;
    clear.operands.push_back(range(Tensor::kRouterLoads, Access::kWrite, DataType::kF32, 0, loads));
  }
  emit_one(plan, std::move(clear));

  State& state = state_of(plan);
  for (const Bucket& bucket : emitter.rank().buckets) state.homes.push_back(home_of(plan, bucket));
  state.gathered.assign(emitter.rank().buckets.size(), -1);
  state.opened = plan.coming = state.gathered;
  if (gathers_ahead(setup_)) gather_ahead(plan);
  plan_tasks(plan, state);
  if (plan.folds || plan.pairs) find_quiet(plan, state);
}

// Which buckets the stretches of an action read and add to.
struct ShardPass::Use {
  std::vector<std::int16_t> reads, adds;
};

std::vector<ShardPass::Use> ShardPass::uses_of(const RankProgram& rank, const ChunkDrafts& chunk,
                                               ActionKind kind) const {
  const auto add = [](std::vector<std::int16_t>& list, std::int16_t bucket) {
    if (std::find(list.begin(), list.end(), bucket) == list.end()) list.push_back(bucket);
  };
  const std::vector<Draft>& drafts = chunk.of(kind);
  std::vector<Use> uses;
  std::size_t at = 0;
  std::vector<bool> read(rank.buckets.size());
  while (at < drafts.size()) {
    const std::size_t end = stretch_end(drafts, at);
    Use& use = uses.emplace_back();
    for (; at < end; ++at) {
      for (const DraftOperand& operand : drafts[at].operands) {
        if (operand.tensor == Tensor::kGathered) add(use.reads, operand.bucket);
        if (operand.tensor == Tensor::kBucketGradients) add(use.adds, operand.bucket);
        if (operand.tensor != Tensor::kGradients) continue;
        if (zero_stage(setup_) < 2)
          add(use.adds, bucket_at(rank, operand.offset));
        else if (shard_ranks(setup_) < setup_.mesh.dp * setup_.mesh.cp)
          add(use.adds, own_bucket_at(rank, operand.offset));
      }
    }
    for (const std::int16_t bucket : use.reads) read[static_cast<std::size_t>(bucket)] = true;
  }
  // A backward gathers what it adds to even where nothing reads it, in its weight part if split.
  if (kind == ActionKind::kWeightGrad) {
    for (const Use& use : uses_of(rank, chunk, ActionKind::kInputGrad)) {
      for (const std::int16_t bucket : use.reads) read[static_cast<std::size_t>(bucket)] = true;
    }
  }
  for (Use& use : uses) {
    if (kind != ActionKind::kBackward && kind != ActionKind::kWeightGrad) break;
    for (const std::int16_t bucket : use.adds) {
      if (!read[static_cast<std::size_t>(bucket)]) add(use.reads, bucket);
    }
  }
  return uses;
}

void ShardPass::plan_tasks(const RankPlan& plan, State& state) const {
  const RankProgram& rank = plan.emitter->rank();
  const int zero = zero_stage(setup_);
  const Mesh& mesh = setup_.mesh;
  if (mesh.dp * mesh.cp * mesh.tp == 1) return;
  const std::size_t buckets = rank.buckets.size();
  std::map<std::pair<int, ActionKind>, std::vector<Use>> uses_by_action;
  std::vector<Task> last_of_step(buckets);
  std::vector<bool> gathered, opened, added_in_step(buckets), kept(buckets);
  std::vector<std::int32_t> last;  // by bucket: the action's last stretch that adds to it
  std::int32_t stretch = 0;
  for (const Action& action : rank.actions) {
    const auto [entry, fresh] = uses_by_action.try_emplace({action.chunk, action.kind});
    if (fresh) {
      entry->second =
          uses_of(rank, plan.chunks[static_cast<std::size_t>(action.chunk)], action.kind);
    }
    const std::vector<Use>& uses = entry->second;
    const Phase phase = action.kind == ActionKind::kForward ? Phase::kForward : Phase::kInputGrad;
    const auto task = [&](What what, std::int16_t bucket) {
      return Task{stretch,           what, bucket, static_cast<std::int16_t>(action.chunk),
                  action.microbatch, phase};
    };
    gathered.assign(buckets, false);
    opened.assign(buckets, false);
    last.assign(buckets, -1);
    for (const Use& use : uses) {
      for (const std::int16_t bucket : use.reads) {
        const auto at = static_cast<std::size_t>(bucket);
        if (zero < 3 || gathered[at]) continue;
        if (!kept[at]) state.gathers.push_back(task(What::kGather, bucket));
        gathered[at] = true;
      }
      for (const std::int16_t bucket : use.adds) {
        const auto at = static_cast<std::size_t>(bucket);
        if (zero >= 2 && !opened[at]) state.opens.push_back(task(What::kOpen, bucket));
        opened[at] = added_in_step[at] = true;
        last[at] = stretch;
        last_of_step[at] = task(What::kReduce, bucket);
      }
      ++stretch;
    }
    for (std::size_t at = 0; at < buckets; ++at) {
      if (gathered[at]) kept[at] = !setup_.zero_reshard && action.kind == ActionKind::kForward;
    }
    if (zero < 2) continue;
    for (std::size_t at = 0; at < buckets; ++at) {
      if (last[at] >= 0) state.reduces.push_back(last_of_step[at]);
    }
  }
  for (std::size_t at = 0; at < buckets; ++at) {
    if (!added_in_step[at]) continue;
    if (zero < 2 && !setup_.overlap_gradients) last_of_step[at].stretch = stretch - 1;
    if (zero < 2) state.reduces.push_back(last_of_step[at]);
    last_of_step[at].what = What::kSynchronise;
    state.reduces.push_back(last_of_step[at]);
  }
  std::stable_sort(state.reduces.begin(), state.reduces.end(),
                   [](const Task& a, const Task& b) { return a.stretch < b.stretch; });
}

void ShardPass::open(RankPlan& plan, State& state, const Task& task) {
  const Bucket& bucket = plan.emitter->rank().buckets[static_cast<std::size_t>(task.bucket)];
  if (bucket.own_count == bucket.count) return;
  const DataType type = gradient_type(setup_);
  Draft draft = compute_draft(Piece::kZeroGrad, bucket.count, bucket.count * size_of(type));
  draft.op.phase = Phase::kWeightGrad;
  draft.op.layer = state.homes[static_cast<std::size_t>(task.bucket)].layer;
  DraftOperand whole = temporary(Tensor::kBucketGradients, Access::kWrite, type, 0, bucket.count);
  whole.opens = bucket.count * size_of(type);
  draft.operands = {whole};
  std::vector<Draft> drafts{std::move(draft)};
  const auto known = clear_works_.find(bucket.count);
  if (known == clear_works_.end()) {
    plan.emitter->register_work(drafts);
    clear_works_[bucket.count] = drafts[0].op.work;
  } else {
    drafts[0].op.work = known->second;
  }
  std::int32_t buffer = -1;
  // Without overlap the backward goes on when what it added to last is reduced.
  const std::int32_t reduced = setup_.overlap_gradients ? -1 : plan.emitter->last_of(Lane::kData);
  plan.emitter->emit(drafts[0], {task.microbatch, task.chunk, -1}, {&buffer, 1}, reduced);
  state.opened[static_cast<std::size_t>(task.bucket)] = buffer;
}

ShardPass::Home ShardPass::home_of(RankPlan& plan, const Bucket& bucket) const {
  const Mesh& mesh = setup_.mesh;
  const Model& model = setup_.model;
  RankEmitter& emitter = *plan.emitter;
  const RankProgram& rank = emitter.rank();
  const bool experts = has_experts(rank, bucket);
  Home home;
  home.layer = layer_of(rank, bucket);
  home.shard_group = replica_group(setup_, plan, Replicas::kShard, experts);
  if (zero_stage(setup_) > 0 && shard_ranks(setup_) < mesh.dp * mesh.cp)
    home.across_group = replica_group(setup_, plan, Replicas::kAcross, experts);
  if (mesh.tp == 1) return home;
  // Norms, and routers, that saw only their own tokens, and key/value heads that met only some of
  // the queries.
  const std::vector<int> everyone = group_of(mesh, Axis::kTp, rank.rank);
  const int sharing = mesh.tp > model.kv_heads ? mesh.tp / model.kv_heads : 1;
  for (const ParameterSlice& slice : rank.parameters) {
    if (slice.offset < bucket.begin || slice.offset >= bucket.begin + bucket.count) continue;
    const bool routes = slice.parameter == Parameter::kRouterWeight && routes_own_tokens(setup_);
    if ((setup_.sequence_parallel && is_norm(slice.parameter)) || routes) {
      const bool joins = !home.copies.empty() &&
                         home.copies.back().begin + home.copies.back().count == slice.offset;
      if (joins) {
        home.copies.back().count += slice.count;
      } else {
        home.copies.push_back({slice.offset, slice.count, emitter.group(Axis::kTp, everyone)});
      }
    }
    const bool qkv =
        slice.parameter == Parameter::kQkvWeight || slice.parameter == Parameter::kQkvBias;
    if (!qkv || sharing == 1) continue;
    const std::int64_t keys_values = slice.count / (model.heads / mesh.tp + 2) * 2;
    home.copies.push_back(
        {slice.offset + slice.count - keys_values, keys_values,
         emitter.group(Axis::kTp, {everyone.begin(), everyone.begin() + sharing})});
  }
  return home;
}

void ShardPass::before(RankPlan& plan, const Stretch& stretch) {
  State& state = state_of(plan);
  const auto gather_until = [&](std::int32_t last) {
    while (state.next_gather < state.gathers.size() &&
           state.gathers[state.next_gather].stretch <= last)
      gather(plan, state, state.gathers[state.next_gather++]);
  };
  gather_until(state.stretch);
  // A bucket may be gathered for the next action while this one still reads its own copy.
  for (;
       state.next_use < state.next_gather && state.gathers[state.next_use].stretch == state.stretch;
       ++state.next_use) {
    const Task& task = state.gathers[state.next_use];
    state.gathered[static_cast<std::size_t>(task.bucket)] = task.buffer;
  }
  for (; state.next_open < state.opens.size() &&
         state.opens[state.next_open].stretch == state.stretch;
       ++state.next_open) {
    open(plan, state, state.opens[state.next_open]);
  }
  if (state.gathered.empty()) return;  // no buckets
  for (const Draft& draft : stretch.drafts) {
    for (const DraftOperand& operand : draft.operands) {
      if (operand.bucket < 0) continue;
      const bool parameters = operand.tensor == Tensor::kGathered;
      stretch.table[static_cast<std::size_t>(operand.slot)] =
          (parameters ? state.gathered : state.opened)[static_cast<std::size_t>(operand.bucket)];
    }
  }
  gather_until(state.stretch + setup_.zero_prefetch);
}

void ShardPass::after(RankPlan& plan, const Stretch& stretch) {
  State& state = state_of(plan);
  RankEmitter& emitter = *plan.emitter;
  for (const std::int32_t buffer : state.closing) {
    emitter.extend(buffer, static_cast<std::int32_t>(emitter.rank().ops.size()) - 1);
  }
  state.closing.clear();
  for (; state.next_reduce < state.reduces.size() &&
         state.reduces[state.next_reduce].stretch == state.stretch;
       ++state.next_reduce) {
    reduce(plan, state, state.reduces[state.next_reduce]);
  }
  ++state.stretch;
  static_cast<void>(stretch);
}

void ShardPass::find_quiet(const RankPlan& plan, State& state) const {
  const RankProgram& rank = plan.emitter->rank();
  std::vector<std::int32_t> busy;
  for (const Task& task : state.gathers)
    for (std::int32_t ahead = 0; ahead <= setup_.zero_prefetch; ++ahead)
      busy.push_back(task.stretch - ahead);
  for (const Task& task : state.opens) busy.push_back(task.stretch);
  // What a reduction frees closes one stretch later.
  for (const Task& task : state.reduces) busy.insert(busy.end(), {task.stretch, task.stretch + 1});
  std::sort(busy.begin(), busy.end());
  // What touches a bucket's temporary buffer is told which, stretch by stretch.
  std::map<std::pair<int, ActionKind>, bool> touches;
  const auto touches_buckets = [&](const std::vector<Draft>& drafts) {
    for (const Draft& draft : drafts)
      for (const DraftOperand& operand : draft.operands)
        if (operand.bucket >= 0) return true;
    return false;
  };
  std::int32_t stretch = 0;
  for (const Action& action : rank.actions) {
    const ChunkDrafts& chunk = plan.chunks[static_cast<std::size_t>(action.chunk)];
    const auto [known, fresh] = touches.try_emplace({action.chunk, action.kind});
    if (fresh) known->second = touches_buckets(chunk.of(action.kind));
    const std::int32_t end = stretch + chunk.stretches[static_cast<std::size_t>(action.kind)];
    const auto next = std::lower_bound(busy.begin(), busy.end(), stretch);
    state.quiet.push_back(!known->second && (next == busy.end() || *next >= end));
    stretch = end;
  }
}

bool ShardPass::is_quiet(const RankPlan& plan, std::size_t action) const {
  return state_of(plan).quiet[action];
}

void ShardPass::skip(RankPlan& plan, std::int32_t stretches) {
  state_of(plan).stretch += stretches;
}

}  // namespace parallelarium
