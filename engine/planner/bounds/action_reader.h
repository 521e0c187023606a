// SPDX-License-Identifier: Apache-2.0
// Reads the times of one kind of action on a stage, from a Program of one micro-batch.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "engine/passes/shard/shard.h"
#include "engine/passes/shard/shard_drafts.h"
#include "engine/plan/program/program.h"
#include "engine/planner/bounds/bound.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

// Calls visit(bucket) for the buckets of the parameters that an op reads. The Program keeps them
// whole.
template <class Visit>
void for_read_buckets(const RankProgram& rank, const Op& op, const Visit& visit) {
  for (const Operand& operand : rank.operands_of(op))
    if (operand.access == Access::kRead &&
        rank.buffers[static_cast<std::size_t>(operand.buffer)].tensor == Tensor::kParameters)
      visit(bucket_at(rank, operand.offset));
}

// The stage's ops of one kind of action: those of the compute lane, and the messages of rings and
// experts that they wait for. Their edges to receives and from sends tell when they need what comes
// to the stage, and when they have what leaves it.
class ActionReader {
 public:
  ActionReader(const RankProgram& rank, const CostModel& cost, ActionKind kind)
      : rank_(rank), durations_(rank.ops.size(), 0) {
    for (const Bucket& bucket : rank.buckets) experts_.push_back(has_experts(rank, bucket));
    const bool forward = kind == ActionKind::kForward;
    travels_ = forward ? Purpose::kActivations : Purpose::kGradients;
    first_need_ = static_cast<std::int32_t>(rank.ops.size());
    for (std::size_t at = 0; at < rank.ops.size(); ++at) {
      const Op& op = rank.ops[at];
      if (op.action < 0 || kind_of(op) != kind) continue;
      if (op.lane == Lane::kData && !is_of_ring(op)) continue;
      const auto index = static_cast<std::int32_t>(at);
      ops_.push_back(index);
      durations_[at] = cost.nanoseconds(op, rank.rank);
      for (const std::int32_t needed : rank.after_of(op))
        if (op.lane == Lane::kCompute && is_transfer(needed, OpKind::kRecv))
          first_need_ = std::min(first_need_, index);
    }
  }

  ActionBound read() const {
    ActionBound bound;
    for (const std::int32_t at : ops_)
      if (op_at(at).lane == Lane::kCompute) bound.busy += duration_of(at);
    const Ends whole = walk(0), rest = walk(first_need_);
    bound.duration = whole.end;
    bound.until_need = whole.end - rest.end;
    bound.until_have = std::min(whole.have, bound.until_need + rest.have);
    return bound;
  }
  std::vector<StretchBound> read_stretches() const {
    std::vector<StretchBound> stretches;
    for (std::size_t first = 0, last = 0; first < ops_.size(); first = last) {
      while (last < ops_.size() && op_at(ops_[last]).layer == op_at(ops_[first]).layer) ++last;
      StretchBound& stretch = stretches.emplace_back();
      stretch.part = part_of(first, last);
      for (std::size_t from = 0; from < kLaneBegins; ++from) {
        const auto ends = ends_from(static_cast<LanePoint>(from), first, last);
        for (std::size_t to = 0; to < kLaneEnds; ++to) stretch.ways[to][from] = ends[to];
      }
    }
    return stretches;
  }

