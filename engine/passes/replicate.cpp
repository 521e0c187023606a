// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/replicate.h"

#include <algorithm>
#include <map>

namespace parallelarium {

namespace {

// `rank` moved to the replica of `to`, staying on its own pipeline stage.
int moved(const Mesh& mesh, int rank, const Coordinates& to) {
  Coordinates at = to;
  at.pp = coordinates_of(mesh, rank).pp;
  return rank_of(mesh, at);
}

// The members of `group` (of representative `from`) as the replica `to` has them: a slice along the
// group's axis keeps its pattern, shifted.
std::vector<int> moved_group(const Mesh& mesh, const Group& group, const Coordinates& to) {
  std::vector<int> ranks;
  for (const int member : group.ranks) {
    Coordinates at = coordinates_of(mesh, member);
    switch (group.axis) {
      case Axis::kPp:
        ranks.push_back(moved(mesh, member, to));
        continue;
      case Axis::kTp:
        at.dp = to.dp;
        at.cp = to.cp;
        break;
      case Axis::kCp:
        at.dp = to.dp;
        at.tp = to.tp;
        break;
      case Axis::kDp:
        at.tp = to.tp;  // members span dp and cp
        break;
      case Axis::kEp:
        at.dp += to.dp / mesh.ep * mesh.ep;
        at.tp = to.tp;
        at.cp = to.cp;
        break;
      case Axis::kWorld:
        break;
    }
    ranks.push_back(rank_of(mesh, at));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

Program replicate(const Program& program, const Mesh& mesh) {
  Program result;
  result.shape = program.shape;
  result.level = program.level;
  result.world = mesh.ranks();
  result.works = program.works;
  result.batches = program.batches * (mesh.ranks() / mesh.pp);
  result.ranks.reserve(mesh.ranks());
  std::map<std::pair<Axis, std::vector<int>>, std::int32_t> known;
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const Coordinates at = coordinates_of(mesh, rank);
    const int replica = (at.dp * mesh.cp + at.cp) * mesh.tp + at.tp;
    RankProgram copy = program.ranks[at.pp];
    copy.rank = rank;
    std::vector<std::int32_t> group_of_op(program.groups.size(), -1);
    for (Op& op : copy.ops) {
      if (op.peer >= 0) op.peer = moved(mesh, op.peer, at);
      if (op.batch >= 0) op.batch += replica * program.batches;
      if (op.group < 0) continue;
      std::int32_t& group = group_of_op[op.group];
      if (group < 0) {
        const Group& from = program.groups[op.group];
        std::vector<int> ranks = moved_group(mesh, from, at);
        // An expert group holds every ep-th replica: shift it to the one that this rank is in.
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
