// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/launches.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace parallelarium {

void launch_transfers(const RankProgram& rank, const CostModel& cost,
                      std::span<std::int64_t> durations) {
  std::vector<std::int64_t> received;  // by op: what is not yet with the op that waits for it
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    const std::int64_t launch = cost.launch_nanoseconds(op, rank.rank);
    if (launch == 0) continue;
    durations[at] = std::max<std::int64_t>(0, durations[at] - 2 * launch);
    if (op.kind == OpKind::kRecv) {
      received.resize(rank.ops.size());
      received[at] = launch;
      continue;
    }
    for (const std::int32_t before : rank.after_of(op)) {
      if (rank.ops[static_cast<std::size_t>(before)].lane != Lane::kCompute) continue;
      durations[static_cast<std::size_t>(before)] += launch;
      break;
    }
  }
  if (received.empty()) return;
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    if (rank.ops[at].lane != Lane::kCompute) continue;
    for (const std::int32_t before : rank.after_of(rank.ops[at]))
      durations[at] += std::exchange(received[static_cast<std::size_t>(before)], 0);
  }
}

}  // namespace parallelarium