 private:
  struct Ends {
    std::int64_t end = 0, have = 0;  // end of the compute lane; time when what leaves is there
  };
  // Walks from op `first` on. All before it has ended.
  Ends walk(std::int32_t first) const {
    std::vector<std::int64_t> ends(rank_.ops.size(), 0);
    std::int64_t free[kLanes] = {};  // by LanePoint
    for (const std::int32_t at : ops_) {
      if (at < first) continue;
      const Op& op = op_at(at);
      std::int64_t& lane = free[lane_of(op)];
      // Messages that wait for nothing here may have come before.
      std::int64_t begin = op.lane == Lane::kCompute ? lane : -1;
      for (const std::int32_t needed : rank_.after_of(op))
        if (ends[static_cast<std::size_t>(needed)] > 0 && share_a_buffer(op, op_at(needed)))
          begin = std::max({begin, ends[static_cast<std::size_t>(needed)], lane});
      if (begin < 0) continue;
      lane = begin + duration_of(at);
      ends[static_cast<std::size_t>(at)] = lane;
    }
    Ends result{free[static_cast<std::size_t>(LanePoint::kCompute)], 0};
    for (std::size_t at = 0; at < rank_.ops.size(); ++at) {
      if (!is_transfer(static_cast<std::int32_t>(at), OpKind::kSend)) continue;
      for (const std::int32_t needed : rank_.after_of(rank_.ops[at]))
        result.have = std::max(result.have, ends[static_cast<std::size_t>(needed)]);
    }
    return result;
  }
  // The longest ways from one point to every point, through ops [first, last). Messages that go
  // together begin and end together.
  std::array<std::int64_t, kLaneEnds> ends_from(LanePoint from, std::size_t first,
                                                std::size_t last) const {
    std::vector<std::int64_t> ends(rank_.ops.size(), kNoWay);
    std::int64_t free[kLanes] = {kNoWay, kNoWay, kNoWay};  // by LanePoint
    if (static_cast<std::size_t>(from) < kLanes) free[static_cast<std::size_t>(from)] = 0;
    for (std::size_t next = first; first < last; first = next) {
      const Op& op = op_at(ops_[first]);
      std::int64_t& lane = free[lane_of(op)];
      std::int64_t begin = lane, longest = 0;
      for (next = first; next < last; ++next) {
        const Op& part = op_at(ops_[next]);
        if (next > first && (op.batch < 0 || part.batch != op.batch)) break;
        longest = std::max(longest, duration_of(ops_[next]));
        if (from == LanePoint::kExperts || from == LanePoint::kOthers)
          for_read_buckets(rank_, part, [&](std::int16_t bucket) {
            if (experts_[static_cast<std::size_t>(bucket)] == (from == LanePoint::kExperts))
              begin = std::max<std::int64_t>(begin, 0);
          });
        for (const std::int32_t needed : rank_.after_of(part)) {
          if (from == LanePoint::kPassing && is_transfer(needed, OpKind::kRecv))
            begin = std::max<std::int64_t>(begin, 0);
          if (share_a_buffer(part, op_at(needed)))
            begin = std::max(begin, ends[static_cast<std::size_t>(needed)]);
        }
      }
      if (begin == kNoWay) continue;
      lane = begin + longest;
      for (std::size_t at = first; at < next; ++at) ends[static_cast<std::size_t>(ops_[at])] = lane;
    }
    std::int64_t have = kNoWay;
    for (std::size_t at = 0; at < rank_.ops.size(); ++at) {
      if (!is_transfer(static_cast<std::int32_t>(at), OpKind::kSend)) continue;
      for (const std::int32_t needed : rank_.after_of(rank_.ops[at]))
        have = std::max(have, ends[static_cast<std::size_t>(needed)]);
    }
    return {free[0], free[1], free[2], have};
  }
  StretchBound::Part part_of(std::size_t first, std::size_t last) const {
    if (op_at(ops_[first]).layer >= 0) return StretchBound::Part::kLayer;
    for (std::size_t at = first; at < last; ++at) {
      if (op_at(ops_[at]).piece == Piece::kEmbedding) return StretchBound::Part::kTable;
      if (op_at(ops_[at]).piece == Piece::kHead) return StretchBound::Part::kHead;
    }
    return StretchBound::Part::kOther;
  }
  // If they share none, one waits for the other only because of the place of a buffer. Another
  // Program may put that buffer elsewhere.
  bool share_a_buffer(const Op& a, const Op& b) const {
    for (const Operand& one : rank_.operands_of(a))
      for (const Operand& other : rank_.operands_of(b))
        if (one.buffer == other.buffer) return true;
    return false;
  }
  std::int64_t duration_of(std::int32_t index) const {
    return durations_[static_cast<std::size_t>(index)];
  }
  const Op& op_at(std::int32_t index) const { return rank_.ops[static_cast<std::size_t>(index)]; }
  ActionKind kind_of(const Op& op) const {
    return rank_.actions[static_cast<std::size_t>(op.action)].kind;
  }
  // Whether the op is a message that goes round within its action.
  static bool is_of_ring(const Op& op) {
    return op.lane != Lane::kCompute && (op.kind == OpKind::kSend || op.kind == OpKind::kRecv);
  }
  // Rings count as a lane of their own, since what else is in their lane depends on the pipeline
  // around the stage.
  static std::size_t lane_of(const Op& op) {
    if (is_of_ring(op)) return static_cast<std::size_t>(LanePoint::kRings);
    return static_cast<std::size_t>(op.lane == Lane::kCompute ? LanePoint::kCompute
                                                              : LanePoint::kPipeline);
  }
  // Whether the op moves data between stages.
  bool is_transfer(std::int32_t index, OpKind kind) const {
    const Op& op = op_at(index);
    return op.kind == kind && op.purpose == travels_ && op.lane == Lane::kPipeline && op.action < 0;
  }

  const RankProgram& rank_;
  Purpose travels_ = Purpose::kNone;
  std::vector<std::int32_t> ops_;
  std::vector<std::int64_t> durations_;  // of ops_, by index in the rank
  std::vector<bool> experts_;            // by bucket: whether it holds experts
  std::int32_t first_need_ = 0;
};

}  // namespace parallelarium
