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

// From the first rank of an EP group to that of the next, where all lie alike; 0: they do not.
int ranks_of_experts(const Mesh& mesh, int inner, int replica) {
  if (mesh.expert_tensor) return replica * mesh.ep;
  if (mesh.ep % inner == 0) return replica * (mesh.ep / inner);
  return inner % mesh.ep == 0 ? mesh.ep : 0;
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
  std::vector<int> rows = {mesh.tp, inner, replica, ranks_of_experts(mesh, inner, replica),
                           replica * mesh.dp};
  if (setup.zero > 0 && setup.zero_group > 0)
    rows.push_back(ranks_of_shard(mesh, setup.zero_group, replica));
  const auto fit_into = [&rows](std::int64_t place) {
    return std::all_of(rows.begin(), rows.end(), [place](int ranks) {
      return ranks > 0 && (place % ranks == 0 || ranks % place == 0);
    });
  };
  if (!fit_into(node)) return false;
  if (machine.oversubscription.value <= 1) return true;
  // Groups that all replicas make up together lie alike where each replica does.
  if (mesh.order == RankOrder::kTpCpEpPpDp || mesh.pp == 1) std::erase(rows, replica * mesh.dp);
  return fit_into(node * static_cast<std::int64_t>(machine.nodes_per_leaf.value));
}

}  // namespace parallelarium
