// SPDX-License-Identifier: Apache-2.0
// Keeps the replicas in step. Parameters are cut into buckets (a layer, the tables, final norm and
// head); gradients are reduced over DP and CP in the data lane, bucket by bucket, as soon as the
// last backward has added to them. With ZeRO every bucket is cut over a group of replicas and each
// rank updates its own chunk; with a group smaller than DP (hybrid sharding) the chunks are then
// reduced across the groups.
//
//   ZeRO 0  all-reduce of gradients                                  2 psi (N-1)/N a rank and step
//   ZeRO 1  reduce-scatter of gradients, all-gather of parameters    the same
//   ZeRO 2  reduce-scatter in every micro-batch, all-gather          (m+1) psi
//   ZeRO 3  and parameters gathered for every forward and backward   3 m psi
//
// ZeRO 2 and 3 hold no whole gradients: a bucket's are opened before the backward adds to them,
// and their sum over the ranks is added to the chunk that the rank owns. ZeRO 3 gathers
// Setup::zero_prefetch stretches ahead, frees after the action's last use and gathers again in the
// backward (as FSDP does, the tables too, though an embedding's backward does not read them). What
// a TP group holds in several copies (norms under sequence parallelism, key/value heads that are
// fewer than TP) gets its gradient from all of them before that. Source: Rajbhandari et al. 2019,
// section VII; Zhao et al. 2023 (FSDP).
#pragma once

#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "engine/passes/arrange.h"

namespace parallelarium {

// Ranks that share the model states of one shard.
int shard_ranks(const Setup& setup);
// Setup::zero, or 0 where a shard is held by one rank and there is nothing to cut.
int zero_stage(const Setup& setup);

// The buckets of a rank's parameters, with the parts that the first replica owns.
std::vector<Bucket> make_buckets(const Setup& setup, const std::vector<ParameterSlice>& parameters,
                                 const std::vector<Chunk>& chunks, bool stage_level);

// Operands of states that a rank does not hold whole (ZeRO 2 and 3) become operands of a bucket's
// temporary buffer.
void name_buckets(const Setup& setup, const RankProgram& rank, std::vector<Draft>& drafts);

// The bucket that holds the parameter at `offset`.
std::int16_t bucket_at(const RankProgram& rank, std::int64_t offset);
// The part of a bucket that the rank owns, as an operand on one of its states.
DraftOperand own_part(const Setup& setup, const RankProgram& rank, std::int16_t bucket,
                      Tensor tensor, Access access, DataType type);
// Buckets of the parameters or gradients that the drafts touch. Requires: not yet name_buckets.
std::vector<std::int16_t> buckets_touched(const RankProgram& rank, const std::vector<Draft>& drafts,
                                          Tensor tensor);

// Turns the first replica's own parts into those of `rank`, a copy of it at another place.
void take_own_shards(const Setup& setup, RankProgram& rank);

class ShardPass : public ActionHooks {
 public:
  ShardPass(const Setup& setup, bool stage_level)
      : setup_(setup),
        stage_level_(stage_level),
        states_(static_cast<std::size_t>(setup.mesh.pp)) {}

  // Parameters, gradients, optimizer states, tokens, sums: what a rank holds through the step; and
  // when its buckets are gathered and reduced. Requires: the plan's chunks and buckets are made.
  void hold_states(RankPlan& plan);
  std::int32_t before(RankPlan& plan, const Stretch& stretch) override;
  void after(RankPlan& plan, const Stretch& stretch) override;
  // After all actions: tied tables, stages held twice, loss, norm, update.
  void finish(std::vector<RankPlan>& plans, const std::vector<int>& ranks);

 private:
  enum class What : std::uint8_t { kGather, kOpen, kReduce, kSynchronise };
  // Something to do with a bucket at one stretch of the rank's step, counted from 0.
  struct Task {
    std::int32_t stretch = 0;
    What what = What::kGather;
    std::int16_t bucket = 0;
    std::int16_t chunk = 0;
    std::int32_t microbatch = -1;
    Phase phase = Phase::kForward;
    std::int32_t buffer = -1;  // of a gather: where the parameters are, once it is emitted
  };
  // What a rank holds more than once in its TP group: elements of the parameters and the group.
  struct Copies {
    std::int64_t begin = 0, count = 0;
    std::int32_t group = -1;
  };
  // What is known of a bucket once and for all.
  struct Home {
    std::int16_t layer = -1;
    std::int32_t shard_group = -1, across_group = -1;
    std::vector<Copies> copies;
  };
  struct State {
    std::vector<Home> homes;                    // by bucket
    std::vector<Task> gathers, opens, reduces;  // in the order of stretches
    std::size_t next_gather = 0, next_use = 0, next_open = 0, next_reduce = 0;
    std::int32_t stretch = 0;
    std::vector<std::int32_t> gathered, opened;  // by bucket: the buffer in use
    std::vector<std::int32_t> closing;           // buffers that stay for one stretch more
  };

  State& state_of(const RankPlan& plan) {
    return states_[static_cast<std::size_t>(plan.emitter->rank().stage)];
  }
  struct Use;
  std::vector<Use> uses_of(const RankProgram& rank, const ChunkDrafts& chunk,
                           ActionKind kind) const;
  // When each bucket is gathered, opened and reduced.
  void plan_tasks(const RankPlan& plan, State& state) const;
  Home home_of(RankPlan& plan, const Bucket& bucket) const;
  std::int32_t gather(RankPlan& plan, const State& state, Task& task) const;
  void open(RankPlan& plan, State& state, const Task& task);
  void reduce(RankPlan& plan, State& state, const Task& task) const;
  void reduce_copies(RankPlan& plan, const State& state, const Task& task) const;
  void add_up_tables(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const;
  void add_up_copies(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const;
  static std::int32_t mirrored_pair(std::vector<RankPlan>& plans, const std::vector<int>& ranks,
                                    std::size_t index);
  void update_router_bias(RankPlan& plan, std::initializer_list<std::int32_t> groups) const;
  // `mine`: parameters that the rank updates.
  void update_norm(RankPlan& plan, std::int64_t mine) const;
  void update_parameters(RankPlan& plan, std::int64_t mine) const;
  // `mirrored`: the group of the ranks that hold the same stages, or -1.
  void update(RankPlan& plan, std::int32_t mirrored) const;

  const Setup& setup_;
  bool stage_level_;
  std::vector<State> states_;                                   // by stage
  std::unordered_map<std::int64_t, std::int32_t> clear_works_;  // Op::work by elements cleared
};

}  // namespace parallelarium
