// SPDX-License-Identifier: Apache-2.0
// All-reduce on a grid of ranks: rings inside every row reduce-scatter, rings along the columns
// all-reduce what each rank then holds, rings inside the rows all-gather.
//
// hierarchical: rows are nodes, so that only 1 / node_size of the array leaves a rank over the slow
// network. torus: both directions at once, each with one half of the array, so that the links of
// rows and columns work together.
// Source: Jia et al., "Highly scalable deep learning training system with mixed-precision"
// (arXiv 1807.11205), section 3.3, for two levels; Ying et al., "Image classification at
// supercomputer scale" (arXiv 1811.06992), section 2.2, for the torus.
#include <algorithm>

#include "engine/collectives/algorithms/writer.h"
#include "engine/plan/settings/alternatives.h"

namespace parallelarium {

namespace {

// One half (or all) of the array: `first` ranks of a ring deal with it first, then rings of
// `second`. Chunk (block, part) is first_chunk + block * second + part.
struct Half {
  int first = 1, second = 1, first_chunk = 0;
  bool along_rows = true;  // the first rings are rows

  // Rank at place p of its first ring and place q of its second.
  int rank(int p, int q) const { return along_rows ? q * first + p : p * second + q; }
  int chunk(int block, int part) const { return first_chunk + block * second + part; }
  int reduce_steps() const { return first - 1 + second - 1; }
};

int wrapped(int value, int size) { return (value % size + size) % size; }

void add_step(Writer& writer, const Half& half, int step) {
  const int turn = half.reduce_steps();
  const bool reduces = step < turn;
  const Arrival arrival = reduces ? Arrival::kCombines : Arrival::kReplaces;
  // Reducing: first rings, then second; gathering: second, then first.
  const bool outer = reduces ? step < half.first - 1 : step >= turn + half.second - 1;
  const int past = reduces ? (outer ? step : step - (half.first - 1))
                           : (outer ? step - turn - (half.second - 1) : step - turn) - 1;
  for (int q = 0; q < half.second; ++q) {
    for (int p = 0; p < half.first; ++p) {
      if (outer) {
        std::vector<int> chunks;
        for (int part = 0; part < half.second; ++part)
          chunks.push_back(half.chunk(wrapped(p - past, half.first), part));
        writer.pass(half.rank(p, q), half.rank((p + 1) % half.first, q), chunks, arrival);
      } else {
        const int block = (p + 1) % half.first;  // what the rank holds after the first rings
        writer.pass(half.rank(p, q), half.rank(p, (q + 1) % half.second),
                    half.chunk(block, wrapped(q - past, half.second)), arrival);
      }
    }
  }
}

void finish(Writer& writer, const Half& half) {
  for (int q = 0; q < half.second; ++q) {
    for (int p = 0; p < half.first; ++p) {
      writer.finish(half.rank(p, q),
                    writer.chunk(half.chunk((p + 1) % half.first, (q + 1) % half.second)));
    }
  }
}

}  // namespace

int default_node_size(int ranks) {
  int best = 1;
  for (int size = 2; size <= std::min(8, ranks - 1); ++size) {
    if (ranks % size == 0) best = size;
  }
  return best;
}

int default_row_size(int ranks) {
  int best = ranks;
  for (int rows = 2; rows * rows <= ranks; ++rows) {
    if (ranks % rows == 0) best = ranks / rows;
  }
  return best;
}

Result<Collective> grid_collective(const CollectiveSpec& wish) {
  CollectiveSpec spec = wish;
  const int n = spec.ranks;
  const bool torus = spec.algorithm == "torus";
  if (spec.node_size == 0) spec.node_size = torus ? default_row_size(n) : default_node_size(n);
  if (spec.node_size < 1 || n % spec.node_size != 0) {
    return torus ? message("collective-node.rows", "{} ranks cannot be cut into rows of {}.", n,
                           spec.node_size)
                 : message("collective-node", "{} ranks cannot be cut into nodes of {}.", n,
                           spec.node_size);
  }
  const bool flat = spec.node_size == 1 || spec.node_size == n;
  if (flat && n > 1 && wish.node_size == 0) {
    int next = n + 1;  // the next that is no prime
    while (default_row_size(next) == next) ++next;
    return refuse(
        torus ? message("collective-grid.torus",
                        "{} needs a number of ranks that can be cut into rows and columns, not {}; "
                        "{} would do, or ring.",
                        spec.algorithm, n, next)
              : message("collective-grid",
                        "{} needs a number of ranks that can be cut into nodes, not {}; {} would "
                        "do, or ring.",
                        spec.algorithm, n, next),
        "collective.ranks", as_text({next}));
  }
  const int columns = spec.node_size, rows = n / columns;
  std::vector<Half> halves = {{columns, rows, 0, true}};
  if (torus) halves.push_back({rows, columns, n, false});
  Writer writer(spec, static_cast<int>(halves.size()) * n);
  const int turn = halves.front().reduce_steps();
  for (int step = 0; step < 2 * turn; ++step) {
    if (step == turn) {
      for (const Half& half : halves) finish(writer, half);
    }
    writer.begin_step();
    for (const Half& half : halves) add_step(writer, half, step);
  }
  return std::move(writer).done();
}

}  // namespace parallelarium
