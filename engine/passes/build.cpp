// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/build.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "engine/collectives/algorithm_names.h"
#include "engine/passes/arrange/arrange.h"
#include "engine/passes/axes/causal_share.h"
#include "engine/passes/expand.h"
#include "engine/passes/fold/alike_chunks.h"
#include "engine/passes/prepare.h"
#include "engine/passes/replicate.h"
#include "engine/passes/shard/shard.h"
#include "engine/plan/settings/alternatives.h"

namespace parallelarium {

namespace {

// How many times as long as others a rank of the pipeline computes. What a slow rank sends is
// received when it comes: no message that is there waits for it.
double slowness(const Setup& setup, int pipeline_rank) {
  const SlowRank& slow = setup.run.slow_rank;
  return coordinates_of(setup.mesh, slow.rank).pp == pipeline_rank ? slow.factor : 1;
}

// Whether the slice belongs to a chunk that another rank counts.
bool is_copied(const std::vector<Chunk>& chunks, const ParameterSlice& slice) {
  const bool table =
      slice.parameter == Parameter::kTokenTable || slice.parameter == Parameter::kPositionTable;
  return std::any_of(chunks.begin(), chunks.end(), [&](const Chunk& chunk) {
    if (!chunk.copy) return false;
    if (slice.layer < 0) return table ? chunk.first : chunk.last;
    return chunk.holds(slice.layer);
  });
}

// Which kinds of action an Order has on one chunk of one rank.
std::array<bool, 4> kinds_of(const Order& order, std::size_t rank, std::size_t chunk) {
  std::array<bool, 4> kinds = {};
  for (const Action& action : order.ranks[rank]) {
    if (static_cast<std::size_t>(action.chunk) == chunk) {
      kinds[static_cast<std::size_t>(action.kind)] = true;
    }
  }
  return kinds;
}

// Room for all ops, so that large Programs are written without moving them. `by_stretches`: ZeRO
// clears, gathers and reduces in each.
void reserve(RankPlan& plan, bool by_stretches) {
  RankProgram& rank = plan.emitter->rank();
  std::size_t ops = 64, operands = 64, buffers = 16;
  for (const Action& action : rank.actions) {
    const ChunkDrafts& chunk = plan.chunks[action.chunk];
    const FoldedDrafts& folded = chunk.folded_of(action.kind, false);
    const std::vector<Draft>& drafts = !plan.folds    ? chunk.of(action.kind)
                                       : by_stretches ? folded.stretches
                                                      : folded.whole;
    const auto stretches = static_cast<std::size_t>(
        by_stretches ? chunk.stretches[static_cast<std::size_t>(action.kind)] : 0);
    ops += drafts.size() + 2 + 4 * stretches;
    operands += 2 + 6 * stretches;
    buffers += 1 + 2 * stretches;
    for (const Draft& draft : drafts) {
      operands += draft.operands.size();
      for (const DraftOperand& operand : draft.operands) buffers += operand.opens > 0 ? 1 : 0;
    }
  }
  rank.ops.reserve(ops);
  rank.operands.reserve(operands);
  plan.emitter->reserve_buffers(buffers);
}

void add_edge(RankProgram& rank, const ForwardEdge& edge) {
  Op& op = rank.ops[static_cast<std::size_t>(edge.op)];
  const auto first = static_cast<std::int32_t>(rank.after.size());
  for (std::int32_t i = 0; i < op.after_count; ++i)
    rank.after.push_back(rank.after[static_cast<std::size_t>(op.after_first + i)]);
  rank.after.push_back(edge.waits_for);
  op.after_first = first;
  ++op.after_count;
}

// Programs of the representatives, in order of stage.
Result<Program> build_representatives(const Setup& setup, const Order& order,
                                      const std::vector<std::vector<Chunk>>& chunks,
                                      Folding folding, bool may_wait) {
  const bool stage_level = folding != Folding::kNone;
  const LocalSizes sizes = local_sizes(setup);
  Program program;
  program.shape = sizes.shape;
  program.level = stage_level ? Level::kStage : Level::kPiece;
  program.world = setup.mesh.ranks();
  program.representatives = true;
  program.ranks.resize(setup.mesh.pp);
  std::deque<RankEmitter> emitters;
  std::vector<RankPlan> plans(setup.mesh.pp);
  std::vector<int> ranks;
  std::vector<std::int32_t> pipeline_groups;
  ShardPass shard(setup);
  AlikeChunks alike(setup, sizes, folding);
  for (int stage = 0; stage < setup.mesh.pp; ++stage) {
    Coordinates at;
    at.pp = stage;
    RankProgram& rank = program.ranks[stage];
    rank.rank = rank_of(setup.mesh, at);
    rank.stage = stage;
    rank.actions = order.ranks[stage];
    for (const Chunk& chunk : chunks[stage]) {
      rank.layers.insert(rank.layers.end(), chunk.layers.begin(), chunk.layers.end());
    }
    // Ranks that hold the same stages have the same layout, whichever chunk is which.
    std::vector<Chunk> ascending = chunks[stage];
    std::sort(ascending.begin(), ascending.end(), [](const Chunk& a, const Chunk& b) {
      return std::pair(a.begin, a.end()) < std::pair(b.begin, b.end());
    });
    std::sort(rank.layers.begin(), rank.layers.end());
    rank.at = at;
    rank.parameters = parameter_layout(setup, ascending);
    for (ParameterSlice& slice : rank.parameters) {
      if (is_copied(chunks[stage], slice)) slice.copied = slice.count;
    }
    rank.buckets = make_buckets(setup, rank.parameters);
    RankEmitter& emitter = emitters.emplace_back(program, rank);
    plans[stage].emitter = &emitter;
    plans[stage].folds = stage_level;
    plans[stage].folds_rings = folding == Folding::kRings && setup.ring_tensor && setup.mesh.pp > 1;
    plans[stage].pairs = setup.overlap_experts && setup.mesh.ep > 1 && setup.mesh.cp == 1;
    if (!setup.overlap_pipeline) plans[stage].transfers = Lane::kCompute;
    ranks.push_back(rank.rank);
    pipeline_groups.push_back(emitter.group(Axis::kPp, group_of(setup.mesh, Axis::kPp, rank.rank)));
    for (std::size_t c = 0; c < chunks[stage].size(); ++c) {
      const Chunk& chunk = chunks[stage][c];
      const std::array<bool, 4> kinds = kinds_of(order, stage, c);
      plans[stage].chunks.push_back(
          stage_level ? alike.prepare(chunk, kinds, emitter)
                      : prepare_chunk(setup, sizes, chunk, kinds, folding, emitter));
      for (double& seconds : plans[stage].chunks.back().seconds) seconds *= slowness(setup, stage);
    }
    shard.hold_states(plans[stage]);
  }
  for (RankPlan& plan : plans) reserve(plan, zero_stage(setup) >= 2);
  std::vector<ForwardEdge> waits;
  const Result<void> arranged = arrange(order, plans, boundary_bytes(sizes), sizes.type, ranks,
                                        pipeline_groups, shard, may_wait ? &waits : nullptr);
  if (!arranged) return arranged.error();
  shard.finish(plans, ranks);
  for (RankProgram& rank : program.ranks) plan_memory(rank);
  for (const ForwardEdge& edge : waits) add_edge(program.ranks[edge.plan], edge);
  return program;
}

// Ops of the representatives at piece level, counted without making them.
std::int64_t piece_ops(const Setup& setup, const Order& order,
                       const std::vector<std::vector<Chunk>>& chunks) {
  const LocalSizes sizes = local_sizes(setup);
  std::int64_t count = 0;
  for (std::size_t r = 0; r < chunks.size(); ++r) {
    std::vector<std::int64_t> per_action(chunks[r].size() * 4, -1);
    const std::vector<ParameterSlice> slices = parameter_layout(setup, chunks[r]);
    for (const Action& action : order.ranks[r]) {
      std::int64_t& ops = per_action[static_cast<std::size_t>(action.chunk) * 4 +
                                     static_cast<std::size_t>(action.kind)];
      if (ops < 0) {
        ops = static_cast<std::int64_t>(
            pieces_of(setup, sizes, chunks[r][action.chunk], slices, action.kind).size());
      }
      count += ops;
    }
  }
  return count;
}

Message too_many_steps() {
  return refuse(message("collectives-large",
                        "Collectives by steps are built for all ranks at once, and this Setup has "
                        "too many ranks or ops; choose collectives direct."),
                "collectives", {"direct"});
}

}  // namespace

std::vector<std::vector<Chunk>> placed_chunks(const Setup& setup, const Order& order) {
  const std::vector<int> counts = layers_of_stages(setup);
  std::vector<int> first_layer(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) first_layer[i + 1] = first_layer[i] + counts[i];
  std::vector<std::vector<Chunk>> result(order.stage_of.size());
  for (std::size_t r = 0; r < order.stage_of.size(); ++r) {
    for (const int stage : order.stage_of[r]) {
      Chunk chunk;
      chunk.begin = first_layer[stage];
      for (int layer = first_layer[stage]; layer < first_layer[stage + 1]; ++layer) {
        chunk.layers.push_back(layer);
      }
      chunk.first = stage == 0;
      chunk.last = stage == order.stages - 1;
      result[r].push_back(std::move(chunk));
    }
  }
  // Held on ranks s and p - 1 - s, stage s counts on the first, in whichever order its chunks are.
  if (order.stages == static_cast<int>(order.ranks.size())) {
    for (std::size_t r = 0; r < result.size(); ++r)
      for (std::size_t c = 0; c < result[r].size(); ++c)
        result[r][c].copy = order.stage_of[r][c] != static_cast<int>(r);
  }
  return result;
}

std::vector<NominalRank> nominal_ranks(const Setup& setup, const Order& order) {
  const LocalSizes sizes = local_sizes(setup);
  const std::vector<std::vector<Chunk>> chunks = placed_chunks(setup, order);
  // Chunks with equally many layers and the same ends are alike but where layers differ.
  const bool differ = setup.model.experts.first_dense > 0 || recomputes_some_layers(setup);
  using Times = std::pair<std::array<double, 4>, std::array<bool, 4>>;
  std::map<std::array<int, 4>, Times> known;
  std::vector<NominalRank> ranks(chunks.size());
  for (std::size_t r = 0; r < chunks.size(); ++r) {
    for (std::size_t c = 0; c < chunks[r].size(); ++c) {
      const Chunk& chunk = chunks[r][c];
      const std::array<bool, 4> kinds = kinds_of(order, r, c);
      int wanted = 0;
      for (const bool kind : kinds) wanted = 2 * wanted + kind;
      const int ends = 2 * chunk.first + chunk.last;
      const auto [entry, fresh] =
          known.try_emplace({static_cast<int>(chunk.layers.size()), ends, wanted,
                             differ || chunk.copy ? chunk.begin : 0});
      if (fresh) {
        const std::vector<ParameterSlice> slices = parameter_layout(setup, {chunk});
        for (std::size_t kind = 0; kind < 4; ++kind) {
          if (!kinds[kind]) continue;
          const std::vector<Draft> drafts =
              pieces_of(setup, sizes, chunk, slices, static_cast<ActionKind>(kind));
          entry->second.first[kind] = nominal_seconds(drafts);
          entry->second.second[kind] = !setup.overlap_pipeline || has_rings(drafts);
        }
      }
      ranks[r].seconds.push_back(entry->second.first);
      for (double& seconds : ranks[r].seconds.back())
        seconds *= slowness(setup, static_cast<int>(r));
      ranks[r].shares_lane.push_back(entry->second.second);
    }
  }
  return ranks;
}

std::int64_t boundary_bytes(const Setup& setup) { return boundary_bytes(local_sizes(setup)); }

Result<Program> build_program(const Setup& setup, const Order& order, const BuildOptions& options) {
  if (static_cast<int>(order.ranks.size()) != setup.mesh.pp) {
    return message("order-ranks", "The order has {} ranks but PP is {}; set PP to {}.",
                   order.ranks.size(), setup.mesh.pp, order.ranks.size());
  }
  const auto stages = static_cast<int>(layers_of_stages(setup).size());
  if (order.stages != stages) {
    return message("order-stages", "The order has {} stages, but the layers are split into {}.",
                   order.stages, stages);
  }
  const std::vector<std::vector<Chunk>> chunks = placed_chunks(setup, order);
  const std::int64_t replicas = setup.mesh.ranks() / setup.mesh.pp;
  // What is folded has collectives of one op each, and those of these axes lie between pieces.
  const bool steps_between =
      by_steps(setup.collectives) && (setup.mesh.tp > 1 || setup.mesh.cp > 1 || setup.mesh.ep > 1);
  const bool expands = by_steps(setup.collectives);
  const bool unlike = options.unlike && !expands && setup.mesh.ranks() <= kMostBuiltRanks;
  const std::int64_t built_replicas = unlike ? replicas : 1;
  const bool stage_level =
      !steps_between &&
      (options.stage_level ||
       (!options.all_ranks && piece_ops(setup, order, chunks) * built_replicas > kMostPieceOps));
  if (steps_between && !options.all_ranks &&
      piece_ops(setup, order, chunks) * replicas > kMostPieceOps)
    return too_many_steps();
  const bool waits = options.may_wait && !check_order(order).empty();
  if (waits && by_steps(setup.collectives)) {
    Message why = message("order-wait-collectives",
                          "An order that waits for ever is built with collectives direct.");
    return refuse(std::move(why), "collectives", {"direct"});
  }
  const bool rings = stage_level && options.fold_rings && setup.ring_tensor && !options.all_ranks &&
                     !by_steps(setup.collectives);
  const Folding folding = rings         ? Folding::kRings
                          : stage_level ? Folding::kComputing
                                        : Folding::kNone;
  Result<Program> built = build_representatives(setup, order, chunks, folding, waits);
  if (!built) return built;
  const bool few = setup.mesh.ranks() <= kMostBuiltRanks &&
                   built->op_count() * replicas <= (unlike ? kMostUnlikeOps : kMostPieceOps) &&
                   !options.representatives && !rings;
  const bool all_ranks = options.all_ranks || few;
  if (!all_ranks && expands) return too_many_steps();
  if (!all_ranks) {
    share_causal_work(setup, *built);
    return built;
  }
  if (replicas == 1) built->representatives = false;
  Program program = replicas == 1 ? std::move(*built) : replicate(*built, setup);
  share_causal_work(setup, program);
  if (!expands) return program;
  return expand(program, setup.collectives);
}

}  // namespace parallelarium
