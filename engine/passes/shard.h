// SPDX-License-Identifier: Apache-2.0
// Keeps the replicas in step: gradients are reduced over DP (and CP) in the data lane, bucket by
// bucket as soon as the last backward has added to them; with ZeRO the states are cut into shards.
//
//   ZeRO 0  all-reduce of gradients                                      2 psi (N-1)/N a rank and
//   step ZeRO 1  reduce-scatter of gradients, all-gather of parameters        the same ZeRO 2
//   reduce-scatter in every micro-batch, all-gather at the end   (m+1) psi ZeRO 3  and parameters
//   gathered before every use                     3 m psi
// Source: Rajbhandari et al. 2019, section VII.
#pragma once

#include <vector>

#include "engine/passes/arrange.h"

namespace parallelarium {

// Ranks that share the model states of one shard.
int shard_ranks(const Setup& setup);

class ShardPass : public ActionHooks {
 public:
  ShardPass(const Setup& setup, bool stage_level) : setup_(setup), stage_level_(stage_level) {}

  // Parameters, gradients, optimizer states, tokens, sums: what a rank holds through the step.
  void hold_states(RankPlan& plan) const;
  std::int32_t before(RankPlan& plan, const Stretch& stretch) override;
  void after(RankPlan& plan, const Stretch& stretch) override;
  // After all actions: tied tables, stages held twice, loss, norm, update.
  void finish(std::vector<RankPlan>& plans, const std::vector<int>& ranks);

 private:
  // A range of a rank's parameters with the group that keeps it in step.
  struct Bucket {
    std::int64_t begin = 0, count = 0;
    std::int32_t group = -1;
    std::int16_t layer = -1;
  };
  std::vector<Bucket> buckets_of(RankPlan& plan, const Stretch& stretch) const;
  std::int32_t replica_group(RankPlan& plan, bool experts) const;
  void reduce(RankPlan& plan, const Bucket& bucket) const;
  void add_up_tables(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const;
  void add_up_copies(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const;
  void update(RankPlan& plan) const;

  const Setup& setup_;
  bool stage_level_;
  // ZeRO-3, by rank of the plan: the gathered buffer in use and the compute op before its stretch.
  struct Gathered {
    std::int32_t buffer = -1, marker = -1;
  };
  std::vector<std::pair<const RankPlan*, Gathered>> gathered_;
};

}  // namespace parallelarium
