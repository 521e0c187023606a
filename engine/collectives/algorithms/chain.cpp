// SPDX-License-Identifier: Apache-2.0
// Pipelined rings with a root: the array is cut into segments that follow each other from rank to
// rank, so that all links work at once once the first segment has come through.
// Source: Chan et al., "Collective communication: theory, practice, and experience", CCPE 19
// (2007); scatter and all-gather as a broadcast: van de Geijn's, in Thakur et al. 2005,
// section 4.1.
#include <algorithm>

#include "engine/collectives/algorithms/writer.h"

namespace parallelarium {

Result<Collective> chain_collective(const CollectiveSpec& wish) {
  CollectiveSpec spec = wish;
  if (spec.segments == 0) spec.segments = std::max(1, spec.ranks);
  const int n = spec.ranks, last = n - 2 + spec.segments;
  const bool reduces = spec.kind == CollectiveKind::kReduce;
  Writer writer(spec, spec.segments);
  // Hop h lies between the h-th and the next rank on the way: from the root, or to it.
  for (int step = 0; n > 1 && step < last; ++step) {
    writer.begin_step();
    for (int hop = 0; hop < n - 1; ++hop) {
      const int segment = step - hop;
      if (segment < 0 || segment >= spec.segments) continue;
      if (reduces) {
        writer.pass((spec.root + hop + 1) % n, (spec.root + hop + 2) % n, segment,
                    Arrival::kCombines);
      } else {
        writer.pass((spec.root + hop) % n, (spec.root + hop + 1) % n, segment);
      }
    }
  }
  if (reduces) {
    for (int segment = 0; segment < spec.segments; ++segment)
      writer.finish(spec.root, writer.chunk(segment));
  }
  return std::move(writer).done();
}

Result<Collective> scatter_all_gather(const CollectiveSpec& spec) {
  const int n = spec.ranks;
  Writer writer(spec, n);
  binomial_scatter_steps(writer);
  for (int step = 0; step < n - 1; ++step) {
    writer.begin_step();
    for (int rank = 0; rank < n; ++rank) writer.pass(rank, (rank + 1) % n, (rank - step + n) % n);
  }
  return std::move(writer).done();
}

}  // namespace parallelarium
