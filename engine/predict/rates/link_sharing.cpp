// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "engine/predict/op_sort.h"
#include "engine/predict/predict.h"

namespace parallelarium {

LinkSharing link_sharing(const Prediction& prediction) {
  LinkSharing most;
  for (std::size_t rank = 0; rank < prediction.timeline.ranks.size(); ++rank) {
    const std::vector<Op>& ops = prediction.program.ranks[rank].ops;
    std::map<OpSort, LinkSharing::Slowed> sorts;
    double lost = 0;
    for (const SlowedOp& slowed : prediction.timeline.ranks[rank].slowed) {
      LinkSharing::Slowed& sum = sorts[sort_of(ops[static_cast<std::size_t>(slowed.op)])];
      ++sum.count;
      sum.seconds += seconds_of(slowed.by);
      lost += seconds_of(slowed.by);
    }
    if (lost <= most.seconds) continue;
    most = {prediction.program.ranks[rank].rank, lost, {}};
    for (auto& [sort, sum] : sorts) {
      sum.what = what_is(sort);
      most.slowed.push_back(std::move(sum));
    }
  }
  std::stable_sort(most.slowed.begin(), most.slowed.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return most;
}

}  // namespace parallelarium
