// SPDX-License-Identifier: Apache-2.0
// Rings: every rank sends to its right neighbour only.
//
// Reduce-scatter: in each of n - 1 steps a rank passes one chunk on, to which its neighbour adds
// its own. All-gather: n - 1 steps hand the finished chunks round. All-reduce is one after the
// other, and sends 2 (n-1)/n of the array, the least that any all-reduce can.
// Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// JPDC 69 (2009).
#include "engine/collectives/algorithms/writer.h"

namespace parallelarium {

namespace {

// One step in which every rank passes the chunk that is `behind` places behind its own number,
// towards the right (direction 1) or the left (-1), among chunks [first, first + n).
void ring_step(Writer& writer, int behind, int direction, int first, bool reduce) {
  const int n = writer.ranks();
  for (int rank = 0; rank < n; ++rank) {
    const int to = (rank + direction + n) % n;
    const int chunk = ((rank - direction * behind) % n + n) % n;
    writer.pass(rank, to, first + chunk, reduce ? Arrival::kCombines : Arrival::kReplaces);
  }
}

Collective all_gather(const CollectiveSpec& spec) {
  Writer writer(spec, spec.ranks);
  for (int step = 0; step < spec.ranks - 1; ++step) {
    writer.begin_step();
    ring_step(writer, step, 1, 0, false);
  }
  return std::move(writer).done();
}

// Chunk r ends on rank r: it starts one place further.
Collective reduce_scatter(const CollectiveSpec& spec) {
  Writer writer(spec, spec.ranks);
  for (int step = 0; step < spec.ranks - 1; ++step) {
    writer.begin_step();
    ring_step(writer, step + 1, 1, 0, true);
  }
  for (int rank = 0; rank < spec.ranks; ++rank) writer.finish(rank, writer.chunk(rank));
  return std::move(writer).done();
}

// Chunk c starts on rank c and is whole on rank c - 1, from where it goes round once more. With two
// directions, the other half of the array does the same the other way round.
Collective all_reduce(const CollectiveSpec& spec, int directions) {
  const int n = spec.ranks;
  Writer writer(spec, directions * n);
  const auto phase = [&](int behind, bool reduce) {
    for (int step = 0; step < n - 1; ++step) {
      writer.begin_step();
      for (int way = 0; way < directions; ++way) {
        ring_step(writer, behind + step, way == 0 ? 1 : -1, way * n, reduce);
      }
    }
  };
  phase(0, true);
  for (int rank = 0; rank < n; ++rank) {
    writer.finish(rank, writer.chunk((rank + 1) % n));
    if (directions == 2) writer.finish(rank, writer.chunk(n + (rank - 1 + n) % n));
  }
  phase(-1, false);
  return std::move(writer).done();
}

}  // namespace

Result<Collective> ring_collective(const CollectiveSpec& spec) {
  switch (spec.kind) {
    case CollectiveKind::kAllGather:
      return all_gather(spec);
    case CollectiveKind::kReduceScatter:
      return reduce_scatter(spec);
    default:
      return all_reduce(spec, spec.algorithm == "bidirectional-ring" ? 2 : 1);
  }
}

}  // namespace parallelarium
