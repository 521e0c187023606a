// SPDX-License-Identifier: Apache-2.0
// Who holds what of the model's states at one moment: for each rank and each bucket of parameters
// (a layer's dense part or its experts, the tables, final norm and head) its parameters, gradients
// and optimizer state as a copy, a shard, a partial sum, or absent. This is read from the Program's
// buffers, operands and buckets, and from when its ops begin and end.
//
// A rank's place in a bucket is its share by TP and EP, and within that its share by ZeRO: the
// shards of all ranks of a replica are together the whole bucket. What TP leaves whole on every
// rank (norms, some biases) counts as part of each TP rank's share.
//
// Source of the four words for ZeRO: Rajbhandari et al. 2020, section 5 and figure 1.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/plan/program/mesh.h"
#include "engine/plan/program/pieces.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

// Whether TP leaves the parameter whole: norms, positions, biases of row-parallel products,
// routers. Source: Shoeybi et al. 2019, section 3.
bool is_whole_on_every_tp_rank(Parameter parameter);

enum class HeldAs : std::uint8_t {
  kAbsent,      // not there, or memory is reserved and nothing is in it yet
  kShard,       // the rank's own part
  kPartialSum,  // the sum over the data of some ranks; ranks have to be added up
  kCopy         // whole, as every rank of the group has it
};

// What a rank holds of one kind of state of one bucket.
struct HeldState {
  HeldAs as = HeldAs::kAbsent;
  double begin = 0, end = 1;  // its place in the bucket, as shares
  std::int64_t bytes = 0;     // bytes of memory, also of memory that is only reserved
  // Those of `bytes` that are in buffers which a collective fills or empties: gathered parameters,
  // a bucket's gradients. The memory over the step counts these as buffers.
  std::int64_t passing_bytes = 0;
  bool whole = false;  // memory is reserved for all that TP and EP give the rank
  // A collective that is working on it, or the first of its steps; -1: none.
  std::int32_t op = -1;
  double done = 0;  // share of that collective's time
};

struct HeldBucket {
  std::int16_t layer = -1;  // -1: tables, or final norm and head
  bool tables = false, experts = false;
  std::int64_t elements = 0;  // parameters of a replica, on all its TP and EP ranks
  double from = 0, to = 1;    // the part of them that TP and EP give the rank
  HeldState parameters, gradients, optimizer;
};

// Moments of a step that show what a stage of ZeRO keeps.
enum class HeldMoment : std::uint8_t { kAfterForward, kAfterBackward, kInUpdate };
inline constexpr int kHeldMoments = 3;

// Tells what one rank holds over a step. Program and timeline must outlive it.
class Holdings {
 public:
  // `rank_index`: index in Program::ranks. `mesh`: the one that the Program was built for.
  Holdings(const Program& program, const Timeline& timeline, const Mesh& mesh, int rank_index);
  // Tells what a rank that was not built holds: `rank` is what passes/replicate.h makes of its
  // representative, and `spans` are the representative's.
  Holdings(std::shared_ptr<const RankProgram> rank, const std::vector<Span>& spans,
           const Mesh& mesh);
  // What the rank holds of each bucket.
  std::vector<HeldBucket> at(Nanoseconds time) const;
  // The times at which at() changes, ascending.
  std::vector<Nanoseconds> changes() const;
  // The moments by HeldMoment: after the last forward before the rank's first backward, after its
  // last backward, and when half of its update is done.
  std::array<Nanoseconds, kHeldMoments> moments() const;

 private:
  class Index;
  std::shared_ptr<const Index> index_;
};

}  // namespace parallelarium
