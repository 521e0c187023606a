// SPDX-License-Identifier: Apache-2.0
// Who holds what of the model's states at one moment: for each rank and each bucket of parameters
// (a layer, the tables, final norm and head) its parameters, gradients and optimizer state as a
// copy, a shard, a partial sum, or absent. Read from the Program's buffers, operands and buckets,
// and from when its ops begin and end.
//
// Source of the four words for ZeRO: Rajbhandari et al. 2020, section 5 and figure 1.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/plan/program/timeline.h"

namespace parallelarium {

enum class HeldAs : std::uint8_t {
  kAbsent,      // not there, or memory is reserved and nothing is in it yet
  kShard,       // the rank's own part
  kPartialSum,  // whole, of the rank's own data; ranks have to be added up
  kCopy         // whole, as every rank of the group has it
};

// What a rank holds of one kind of state of one bucket.
struct HeldState {
  HeldAs as = HeldAs::kAbsent;
  double begin = 0, end = 1;  // where it lies in the bucket, as shares
  std::int64_t bytes = 0;     // of memory, reserved ones too
  bool whole = false;         // memory is reserved for all of the bucket
  std::int32_t op = -1;       // a collective that is under way with it; -1: none
  double done = 0;            // share of that collective's time
};

struct HeldBucket {
  std::int16_t layer = -1;  // -1: tables (the first bucket), or final norm and head
  HeldState parameters, gradients, optimizer;
};

// Tells what one rank holds over a step. `program` and its `timeline` must outlive this.
class Holdings {
 public:
  // `rank_index`: in Program::ranks.
  Holdings(const Program& program, const Timeline& timeline, int rank_index);
  // Of each of its buckets.
  std::vector<HeldBucket> at(Nanoseconds time) const;
  // The times at which at() changes, ascending.
  std::vector<Nanoseconds> changes() const;

 private:
  class Index;
  std::shared_ptr<const Index> index_;
};

}  // namespace parallelarium
