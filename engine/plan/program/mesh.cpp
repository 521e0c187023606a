// SPDX-License-Identifier: Apache-2.0
// Rank numbers are mixed-radix: the innermost axis counts fastest. Source of both orders:
// Megatron-LM, megatron/core/parallel_state.py (RankGenerator).
#include "engine/plan/program/mesh.h"

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
      const int dp = coordinates_of(mesh, rank).dp;
      along(&Coordinates::dp, dp - dp % mesh.ep, mesh.ep);
      break;
    }
  }
  return ranks;
}

}  // namespace parallelarium
