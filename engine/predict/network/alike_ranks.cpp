// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/network/alike_ranks.h"

#include <algorithm>
#include <vector>

namespace parallelarium {
namespace {

// Neighbours along the replicas that share states, as ranks in a row; 0: they are no row.
int ranks_of_shard(const Mesh& mesh, int zero_group, int replica) {
  if (zero_group % mesh.cp == 0) return replica * (zero_group / mesh.cp);
  return mesh.cp % zero_group == 0 ? mesh.tp * zero_group : 0;
}

}  // namespace

bool ranks_are_alike(const Setup& setup, const Machine& machine) {
  if (machine.local || !machine.pairs.empty() || setup.run.slow_rank.factor != 1 ||
      setup.skew > 0 || setup.collectives != "direct" || is_unbalanced(setup))
    return false;
  const Mesh& mesh = setup.mesh;
  const int node = std::max(1, machine.devices_per_node);
  const int inner = mesh.tp * mesh.cp;
  // From one replica to the next.
  const int replica = mesh.order == RankOrder::kTpCpEpPpDp ? inner * mesh.pp : inner;
  std::vector<int> rows = {mesh.tp, inner, replica, replica * mesh.ep, replica * mesh.dp};
  if (setup.zero > 0 && setup.zero_group > 0)
    rows.push_back(ranks_of_shard(mesh, setup.zero_group, replica));
  return std::all_of(rows.begin(), rows.end(), [&](int ranks) {
    return ranks > 0 && (node % ranks == 0 || ranks % node == 0);
  });
}

}  // namespace parallelarium
