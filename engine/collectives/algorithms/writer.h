// SPDX-License-Identifier: Apache-2.0
// The files of algorithms write steps, messages and combines with a Writer, which keeps them as a
// Program and as a list of moves.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "engine/collectives/collective.h"

namespace parallelarium {

// Elements of one of a rank's buffers.
struct Cells {
  std::int32_t buffer = 0;
  std::int64_t offset = 0, count = 0;
};

// Part of a message: one chunk, from where to where.
struct MessagePart {
  int chunk = 0;
  Cells source, target;
};

// What becomes of a message: it replaces what is there; it is combined with that as it comes; or it
// waits in scratch until the rank combines it after the step.
enum class Arrival : std::uint8_t { kReplaces, kCombines, kWaits };

class Writer {
 public:
  // Cuts the array into `chunks` parts, except in an all-to-all (see Collective).
  Writer(const CollectiveSpec& spec, int chunks);

  int ranks() const { return spec_.ranks; }
  const CollectiveSpec& spec() const { return spec_; }
  int chunks() const { return made_.chunks; }
  std::int64_t count() const;  // elements of the whole array
  // The cells of a chunk in a rank's array. In an all-to-all: in its origin's array, or in its
  // destination's result.
  Cells chunk(int chunk) const;
  Cells result(int chunk) const;

  // Adds a buffer of `count` elements to this rank.
  std::int32_t add_scratch(int rank, std::int64_t count);

  // Messages until the next call are one step.
  void begin_step();
  // One message. `from` and `to` must differ, and there must be a part or more. Within a step no
  // rank may write cells that it touches otherwise (check_collective says so).
  void message(int from, int to, std::span<const MessagePart> parts,
               Arrival arrival = Arrival::kReplaces);
  // One message that carries these chunks from their places in the array to the same places.
  void pass(int from, int to, std::span<const int> chunks, Arrival arrival = Arrival::kReplaces);
  void pass(int from, int to, int chunk, Arrival arrival = Arrival::kReplaces) {
    pass(from, to, std::array{chunk}, arrival);
  }

  // After this step's messages, target = the parts combined in their order by the spec's reduction.
  // If `last`, everything is there, and an average is divided.
  void combine(int rank, Cells target, std::span<const Cells> parts, bool last);
  // Divides for an average; does nothing for other reductions.
  void finish(int rank, Cells cells);
  void copy(int rank, Cells target, Cells source);

  Collective done() &&;

 private:
  RankProgram& at(int rank) { return made_.program.ranks[static_cast<std::size_t>(rank)]; }
  void add_operands(RankProgram& rank, Op& op, std::span<const Cells> cells, Access access);
  void add_compute(int rank, Cells target, std::span<const Cells> parts, Reduction reduction);

  CollectiveSpec spec_;
  Collective made_;
};

// Chunks of an all-to-all wait here on ranks that they pass through. Every rank has two places for
// each distance between origin and destination and uses them in turn, so that one is read while the
// other is written.
class Parking {
 public:
  explicit Parking(Writer& writer);  // adds its scratch; the writer outlives it
  // The chunk of `origin` for the rank that is `distance` places further.
  int chunk(int origin, int distance) const {
    return origin * writer_.ranks() + (origin + distance) % writer_.ranks();
  }
  // Where a chunk lies after so many hops, and where the next hop puts it.
  Cells before(int chunk, int distance, int hops) const;
  Cells after(int chunk, int distance, int hops, bool arrives) const;
  // Copies every rank's chunk for itself into its result.
  static void keep_own(Writer& writer);

 private:
  Cells place(int chunk, int distance, int hops) const;
  Writer& writer_;
  std::int32_t buffer_ = 0;
  std::int64_t slot_ = 0;  // elements of the largest chunk
};

// Writes the binomial scatter of the array's n chunks, for algorithms that begin with it.
void binomial_scatter_steps(Writer& writer);  // tree.cpp

// The algorithms; each family has one .cpp. The spec must be a valid one of its kind
// (make_collective checks ranks, root and bytes), with 2 ranks or more. Error: the algorithm does
// not work with that many ranks.
Result<Collective> direct_collective(const CollectiveSpec& spec);        // direct.cpp
Result<Collective> all_reduce_through_root(const CollectiveSpec& spec);  // direct.cpp
Result<Collective> binomial_collective(const CollectiveSpec& spec);      // tree.cpp
Result<Collective> ring_collective(const CollectiveSpec& spec);          // ring.cpp
Result<Collective> chain_collective(const CollectiveSpec& spec);         // chain.cpp
Result<Collective> scatter_all_gather(const CollectiveSpec& spec);       // chain.cpp
Result<Collective> doubling_collective(const CollectiveSpec& spec);      // doubling.cpp
Result<Collective> bruck_collective(const CollectiveSpec& spec);         // bruck.cpp
Result<Collective> all_to_all_collective(const CollectiveSpec& spec);    // all_to_all.cpp
Result<Collective> double_tree_collective(const CollectiveSpec& spec);   // double_tree.cpp
Result<Collective> grid_collective(const CollectiveSpec& spec);          // grid.cpp

// log2(n), rounded up.
int levels_of(int n);
bool is_power_of_two(int n);

}  // namespace parallelarium
