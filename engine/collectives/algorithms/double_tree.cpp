// SPDX-License-Identifier: Apache-2.0
// All-reduce over two binary trees at once, each with one half of the array: a rank inside one tree
// is a leaf of the other, so that all ranks' links are used alike. Segments go up, are combined on
// the way, and come down again while the next ones still go up.
//
// In even steps left children send up and are sent to, in odd steps right ones, so that a rank
// never receives from both of its children at once.
// Source: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 35 (2009).
#include <algorithm>
#include <map>

#include "engine/collectives/algorithms/writer.h"

namespace parallelarium {

namespace {

constexpr int kSegments = 8;  // of each half, where the spec does not say

int lowest_bit(int place) { return place & -place; }

// Places 1 .. n in order: odd ones are leaves, the largest power of two is the root.
struct Tree {
  explicit Tree(int n) : parent(static_cast<std::size_t>(n) + 1, 0), depth(parent), side(parent) {
    for (int place = 1; place <= n; ++place) {
      int above = place;
      do {
        above = (above - lowest_bit(above)) | (2 * lowest_bit(above));
      } while (above > n && above < 2 * n);
      parent[at(place)] = above <= n ? above : 0;
      if (above > n) root = place;
    }
    for (int place = 1; place <= n; ++place) {
      for (int above = place; above != root; above = parent[at(above)]) ++depth[at(place)];
      height = std::max(height, depth[at(place)]);
      side[at(place)] = place > parent[at(place)] ? 1 : 0;
    }
  }
  static std::size_t at(int place) { return static_cast<std::size_t>(place); }

  std::vector<int> parent, depth, side;  // by place
  int root = 1, height = 0;
};

}  // namespace

Result<Collective> double_tree_collective(const CollectiveSpec& wish) {
  CollectiveSpec spec = wish;
  if (spec.segments == 0) spec.segments = kSegments;
  const int n = spec.ranks, segments = spec.segments;
  Writer writer(spec, 2 * segments);
  const Tree tree(n);
  struct Step {
    std::vector<int> whole;  // chunks that the root has from all before this step
    std::vector<Move> moves;
  };
  std::map<int, Step> steps;
  const auto rank_at = [&](int which, int place) {
    return which == 0 ? place - 1 : place % n;  // shifted by one: leaves become inner places
  };
  const int turn = 2 * tree.height;  // of the first segment at the root
  for (int which = 0; which < 2; ++which) {
    for (int segment = 0; segment < segments; ++segment) {
      const int chunk = which * segments + segment;
      steps[2 * segment + turn].whole.push_back(chunk);
      for (int place = 1; place <= n; ++place) {
        if (place == tree.root) continue;
        const int depth = tree.depth[Tree::at(place)], side = tree.side[Tree::at(place)];
        const int rank = rank_at(which, place);
        const int above = rank_at(which, tree.parent[Tree::at(place)]);
        steps[2 * (segment + tree.height - depth) + side].moves.push_back(
            {rank, above, chunk, 0, true, 0, 0});
        steps[turn + 2 * (segment + depth - 1) + side].moves.push_back(
            {above, rank, chunk, 0, false, 0, 0});
      }
    }
  }
  for (const auto& [time, step] : steps) {
    for (const int chunk : step.whole)
      writer.finish(rank_at(chunk / segments, tree.root), writer.chunk(chunk));
    if (step.moves.empty()) continue;
    writer.begin_step();
    for (const Move& move : step.moves) {
      writer.pass(move.from, move.to, move.chunk,
                  move.reduce ? Arrival::kCombines : Arrival::kReplaces);
    }
  }
  return std::move(writer).done();
}

}  // namespace parallelarium
