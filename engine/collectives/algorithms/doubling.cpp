// SPDX-License-Identifier: Apache-2.0
// Partners at distance 1, 2, 4, ...: log2 n steps, for powers of two.
//
// Recursive doubling: all-gather exchanges all that both have, twice as much each step; all-reduce
// exchanges whole arrays. Recursive halving: reduce-scatter sends the half that the partner's side
// will end with. Halving-doubling: one, then the other, an all-reduce of the least bytes.
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), sections 4.2, 4.4 and 4.5.
#include "engine/collectives/algorithms/writer.h"
#include "engine/plan/settings/alternatives.h"

namespace parallelarium {

namespace {

// Chunks of the `span` ranks, aligned, that `rank` is one of.
std::vector<int> block_of(int rank, int span) {
  std::vector<int> chunks;
  const int first = rank / span * span;
  for (int chunk = first; chunk < first + span; ++chunk) chunks.push_back(chunk);
  return chunks;
}

void halve(Writer& writer) {
  for (int span = writer.ranks() / 2; span >= 1; span /= 2) {
    writer.begin_step();
    for (int rank = 0; rank < writer.ranks(); ++rank)
      writer.pass(rank, rank ^ span, block_of(rank ^ span, span), Arrival::kCombines);
  }
  for (int rank = 0; rank < writer.ranks(); ++rank) writer.finish(rank, writer.chunk(rank));
}

void gather(Writer& writer) {
  for (int span = 1; span < writer.ranks(); span *= 2) {
    writer.begin_step();
    for (int rank = 0; rank < writer.ranks(); ++rank)
      writer.pass(rank, rank ^ span, block_of(rank, span));
  }
}

Collective exchange_whole(const CollectiveSpec& spec) {
  Writer writer(spec, 1);
  const Cells array = writer.chunk(0);
  std::vector<Cells> received;
  for (int rank = 0; rank < spec.ranks; ++rank)
    received.push_back({writer.add_scratch(rank, array.count), 0, array.count});
  for (int span = 1; span < spec.ranks; span *= 2) {
    writer.begin_step();
    for (int rank = 0; rank < spec.ranks; ++rank) {
      const MessagePart part{0, array, received[static_cast<std::size_t>(rank ^ span)]};
      writer.message(rank, rank ^ span, std::span(&part, 1), Arrival::kWaits);
    }
    // The lower rank's part first on both sides, so that both get the same bits.
    for (int rank = 0; rank < spec.ranks; ++rank) {
      const Cells& other = received[static_cast<std::size_t>(rank)];
      const bool lower = (rank & span) == 0;
      writer.combine(rank, array, std::array{lower ? array : other, lower ? other : array},
                     2 * span == spec.ranks);
    }
  }
  return std::move(writer).done();
}

}  // namespace

Result<Collective> doubling_collective(const CollectiveSpec& spec) {
  if (!is_power_of_two(spec.ranks)) {
    const int below = 1 << (levels_of(spec.ranks) - 1);
    return refuse(message("collective-power",
                          "{} needs a power of two of ranks, not {}; {} or {} would do, or ring.",
                          spec.algorithm, spec.ranks, below, 2 * below),
                  "collective.ranks", as_text({below, 2 * below}));
  }
  if (spec.kind == CollectiveKind::kAllReduce && spec.algorithm == "recursive-doubling")
    return exchange_whole(spec);
  Writer writer(spec, spec.ranks);
  if (spec.kind != CollectiveKind::kAllGather) halve(writer);
  if (spec.kind != CollectiveKind::kReduceScatter) gather(writer);
  return std::move(writer).done();
}

}  // namespace parallelarium
