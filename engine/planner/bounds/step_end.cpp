// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/bounds/step_end.h"

#include <algorithm>
#include <climits>
#include <map>
#include <optional>

#include "engine/passes/pieces.h"
#include "engine/passes/shard/shard_drafts.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

namespace {

bool has_two_ends(const Setup& setup) {
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  return rule != nullptr && rule->chunks == 2;
}

BucketCost smaller(const BucketCost& a, const BucketCost& b) {
  return {std::min(a.gathered, b.gathered), std::min(a.gradients, b.gradients),
          std::min(a.gather, b.gather),     std::min(a.reduce, b.reduce),
          std::min(a.clear, b.clear),       std::min(a.across, b.across)};
}
BucketCost sum(const BucketCost& a, const BucketCost& b) {
  return {a.gathered + b.gathered, a.gradients + b.gradients, a.gather + b.gather,
          a.reduce + b.reduce,     a.clear + b.clear,         a.across + b.across};
}

// Times what one rank does at the end of a step.
class EndReader {
 public:
  EndReader(const Setup& setup, const Machine& machine)
      : setup_(setup), machine_(machine), zero_(zero_stage(setup)), sizes_(local_sizes(setup)) {
    program_.shape = sizes_.shape;
    program_.world = setup.mesh.ranks();
    program_.representatives = true;
    program_.ranks.resize(static_cast<std::size_t>(setup.mesh.pp));
    for (int stage = 0; stage < setup.mesh.pp; ++stage) {
      Coordinates at;
      at.pp = stage;
      program_.ranks[static_cast<std::size_t>(stage)].rank = rank_of(setup.mesh, at);
    }
  }

  // Of the first rank at that place in the pipeline.
  RankEnd read(const std::vector<Chunk>& chunks, int place) {
    Coordinates at;
    at.pp = place;
    program_.groups.clear();
    for (const Replicas which : {Replicas::kShard, Replicas::kAcross})
      for (const bool experts : {false, true})
        program_.groups.push_back({Axis::kDp, replica_ranks(setup_, which, experts, at)});
    RankProgram rank;
    rank.parameters = parameter_layout(setup_, chunks);
    rank.buckets = make_buckets(setup_, rank.parameters);
    const CostModel cost(program_, machine_, setup_);
    RankEnd end;
    const std::int64_t mine = zero_ >= 1 ? own_count(rank) : parameter_count(rank);
    end.norm = work_of(norm_draft(setup_, mine));
    end.update = work_of(optimizer_draft(setup_, mine));
    const DataType held = gradient_type(setup_);
    const DataType type = size_of(held) == reduced_bytes(setup_) ? held : DataType::kF32;
    std::vector<BucketCost> costs;
    for (const Bucket& bucket : rank.buckets) {
      BucketCost& costs_of = costs.emplace_back(bytes_of(bucket));
      const std::int32_t shard = has_experts(rank, bucket) ? 1 : 0, across = shard + 2;
      const auto nanoseconds = [&](CollectiveKind kind, DataType of, std::int32_t group,
                                   std::int64_t count) -> std::int64_t {
        if (program_.groups[static_cast<std::size_t>(group)].ranks.size() < 2) return 0;
        const DraftOperand operand = range(Tensor::kGradients, Access::kRead, of, 0, count);
        return cost.nanoseconds(data_draft(kind, Purpose::kGradients, group, count, {operand}).op,
                                0);
      };
      const std::int64_t reduce =
          nanoseconds(zero_ == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter,
                      type, shard, bucket.count);
      end.reduce += costs_of.reduce = reduce;
      if (zero_ == 0) continue;
      if (shard_ranks(setup_) < setup_.mesh.dp * setup_.mesh.cp)
        end.across += costs_of.across =
            nanoseconds(CollectiveKind::kAllReduce, type, across, bucket.own_count);
      const std::int64_t gather =
          nanoseconds(CollectiveKind::kAllGather, parameter_type(setup_), shard, bucket.count);
      (zero_ == 3 || gathers_ahead(setup_) ? end.gather : end.update) += gather;
      if (zero_ == 3) costs_of.gather = gather;
      if (costs_of.gradients > 0)
        costs_of.clear =
            work_of(compute_draft(Piece::kZeroGrad, bucket.count, bucket.count * size_of(held)));
    }
    name_costs(rank, costs, end);
    if (setup_.zero_reshard) end.prefetch = setup_.zero_prefetch;
    end.layers = INT_MAX;
    for (const Chunk& chunk : chunks)
      end.layers = std::min(end.layers, static_cast<int>(chunk.layers.size()));
    return end;
  }

