// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

// Micro-batches that pass one chunk before the next chunk's turn. Megatron-LM takes the number of
// ranks and asks that what is left over at the end be nothing or a whole round (schedules.py,
// microbatch_group_size_per_vp_stage); this is the smallest number that it would take. Fewer
// micro-batches than ranks, which it refuses, are one round, as in PyTorch.
int interleaved_round(int ranks, int microbatches, int group) {
  if (group > 0) return std::min(group, microbatches);
  if (microbatches <= ranks) return microbatches;
  int size = ranks;
  while (microbatches % size != 0 && microbatches % size < ranks) ++size;
  return size;
}

Order interleaved_order(int ranks, int microbatches, int chunks, int group) {
  Order order = pipeline("interleaved", ranks, microbatches);
  order.chunks = chunks;
  order.stages = ranks * chunks;
  const int round = interleaved_round(ranks, microbatches, group);
  // The forwards of every rank, round by round and in it chunk by chunk; the backwards are the same
  // with the last chunk first.
  std::vector<Action> forwards;
  for (int begin = 0; begin < microbatches; begin += round) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int j = begin; j < std::min(begin + round, microbatches); ++j) {
        forwards.push_back({ActionKind::kForward, j, chunk});
      }
    }
  }
  const auto all = static_cast<int>(forwards.size());
  for (int rank = 0; rank < ranks; ++rank) {
    auto& stages = order.stage_of[static_cast<std::size_t>(rank)];
    stages.clear();
    for (int chunk = 0; chunk < chunks; ++chunk) stages.push_back(chunk * ranks + rank);

    auto& line = order.ranks[static_cast<std::size_t>(rank)];
    const int warm_up = std::min(all, (chunks - 1) * round + 2 * (ranks - 1 - rank));
    line.assign(forwards.begin(), forwards.begin() + warm_up);
    for (int backward = 0; backward < all; ++backward) {
      if (warm_up + backward < all) {
        line.push_back(forwards[static_cast<std::size_t>(warm_up + backward)]);
      }
      const Action& mirrored = forwards[static_cast<std::size_t>(backward)];
      line.push_back({ActionKind::kBackward, mirrored.microbatch, chunks - 1 - mirrored.chunk});
    }
  }
  return order;
}

}  // namespace parallelarium
