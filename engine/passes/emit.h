// SPDX-License-Identifier: Apache-2.0
// Writes one rank's ops. It turns names of tensors into buffers that live from their first op to
// their last, and adds an `after` edge wherever a lane touches a buffer that another lane touched
// last.
#pragma once

#include <array>
#include <cassert>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/passes/pieces.h"

namespace parallelarium {

// The buffers that one micro-batch holds on one chunk, by slot; -1 for none.
using SlotTable = std::span<std::int32_t>;

class RankEmitter {
 public:
  RankEmitter(Program& program, RankProgram& rank) : program_(program), rank_(rank) {}

  // Makes a buffer that the rank holds for the whole step. The tensor must be one of those up to
  // kSquareSum. It must be held once only.
  void hold(Tensor tensor, std::int64_t bytes);
  bool holds(Tensor tensor) const;
  void reserve_buffers(std::size_t count) {
    rank_.buffers.reserve(count);
    touched_.reserve(count);
    passed_on_.reserve(count);
  }

  // Gives every operand of the drafts its slot; drafts of one chunk share a numbering.
  struct SlotHash {
    std::size_t operator()(const std::pair<Tensor, int>& of) const {
      return std::hash<std::int64_t>()(static_cast<std::int64_t>(of.first) << 32 |
                                       static_cast<std::uint32_t>(of.second));
    }
  };
  using SlotNumbers = std::unordered_map<std::pair<Tensor, int>, std::int32_t, SlotHash>;
  static int slot_key(int layer, int part) { return layer + part * 2 * kBuckets; }
  static void number_slots(std::vector<Draft>& drafts, SlotNumbers& numbers);
  // Moves the drafts' work lists to the Program.
  void register_work(std::vector<Draft>& drafts);

  struct Place {
    std::int32_t microbatch = -1;
    std::int16_t chunk = 0;
    std::int32_t action = -1;
  };
  // Appends one op and returns its index. `needs`: one more op that must end before it (-1: none).
  // Every buffer that its operands touch must be held, or open in `table`, or opened by this op.
  std::int32_t emit(const Draft& draft, const Place& place, SlotTable table,
                    std::int32_t needs = -1);

  std::int32_t last_of(Lane lane) const { return last_[static_cast<std::size_t>(lane)]; }
  // Keeps the buffer open until op `op`. No later op may use it already.
  void extend(std::int32_t buffer, std::int32_t op) {
    assert(op >= rank_.buffers[buffer].closed_by);
    rank_.buffers[buffer].closed_by = op;
  }
  RankProgram& rank() { return rank_; }
  const RankProgram& rank() const { return rank_; }
  Program& program() { return program_; }
  const Program& program() const { return program_; }

  // The index of this rank's group on `axis`, which the first call makes; -1 if it has one member.
  std::int32_t group(Axis axis, std::vector<int> ranks);

 private:
  using LaneOps = std::array<std::int32_t, kLanes>;  // last op by lane, -1: none

  Program& program_;
  RankProgram& rank_;
  static constexpr int kBuckets = 1 << 16;  // more than layers
  static constexpr std::size_t kHeld = static_cast<std::size_t>(Tensor::kSquareSum) + 1;
  std::array<std::int32_t, kHeld> held_ = [] {
    std::array<std::int32_t, kHeld> none{};
    none.fill(-1);
    return none;
  }();
  std::vector<LaneOps> touched_;         // by buffer
  std::vector<std::int32_t> passed_on_;  // by buffer: the last op that passes it on in a ring
  LaneOps last_ = {-1, -1, -1};
};

}  // namespace parallelarium
