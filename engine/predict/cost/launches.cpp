// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/launches.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

namespace parallelarium {

void launch_transfers(const RankProgram& rank, const CostModel& cost,
                      std::span<std::int64_t> durations) {
  std::vector<std::pair<int, std::int64_t>> known;  // by peer, of which a rank has few
  const auto launch_of = [&](const Op& op) -> std::int64_t {
    const bool moves = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
    if (op.lane == Lane::kCompute || !moves) return 0;
    for (const auto& [peer, launch] : known)
      if (peer == op.peer) return launch;
    return known.emplace_back(op.peer, cost.launch_nanoseconds(op, rank.rank)).second;
  };
  // By lane, in order: what is not yet with the op that waits for it, and of which receive.
  std::array<std::deque<std::pair<std::int32_t, std::int64_t>>, kLanes> received;
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    const std::int64_t launch = launch_of(op);
    if (launch == 0) continue;
    durations[at] = std::max<std::int64_t>(0, durations[at] - 2 * launch);
    if (op.kind == OpKind::kRecv) {
      received[static_cast<std::size_t>(op.lane)].push_back(
          {static_cast<std::int32_t>(at), launch});
      continue;
    }
    for (const std::int32_t before : rank.after_of(op)) {
      if (rank.ops[static_cast<std::size_t>(before)].lane != Lane::kCompute) continue;
      durations[static_cast<std::size_t>(before)] += launch;
      break;
    }
  }
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    if (rank.ops[at].lane != Lane::kCompute) continue;
    for (const std::int32_t before : rank.after_of(rank.ops[at])) {
      auto& lane =
          received[static_cast<std::size_t>(rank.ops[static_cast<std::size_t>(before)].lane)];
      for (; !lane.empty() && lane.front().first <= before; lane.pop_front())
        durations[at] += lane.front().second;
    }
  }
}

}  // namespace parallelarium
