// SPDX-License-Identifier: Apache-2.0
// Rank numbers are mixed-radix: the innermost axis counts fastest. Source of both orders:
// Megatron-LM, megatron/core/parallel_state.py (RankGenerator).
#include "engine/plan/program/mesh.h"

#include <algorithm>
#include <cassert>

namespace parallelarium {

std::string_view name_of(Axis axis) {
  switch (axis) {
    case Axis::kTp:
      return "tp";
    case Axis::kCp:
      return "cp";
    case Axis::kPp:
      return "pp";
    case Axis::kDp:
      return "dp";
    case Axis::kEp:
      return "ep";
    case Axis::kWorld:
      return "world";
  }
  return "";
}

std::string_view name_of(RankOrder order) {
  return order == RankOrder::kTpCpEpDpPp ? "tp-cp-ep-dp-pp" : "tp-cp-ep-pp-dp";
}

Coordinates coordinates_of(const Mesh& mesh, int rank) {
  assert(rank >= 0 && rank < mesh.ranks());
  Coordinates at;
  at.tp = rank % mesh.tp;
  rank /= mesh.tp;
  at.cp = rank % mesh.cp;
  rank /= mesh.cp;
  if (mesh.order == RankOrder::kTpCpEpDpPp) {
    at.dp = rank % mesh.dp;
    at.pp = rank / mesh.dp;
  } else {
    at.pp = rank % mesh.pp;
    at.dp = rank / mesh.pp;
  }
  return at;
}

int rank_of(const Mesh& mesh, const Coordinates& at) {
  const int outer =
      mesh.order == RankOrder::kTpCpEpDpPp ? at.pp * mesh.dp + at.dp : at.dp * mesh.pp + at.pp;
  return (outer * mesh.cp + at.cp) * mesh.tp + at.tp;
}

// With expert tensor parallelism it is a row of DP.
int place_in_row(const Mesh& mesh, const Coordinates& at) {
  return mesh.expert_tensor ? at.dp : (at.dp * mesh.cp + at.cp) * mesh.tp + at.tp;
}

namespace {

// The rank of the same row as `at` that has this place_in_row().
Coordinates at_place(const Mesh& mesh, Coordinates at, int place) {
  if (mesh.expert_tensor) {
    at.dp = place;
    return at;
  }
  at.tp = place % mesh.tp;
  at.cp = place / mesh.tp % mesh.cp;
  at.dp = place / mesh.tp / mesh.cp;
  return at;
}

}  // namespace

ExpertPlace expert_place(const Mesh& mesh, const Coordinates& at) {
  const int place = place_in_row(mesh, at), group = place / mesh.ep;
  return {group, place % mesh.ep, mesh.expert_tensor ? group * mesh.cp + at.cp : group};
}

int expert_shards(const Mesh& mesh, int shards) {
  return shards == 1 ? 1 : std::max(1, shards * (mesh.tp / mesh.etp()) / mesh.ep);
}

std::vector<int> group_of(const Mesh& mesh, Axis axis, int rank) {
  std::vector<int> ranks;
  if (axis == Axis::kWorld) {
    for (int other = 0; other < mesh.ranks(); ++other) ranks.push_back(other);
    return ranks;
  }
  const auto along = [&](int Coordinates::*coordinate, int begin, int count) {
    Coordinates at = coordinates_of(mesh, rank);
    for (int k = begin; k < begin + count; ++k) {
      at.*coordinate = k;
      ranks.push_back(rank_of(mesh, at));
    }
  };
  switch (axis) {
    case Axis::kTp:
      along(&Coordinates::tp, 0, mesh.tp);
      break;
    case Axis::kCp:
      along(&Coordinates::cp, 0, mesh.cp);
      break;
    case Axis::kPp:
      along(&Coordinates::pp, 0, mesh.pp);
      break;
    case Axis::kDp:
      along(&Coordinates::dp, 0, mesh.dp);
      break;
    default: {
      const Coordinates at = coordinates_of(mesh, rank);
      const int place = place_in_row(mesh, at), first = place - place % mesh.ep;
      for (int member = first; member < first + mesh.ep; ++member)
        ranks.push_back(rank_of(mesh, at_place(mesh, at, member)));
      break;
    }
  }
  return ranks;
}

}  // namespace parallelarium
