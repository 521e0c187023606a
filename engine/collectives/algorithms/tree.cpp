// SPDX-License-Identifier: Apache-2.0
// Binomial trees: in every step, each rank that has something deals with one that lacks it, so the
// number of ranks that are done doubles.
// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 19 (2005), sections 4.1 to 4.3.
#include <algorithm>

#include "engine/collectives/algorithms/writer.h"

namespace parallelarium {

namespace {

// Ranks counted from the root.
int rank_at(const CollectiveSpec& spec, int root, int place) { return (place + root) % spec.ranks; }

// Chunks of the subtree of `place` whose ranks are `span` many at most.
std::vector<int> subtree_chunks(const CollectiveSpec& spec, int place, int span) {
  std::vector<int> chunks;
  for (int at = place; at < std::min(place + span, spec.ranks); ++at)
    chunks.push_back(rank_at(spec, spec.root, at));
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

// Step k of a broadcast: places below 2^k send to those 2^k further on.
void spread(Writer& writer, const CollectiveSpec& spec, int root, int level) {
  const int reach = 1 << level;
  for (int place = 0; place < reach && place + reach < spec.ranks; ++place)
    writer.pass(rank_at(spec, root, place), rank_at(spec, root, place + reach), 0);
}

// The same backwards.
void collect(Writer& writer, const CollectiveSpec& spec, int root, int level) {
  const int reach = 1 << level;
  for (int place = 0; place < reach && place + reach < spec.ranks; ++place)
    writer.pass(rank_at(spec, root, place + reach), rank_at(spec, root, place), 0,
                Arrival::kCombines);
}

}  // namespace

void binomial_scatter_steps(Writer& writer) {
  const CollectiveSpec& spec = writer.spec();
  for (int level = levels_of(spec.ranks) - 1; level >= 0; --level) {
    const int reach = 1 << level;
    writer.begin_step();
    for (int place = 0; place + reach < spec.ranks; place += 2 * reach) {
      writer.pass(rank_at(spec, spec.root, place), rank_at(spec, spec.root, place + reach),
                  subtree_chunks(spec, place + reach, reach));
    }
  }
}

Result<Collective> binomial_collective(const CollectiveSpec& spec) {
  const bool parts = spec.kind == CollectiveKind::kScatter || spec.kind == CollectiveKind::kGather;
  Writer writer(spec, parts ? spec.ranks : 1);
  const int levels = levels_of(spec.ranks);
  const auto up = [&](int root) {
    for (int level = levels - 1; level >= 0; --level) {
      writer.begin_step();
      collect(writer, spec, root, level);
    }
    writer.finish(root, writer.chunk(0));
  };
  const auto down = [&](int root) {
    for (int level = 0; level < levels; ++level) {
      writer.begin_step();
      spread(writer, spec, root, level);
    }
  };
  switch (spec.kind) {
    case CollectiveKind::kBroadcast:
      down(spec.root);
      break;
    case CollectiveKind::kReduce:
      up(spec.root);
      break;
    case CollectiveKind::kScatter:
      binomial_scatter_steps(writer);
      break;
    case CollectiveKind::kGather:
      for (int level = 0; level < levels; ++level) {
        const int reach = 1 << level;
        writer.begin_step();
        for (int place = 0; place + reach < spec.ranks; place += 2 * reach) {
          writer.pass(rank_at(spec, spec.root, place + reach), rank_at(spec, spec.root, place),
                      subtree_chunks(spec, place + reach, reach));
        }
      }
      break;
    default:
      up(0);
      down(0);
  }
  return std::move(writer).done();
}

}  // namespace parallelarium
