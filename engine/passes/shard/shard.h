// SPDX-License-Identifier: Apache-2.0
// Keeps the replicas in step. It cuts parameters into buckets (a layer, the tables, final norm and
// head). Bucket by bucket it reduces gradients over DP and CP in the data lane, as soon as the last
// backward has added to them or, as Setup::overlap_gradients says, after the last backward. ZeRO
// cuts every bucket over a group of replicas, and each rank updates its own chunk. If that group is
// smaller than DP (hybrid sharding), chunks are then reduced across the groups.
//
//   ZeRO 0  all-reduce of gradients                                  2 psi (N-1)/N a rank and step
//   ZeRO 1  reduce-scatter of gradients, all-gather of parameters    the same
//   ZeRO 2  reduce-scatter in every micro-batch, all-gather          (m+1) psi
//   ZeRO 3  and parameters gathered for every forward and backward   3 m psi
//           the same kept from forward to backward                   2 m psi
//
// ZeRO 1 and 2 gather parameters behind the update or, as Setup::overlap_parameters says, at the
// step's begin: every bucket in the order in which the first forwards of the rank's chunks read
// them, each of which waits for its own. They hold parameters whole, so that nothing limits how far
// ahead they gather (Megatron-LM, --overlap-param-gather with align_param_gather, core/distributed/
// param_and_grad_buffer.py; at commit d98e8a6).
//
// ZeRO 2 and 3 hold no whole gradients: they open a bucket's gradients before the backward adds to
// them, and add their sum over the ranks to the chunk that the rank owns. Without overlap the
// backward waits for that sum before it opens the next bucket, as DeepSpeed 0.3.14 does, which
// waits for all of the device's streams before it gathers a module (zero/partition_parameters.py,
// _allgather_param; zero/stage3.py, _synchronize_communication). ZeRO 3 gathers
// Setup::zero_prefetch stretches ahead, frees after the action's last use and gathers again in the
// backward, or keeps what a forward gathered until the next backward has used it
// (Setup::zero_reshard). It gathers the tables too, as FSDP does, though an embedding's backward
// does not read them. Parameters that a TP group holds in several copies (norms under sequence
// parallelism, key/value heads that are fewer than TP) first add up the gradients of all copies.
// Source: Rajbhandari et al. 2019, section VII; Zhao et al. 2023 (FSDP: reshard_after_forward,
// reduce_dtype). Gradients of 16 bit may be reduced in fp32 (Setup::gradient_reduction).
#pragma once

#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "engine/passes/arrange/arrange.h"

namespace parallelarium {

// How many ranks share the model states.
int shard_ranks(const Setup& setup);
// Setup::zero, or 0 if there is one rank and so nothing to cut.
int zero_stage(const Setup& setup);
// Whether an EP group holds several of the groups that share model states: each of these has
// everything but experts, and all of them together have each expert once. validate() refuses
// other groups that are smaller than EP.
bool ep_holds_shard_groups(const Setup& setup);
// Whether parameters are gathered at the start of the step (Setup::overlap_parameters).
bool gathers_ahead(const Setup& setup);

// The buckets of a rank's parameters and the parts of them that the first replica owns.
std::vector<Bucket> make_buckets(const Setup& setup, const std::vector<ParameterSlice>& parameters);

// Turns operands of states that a rank does not hold whole (ZeRO 2 and 3) into operands of a
// bucket's temporary buffer.
void name_buckets(const Setup& setup, const RankProgram& rank, std::vector<Draft>& drafts);

// Says of a forward's drafts which are the first to read a bucket (Draft::awaits), where parameters
// are gathered ahead.
void await_buckets(const Setup& setup, const RankProgram& rank, std::vector<Draft>& forward);

// The bucket that holds the parameter at `offset`.
std::int16_t bucket_at(const RankProgram& rank, std::int64_t offset);
// The part of a bucket that the rank owns, as an operand on one of its states.
DraftOperand own_part(const Setup& setup, const RankProgram& rank, std::int16_t bucket,
                      Tensor tensor, Access access, DataType type);

// `rank` is a copy of the first replica at another place: gives it its own parts of all buckets.
void take_own_shards(const Setup& setup, RankProgram& rank);

// Opens what a rank holds through the step: parameters, gradients, optimizer states, tokens and
// sums. `first`, `last`: it has the token table, or the head. The rank must have its buckets.
void hold_tensors(const Setup& setup, RankEmitter& emitter, bool first, bool last);

class ShardPass : public ActionHooks {
 public:
  explicit ShardPass(const Setup& setup)
      : setup_(setup), states_(static_cast<std::size_t>(setup.mesh.pp)) {}