 private:
  BucketCost bytes_of(const Bucket& bucket) const {
    if (bucket.count == bucket.own_count) return {};
    return {zero_ == 3 ? bucket.count * setup_.precision.parameter_bytes : 0,
            zero_ >= 2 ? bucket.count * setup_.precision.gradient_bytes : 0};
  }
  // What a layer's buckets cost together, and each at least.
  struct LayerCosts {
    BucketCost all;
    std::optional<BucketCost> experts, others;
  };
  static void name_costs(const RankProgram& rank, const std::vector<BucketCost>& costs,
                         RankEnd& end) {
    std::map<int, LayerCosts> layers;
    std::optional<BucketCost> least, layer, experts, others;
    const auto lower = [](std::optional<BucketCost>& least_yet, const BucketCost& cost) {
      least_yet = least_yet ? smaller(*least_yet, cost) : cost;
    };
    for (std::size_t at = 0; at < costs.size(); ++at) {
      const int number = layer_of(rank, rank.buckets[at]);
      if (number < 0) {
        lower(least, costs[at]);
        continue;
      }
      LayerCosts& of = layers[number];
      of.all = sum(of.all, costs[at]);
      lower(has_experts(rank, rank.buckets[at]) ? of.experts : of.others, costs[at]);
    }
    for (const auto& [number, of] : layers) {
      lower(least, of.all);
      lower(layer, of.all);
      lower(experts, of.experts.value_or(BucketCost()));
      lower(others, of.others.value_or(BucketCost()));
    }
    end.least = least.value_or(BucketCost());
    end.layer = layer.value_or(BucketCost());
    end.experts = experts.value_or(BucketCost());
    end.others = others.value_or(BucketCost());
    for (const ParameterSlice& slice : rank.parameters) {
      const BucketCost& cost = costs[static_cast<std::size_t>(bucket_at(rank, slice.offset))];
      if (slice.parameter == Parameter::kTokenTable && !slice.shared_copy) end.table = cost;
      if (slice.parameter == Parameter::kHeadWeight || slice.shared_copy) end.head = cost;
    }
  }
  std::int64_t work_of(const Draft& draft) const {
    double seconds = 0;
    for (const Work& work : draft.work)
      seconds +=
          work_seconds(work, sizes_.shape, machine_, storage_of(work, setup_), setup_.products);
    return static_cast<std::int64_t>(seconds * 1e9);
  }

  const Setup& setup_;
  const Machine& machine_;
  const int zero_;
  const LocalSizes sizes_;
  Program program_;  // of groups alone
};

}  // namespace

namespace {

// Whether the replicas of every stage are spread over nodes like those of the first.
bool stand_alike(const Setup& setup, const Machine& machine) {
  if (machine.local || !machine.pairs.empty()) return false;
  const Mesh& mesh = setup.mesh;
  const int node = std::max(1, machine.devices_per_node), inner = mesh.tp * mesh.cp;
  const bool stages_inside = mesh.order == RankOrder::kTpCpEpPpDp;
  for (const int together : {inner, inner * (stages_inside ? mesh.pp : mesh.dp)})
    if (node % together != 0 && together % node != 0) return false;
  return true;
}

}  // namespace

std::vector<int> stages_on(const Setup& setup, int rank) {
  const int ranks = setup.mesh.pp, chunks = stages_of(setup) / ranks;
  if (holds_stages_twice(setup)) return {rank, ranks - 1 - rank};
  if (has_two_ends(setup)) return {rank, 2 * ranks - 1 - rank};
  std::vector<int> stages;
  for (int chunk = 0; chunk < chunks; ++chunk) stages.push_back(chunk * ranks + rank);
  return stages;
}

EndKey end_key_of(const Setup& setup, std::uint8_t cut) {
  const Mesh& mesh = setup.mesh;
  const auto way = static_cast<std::uint8_t>(holds_stages_twice(setup) ? 2 : has_two_ends(setup));
  return {mesh.tp,
          mesh.cp,
          mesh.ep,
          mesh.dp,
          mesh.pp,
          stages_of(setup),
          setup.zero > 0 ? setup.zero_group : 0,
          static_cast<std::uint8_t>(setup.zero),
          way,
          static_cast<std::uint8_t>(mesh.order),
          cut,
          mesh.expert_tensor};
}

StepEnd step_end(const Setup& setup, const Machine& machine) {
  const std::vector<int> layers = layers_of_stages(setup);
  std::vector<int> first_layer(layers.size() + 1, 0);
  for (std::size_t at = 0; at < layers.size(); ++at)
    first_layer[at + 1] = first_layer[at] + layers[at];
  const int dense = setup.model.experts.count > 0 ? setup.model.experts.first_dense : 0;
  EndReader reader(setup, machine);
  const bool alike = stand_alike(setup, machine);
  std::map<std::vector<int>, RankEnd> known;  // by what their stages hold
  StepEnd ends;
  for (int rank = 0; rank < setup.mesh.pp; ++rank) {
    std::vector<int> held = stages_on(setup, rank);
    std::sort(held.begin(), held.end());
    std::vector<int> like = {alike ? 0 : rank};
    std::vector<Chunk> chunks;
    for (const int stage : held) {
      const auto at = static_cast<std::size_t>(stage);
      Chunk chunk;
      chunk.begin = first_layer[at];
      for (int layer = first_layer[at]; layer < first_layer[at + 1]; ++layer)
        chunk.layers.push_back(layer);
      chunk.first = stage == 0;
      chunk.last = at + 1 == layers.size();
      like.insert(like.end(), {layers[at], std::clamp(dense - chunk.begin, 0, layers[at]),
                               chunk.first, chunk.last});
      chunks.push_back(std::move(chunk));
    }
    const auto found = known.find(like);
    ends.push_back(found != known.end()
                       ? found->second
                       : known.emplace(like, reader.read(chunks, rank)).first->second);
  }
  return ends;
}

}  // namespace parallelarium
