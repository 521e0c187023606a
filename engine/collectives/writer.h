// SPDX-License-Identifier: Apache-2.0
// What the algorithm files write with: steps, messages and what ranks combine, kept as a Program
// and as a list of moves at once.
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
struct Part {
  int chunk = 0;
  Cells source, target;
};

// What becomes of a message: it replaces what is there, is combined with it as it comes, or goes to
// scratch and is combined by the rank after the step.
enum class Arrival : std::uint8_t { kReplaces, kCombines, kWaits };

class Writer {
 public:
  // `chunks` parts of the array, but for an all-to-all (see Collective).
  Writer(const CollectiveSpec& spec, int chunks);

  int ranks() const { return spec_.ranks; }
  const CollectiveSpec& spec() const { return spec_; }
  int chunks() const { return made_.chunks; }
  std::int64_t count() const;  // elements of the whole array
  // A chunk in a rank's array; of an all-to-all, in its origin's array or its destination's result.
  Cells chunk(int chunk) const;
  Cells result(int chunk) const;

  // One more buffer of `count` elements on this rank.
  std::int32_t add_scratch(int rank, std::int64_t count);

  // Messages until the next call are one step.
  void begin_step();
  // One message. Requires: from != to; at least one part; within a step, no rank writes cells that
  // it touches otherwise (check_collective says so).
  void message(int from, int to, std::span<const Part> parts, Arrival arrival = Arrival::kReplaces);
  // One message of these chunks, from their places in the array to the same places.
  void pass(int from, int to, std::span<const int> chunks, Arrival arrival = Arrival::kReplaces);
  void pass(int from, int to, int chunk, Arrival arrival = Arrival::kReplaces) {
    pass(from, to, std::array{chunk}, arrival);
  }

  // After this step's messages and before the next step's: target = parts combined in their order
  // by the reduction of the spec, the average's division included when `last` says that everything
  // is there.
  void combine(int rank, Cells target, std::span<const Cells> parts, bool last);
  // Divides for an average; else nothing.
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

// Where chunks of an all-to-all wait on ranks that they pass through: two places on every rank for
// each distance between origin and destination, used in turn, so that one is read while the other
// is written.
class Parking {
 public:
  explicit Parking(Writer& writer);  // adds its scratch; the writer outlives it
  // The chunk that `origin` has for the rank `distance` places further.
  int chunk(int origin, int distance) const {
    return origin * writer_.ranks() + (origin + distance) % writer_.ranks();
  }
  // Where a chunk lies after so many hops, and where the next hop puts it.
  Cells before(int chunk, int distance, int hops) const;
  Cells after(int chunk, int distance, int hops, bool arrives) const;
  // Every rank's chunk for itself goes into its result.
  static void keep_own(Writer& writer);

 private:
  Cells place(int chunk, int distance, int hops) const;
  Writer& writer_;
  std::int32_t buffer_ = 0;
  std::int64_t slot_ = 0;  // elements of the largest chunk
};

// The binomial scatter of the array's n chunks, for algorithms that begin with it.
void binomial_scatter_steps(Writer& writer);  // tree.cpp

// The algorithms. Each requires a valid spec of its kind (make_collective has looked at ranks,
// root and bytes) and at least 2 ranks. One .cpp for each family; a sentence where the algorithm
// does not work with that many ranks.
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

// Log2 rounded up; is n a power of two.
int levels_of(int n);
bool is_power_of_two(int n);

}  // namespace parallelarium
