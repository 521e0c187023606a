// SPDX-License-Identifier: Apache-2.0
// Bruck's algorithms: log2 n steps for any number of ranks.
//
// All-gather: rank r asks the rank 1, 2, 4, ... places further for all that it has by then.
// All-to-all: the chunk for the rank j places further travels the powers of two that make up j, so
// each step carries up to half of the array in one message.
// Source: Bruck et al., "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", IEEE TPDS 8 (1997). Chunks lie at their places all the time (a message
// may have several stretches), so the rotations of the original are not needed.
#include <algorithm>
#include <bit>

#include "engine/collectives/algorithms/writer.h"

namespace parallelarium {

namespace {

Collective gather_by_doubling(const CollectiveSpec& spec) {
  const int n = spec.ranks;
  Writer writer(spec, n);
  for (int distance = 1; distance < n; distance *= 2) {
    writer.begin_step();
    for (int rank = 0; rank < n; ++rank) {
      std::vector<int> chunks;
      for (int i = 0; i < std::min(distance, n - distance); ++i) chunks.push_back((rank + i) % n);
      writer.pass(rank, (rank - distance + n) % n, chunks);
    }
  }
  return std::move(writer).done();
}

Collective all_to_all(const CollectiveSpec& spec) {
  const int n = spec.ranks;
  Writer writer(spec, n * n);
  const Parking parking(writer);
  for (int distance = 1; distance < n; distance *= 2) {
    writer.begin_step();
    for (int rank = 0; rank < n; ++rank) {
      const int to = (rank + distance) % n;
      std::vector<MessagePart> parts;
      for (int j = 1; j < n; ++j) {  // chunks for the rank j places after their origin
        if ((j & distance) == 0) continue;
        const int gone = j & (distance - 1);
        const int chunk = parking.chunk((rank - gone + n) % n, j);
        const int hops = std::popcount(static_cast<unsigned>(gone));
        parts.push_back({chunk, parking.before(chunk, j, hops),
                         parking.after(chunk, j, hops, gone + distance == j)});
      }
      writer.message(rank, to, parts);
    }
  }
  parking.keep_own(writer);
  return std::move(writer).done();
}

}  // namespace

Result<Collective> bruck_collective(const CollectiveSpec& spec) {
  return spec.kind == CollectiveKind::kAllGather ? gather_by_doubling(spec) : all_to_all(spec);
}

}  // namespace parallelarium
