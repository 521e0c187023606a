// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/replicate.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "engine/passes/pieces.h"
#include "engine/passes/shard/shard.h"
#include "engine/passes/shard/shard_drafts.h"
#include "engine/plan/program/holdings/holdings.h"

namespace parallelarium {

namespace {

// `rank` moved to the replica of `to`, staying on its own pipeline stage.
int moved(const Mesh& mesh, int rank, const Coordinates& to) {
  Coordinates at = to;
  at.pp = coordinates_of(mesh, rank).pp;
  return rank_of(mesh, at);
}

// Places of the representative's group along one dimension, as the replica at place `here` has
// them: neighbours (0, 1, ..) move by whole groups, every s-th (0, s, ..) within the first s.
std::vector<int> moved_places(const std::vector<int>& places, int here) {
  const auto n = static_cast<int>(places.size());
  const int stride = n > 1 ? places[1] : 1;
  const int by = stride == 1 ? here / n * n : here % stride;
  std::vector<int> result;
  for (const int place : places) result.push_back(place + by);
  return result;
}

// Of replicas: by the rule that made the representative's group.
std::vector<int> moved_replicas(const Setup& setup, const Group& group, const Coordinates& to) {
  const Coordinates from = coordinates_of(setup.mesh, group.ranks.front());
  for (const Replicas which : {Replicas::kAll, Replicas::kShard, Replicas::kAcross}) {
    for (const bool experts : {false, true}) {
      if (replica_ranks(setup, which, experts, from) == group.ranks) {
        Coordinates at = to;
        at.pp = from.pp;
        return replica_ranks(setup, which, experts, at);
      }
    }
  }
  assert(false);  // all groups of replicas are made by one of these
  return group.ranks;
}

// Marks what the rank holds as a copy of another: in its TP group everything that TP does not cut,
// except on the first rank, and key/value heads that fewer ranks would hold; where ZeRO does not
// share states out, everything but experts on all ranks of an EP group but the first, and where an
// EP group holds several groups that share states, on all of these but the first. With whole
// experts, all else is a copy on every replica but the first, and experts are copies on all ranks
// but the first that holds them.
void mark_copies(RankProgram& rank, const Setup& setup) {
  const Model& model = setup.model;
  const int tp = setup.mesh.tp;
  const Mesh& mesh = setup.mesh;
  const ExpertPlace place = expert_place(mesh, rank.at);
  const bool whole = zero_stage(setup) == 0 && has_whole_experts(setup);
  const bool of_ep = zero_stage(setup) == 0
                         ? place.part > 0
                         : ep_holds_shard_groups(setup) && place.part >= shard_ranks(setup);
  const bool again = whole ? rank.at.dp + rank.at.cp > 0 : of_ep;
  const int sharing = tp > model.kv_heads ? tp / model.kv_heads : 1;
  for (ParameterSlice& slice : rank.parameters) {
    const bool experts = slice.parameter == Parameter::kExpertWeights;
    if (experts ? whole && place.replica > 0 : again) slice.shared_copy = true;
    if (is_whole_on_every_tp_rank(slice.parameter)) slice.shared_copy |= rank.at.tp > 0;
    const bool qkv =
        slice.parameter == Parameter::kQkvWeight || slice.parameter == Parameter::kQkvBias;
    if (!qkv || rank.at.tp % sharing == 0) continue;
    const std::int64_t heads = model.heads / tp;  // of queries; one of keys and one of values
    slice.copied = std::max(slice.copied, slice.count / (heads + 2) * 2);
  }
}

}  // namespace

std::vector<int> moved_group(const Setup& setup, const Group& group, const Coordinates& to) {
  const Mesh& mesh = setup.mesh;
  std::vector<int> ranks, places;
  // The group's members as places along the axis that it is a slice of, and back.
  int Coordinates::*const along = group.axis == Axis::kTp ? &Coordinates::tp : &Coordinates::cp;
  switch (group.axis) {
    case Axis::kWorld:
      return group.ranks;
    case Axis::kDp:
      return moved_replicas(setup, group, to);
    case Axis::kPp:
      for (const int member : group.ranks) ranks.push_back(moved(mesh, member, to));
      break;
    case Axis::kEp:
      return group_of(mesh, Axis::kEp, rank_of(mesh, to));
    case Axis::kTp:
    case Axis::kCp:
      for (const int member : group.ranks) places.push_back(coordinates_of(mesh, member).*along);
      std::sort(places.begin(), places.end());
      for (const int place : moved_places(places, to.*along)) {
        Coordinates at = to;
        at.*along = place;
        ranks.push_back(rank_of(mesh, at));
      }
      break;
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

int moved_peer(const Mesh& mesh, Axis axis, int peer, const Coordinates& to) {
  if (axis != Axis::kCp && axis != Axis::kTp) return moved(mesh, peer, to);
  const Coordinates from = coordinates_of(mesh, peer);  // the representative's own is 0
  Coordinates at = to;
  at.pp = from.pp;
  at.cp = (to.cp + from.cp) % mesh.cp;
  at.tp = (to.tp + from.tp) % mesh.tp;
  return rank_of(mesh, at);
}

RankProgram moved_rank(const Setup& setup, const RankProgram& like, int rank) {
  RankProgram copy = like;
  copy.rank = rank;
  copy.at = coordinates_of(setup.mesh, rank);
  mark_copies(copy, setup);
  take_own_shards(setup, copy);
  for (Operand& operand : copy.operands)
    if (operand.shard == kTensorShare) operand.offset = copy.at.tp * operand.count;
  return copy;
}

Program replicate(const Program& program, const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  Program result;
  result.shape = program.shape;
  result.level = program.level;
  result.world = mesh.ranks();
  result.works = program.works;
  result.folds = program.folds;
  result.batches = program.batches * (mesh.ranks() / mesh.pp);
  result.ranks.reserve(mesh.ranks());
  std::map<std::pair<Axis, std::vector<int>>, std::int32_t> known;
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const Coordinates at = coordinates_of(mesh, rank);
    const int replica = (at.dp * mesh.cp + at.cp) * mesh.tp + at.tp;
    RankProgram copy = moved_rank(setup, program.ranks[at.pp], rank);
    std::vector<std::int32_t> group_of_op(program.groups.size(), -1);
    for (Op& op : copy.ops) {
      if (op.peer >= 0) op.peer = moved_peer(mesh, program.groups[op.group].axis, op.peer, at);
      if (op.batch >= 0) op.batch += replica * program.batches;
      if (op.group < 0) continue;
      std::int32_t& group = group_of_op[op.group];
      if (group < 0) {
        const Group& from = program.groups[op.group];
        std::vector<int> ranks = moved_group(setup, from, at);
        const auto next = static_cast<std::int32_t>(result.groups.size());
        const auto [entry, added] = known.try_emplace({from.axis, ranks}, next);
        if (added) result.groups.push_back({from.axis, std::move(ranks)});
        group = entry->second;
      }
      op.group = group;
    }
    result.ranks.push_back(std::move(copy));
  }
  return result;
}

}  // namespace parallelarium
