// SPDX-License-Identifier: Apache-2.0
// All-to-all over direct links: all messages at once, or in n - 1 steps that each give every rank
// one partner to send to and one to receive from; and along a ring, where every chunk passes
// through the ranks between.
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), section 4.3.
#include <algorithm>

#include "engine/collectives/algorithms/writer.h"

namespace parallelarium {

Parking::Parking(Writer& writer) : writer_(writer) {
  const int n = writer.ranks();
  for (int chunk = 0; chunk < n * n; ++chunk) slot_ = std::max(slot_, writer.chunk(chunk).count);
  for (int rank = 0; rank < n; ++rank) buffer_ = writer.add_scratch(rank, 2 * slot_ * n);
}

Cells Parking::place(int chunk, int distance, int hops) const {
  const std::int64_t slot = (hops % 2) * writer_.ranks() + distance;
  return {buffer_, slot * slot_, writer_.chunk(chunk).count};
}

Cells Parking::before(int chunk, int distance, int hops) const {
  return hops == 0 ? writer_.chunk(chunk) : place(chunk, distance, hops);
}

Cells Parking::after(int chunk, int distance, int hops, bool arrives) const {
  return arrives ? writer_.result(chunk) : place(chunk, distance, hops + 1);
}

void Parking::keep_own(Writer& writer) {
  for (int rank = 0; rank < writer.ranks(); ++rank) {
    const int chunk = rank * writer.ranks() + rank;
    writer.copy(rank, writer.result(chunk), writer.chunk(chunk));
  }
}

Result<Collective> all_to_all_collective(const CollectiveSpec& spec) {
  const int n = spec.ranks;
  Writer writer(spec, n * n);
  const auto send = [&](int from, int to) {
    const int chunk = from * n + to;
    const MessagePart part{chunk, writer.chunk(chunk), writer.result(chunk)};
    writer.message(from, to, std::span(&part, 1));
  };
  if (spec.algorithm == "ring") {
    const Parking parking(writer);
    for (int hop = 0; hop < n - 1; ++hop) {
      writer.begin_step();
      for (int rank = 0; rank < n; ++rank) {
        const int origin = (rank - hop + n) % n, to = (rank + 1) % n;
        std::vector<MessagePart> parts;
        for (int j = hop + 1; j < n; ++j) {
          const int chunk = parking.chunk(origin, j);
          parts.push_back(
              {chunk, parking.before(chunk, j, hop), parking.after(chunk, j, hop, j == hop + 1)});
        }
        writer.message(rank, to, parts);
      }
    }
  } else {
    for (int distance = 1; distance < n; ++distance) {
      if (distance == 1 || spec.algorithm == "pairwise") writer.begin_step();
      for (int rank = 0; rank < n; ++rank) send(rank, (rank + distance) % n);
    }
  }
  Parking::keep_own(writer);
  return std::move(writer).done();
}

}  // namespace parallelarium