  // hold_tensors(), and plans when its buckets are gathered and reduced. The plan must have its
  // chunks and buckets.
  void hold_states(RankPlan& plan);
  void before(RankPlan& plan, const Stretch& stretch) override;
  void after(RankPlan& plan, const Stretch& stretch) override;
  bool is_quiet(const RankPlan& plan, std::size_t action) const override;
  void skip(RankPlan& plan, std::int32_t stretches) override;
  // Adds what follows all actions: tied tables, stages held twice, loss, norm, update.
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
    std::int32_t buffer = -1;  // of an emitted gather: where the parameters are
  };
  // Elements of the parameters that several ranks of a TP group hold, and that group.
  struct Copies {
    std::int64_t begin = 0, count = 0;
    std::int32_t group = -1;
  };
  // What never changes about a bucket.
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
    std::vector<std::int32_t> closing;           // buffers that close one stretch later
    std::vector<bool> quiet;                     // by action
  };

  State& state_of(const RankPlan& plan) {
    return states_[static_cast<std::size_t>(plan.emitter->rank().stage)];
  }
  const State& state_of(const RankPlan& plan) const {
    return states_[static_cast<std::size_t>(plan.emitter->rank().stage)];
  }
  void gather_ahead(RankPlan& plan);
  struct Use;
  std::vector<Use> uses_of(const RankProgram& rank, const ChunkDrafts& chunk,
                           ActionKind kind) const;
  // Plans when each bucket is gathered, opened and reduced.
  void plan_tasks(const RankPlan& plan, State& state) const;
  void find_quiet(const RankPlan& plan, State& state) const;
  Home home_of(RankPlan& plan, const Bucket& bucket) const;
  void gather(RankPlan& plan, const State& state, Task& task) const;
  void open(RankPlan& plan, State& state, const Task& task);
  void reduce(RankPlan& plan, State& state, const Task& task);
  void reduce_over(RankPlan& plan, Draft reduce, DraftOperand from, DraftOperand into,
                   std::int32_t buffer);
  Draft convert_draft(RankPlan& plan, const DraftOperand& to, const DraftOperand& from,
                      std::int16_t layer);
  void reduce_copies(RankPlan& plan, const State& state, const Task& task) const;
  void add_up_tables(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const;
  void add_up_copies(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const;
  static std::int32_t mirrored_pair(std::vector<RankPlan>& plans, const std::vector<int>& ranks,
                                    std::size_t index);
  void update_router_bias(RankPlan& plan, std::initializer_list<std::int32_t> groups) const;
  // `mine`: parameters that the rank updates.
  void update_norm(RankPlan& plan, std::int64_t mine) const;
  void update_parameters(RankPlan& plan, std::int64_t mine) const;
  void update_offloaded(RankPlan& plan, Draft optimizer, std::int64_t mine) const;
  // `mirrored`: the group of the ranks that hold the same stages, or -1.
  void update(RankPlan& plan, std::int32_t mirrored) const;

  const Setup& setup_;
  std::vector<State> states_;                                     // by stage
  std::unordered_map<std::int64_t, std::int32_t> clear_works_;    // Op::work by elements cleared
  std::unordered_map<std::int64_t, std::int32_t> convert_works_;  // the same of those converted
};

}  // namespace parallelarium
