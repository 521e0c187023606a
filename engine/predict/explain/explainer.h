// SPDX-License-Identifier: Apache-2.0
// Which op came before which in an executed Program. All functions of explain.h use this.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/program/matching.h"
#include "engine/predict/explain/explain.h"

namespace parallelarium {

// The Program and the Timeline must outlive it.
class Explainer {
 public:
  Explainer(const Program& program, const Timeline& timeline)
      : program_(program), timeline_(timeline), matching_(match(program)) {
    for (const RankProgram& rank : program.ranks) {
      auto& before = lane_before_.emplace_back(rank.ops.size(), -1);
      // The last op of a lane, and the last op before the newest batch.
      std::int32_t last[kLanes] = {-1, -1, -1}, before_batch[kLanes] = {-1, -1, -1};
      for (std::size_t index = 0; index < rank.ops.size(); ++index) {
        const Op& op = rank.ops[index];
        const auto lane = static_cast<std::size_t>(op.lane);
        const bool continues = op.batch >= 0 && last[lane] >= 0 &&
                               rank.ops[static_cast<std::size_t>(last[lane])].batch == op.batch;
        if (!continues) before_batch[lane] = last[lane];
        before[index] = before_batch[lane];
        last[lane] = static_cast<std::int32_t>(index);
      }
    }
  }

  const Op& op_at(OpRef ref) const {
    return program_.ranks[static_cast<std::size_t>(ref.rank)].ops[static_cast<std::size_t>(ref.op)];
  }
  const Span& span_at(OpRef ref) const {
    return timeline_.ranks[static_cast<std::size_t>(ref.rank)]
        .spans[static_cast<std::size_t>(ref.op)];
  }
  const RankProgram& rank_at(OpRef ref) const {
    return program_.ranks[static_cast<std::size_t>(ref.rank)];
  }

  // The ops that meet `ref`, itself included; only itself for Compute.
  std::vector<OpRef> met_by(OpRef ref) const {
    const std::int32_t number =
        matching_.meeting_of[static_cast<std::size_t>(matching_.flat({ref.rank, ref.op}))];
    if (number < 0) return {ref};
    const Meeting& meeting = matching_.meetings[static_cast<std::size_t>(number)];
    std::vector<OpRef> ops;
    for (std::int32_t member = meeting.first; member < meeting.first + meeting.count; ++member) {
      const Place place = matching_.members[static_cast<std::size_t>(member)];
      ops.push_back({place.rank, place.op});
    }
    return ops;
  }

  // All ops of the batch of `ref`.
  std::vector<OpRef> unit_of(OpRef ref) const {
    const Op& op = op_at(ref);
    if (op.batch < 0) return {ref};
    const auto& ops = rank_at(ref).ops;
    std::vector<OpRef> unit;
    const auto in_lane = [&](std::int32_t index) {
      return ops[static_cast<std::size_t>(index)].lane == op.lane;
    };
    for (std::int32_t index = ref.op; index >= 0; --index) {
      if (!in_lane(index)) continue;
      if (ops[static_cast<std::size_t>(index)].batch != op.batch) break;
      unit.push_back({ref.rank, index});
    }
    for (auto index = ref.op + 1; index < static_cast<std::int32_t>(ops.size()); ++index) {
      if (!in_lane(index)) continue;
      if (ops[static_cast<std::size_t>(index)].batch != op.batch) break;
      unit.push_back({ref.rank, index});
    }
    return unit;
  }

  // Makes `latest` the last to end of itself, `own`'s lane predecessor and `own`'s edges.
  void take_latest(OpRef own, OpRef& latest) const {
    for (const OpRef member : unit_of(own)) {
      const auto consider = [&](std::int32_t index) {
        if (index < 0) return;
        const OpRef candidate{member.rank, index};
        if (latest.op < 0 || span_at(candidate).end > span_at(latest).end) latest = candidate;
      };
      for (const std::int32_t before : rank_at(member).after_of(op_at(member))) consider(before);
      consider(
          lane_before_[static_cast<std::size_t>(member.rank)][static_cast<std::size_t>(member.op)]);
    }
  }

  OpRef waited_for(OpRef ref) const {
    OpRef latest;
    for (const OpRef own : unit_of(ref)) {
      for (const OpRef met : met_by(own)) take_latest(met, latest);
    }
    return latest;
  }

  // The compute op that made what `ref` carries or needs. Transfers are followed back.
  OpRef source_of(OpRef ref) const {
    for (std::size_t steps = 0; steps < program_.ranks.size() * 4 + 4; ++steps) {
      OpRef needed = needed_by(ref);
      if (needed.op < 0) return {};
      if (op_at(needed).kind == OpKind::kCompute) return needed;
      ref = needed;
    }
    return {};
  }

  std::int32_t lane_before(OpRef ref) const {
    return lane_before_[static_cast<std::size_t>(ref.rank)][static_cast<std::size_t>(ref.op)];
  }

 private:
  OpRef needed_by(OpRef ref) const {
    const Op& op = op_at(ref);
    OpRef latest;
    const auto take_edges = [&](OpRef from) {
      for (const std::int32_t before : rank_at(from).after_of(op_at(from))) {
        const OpRef candidate{from.rank, before};
        if (latest.op < 0 || span_at(candidate).end > span_at(latest).end) latest = candidate;
      }
    };
    if (op.kind == OpKind::kRecv || op.kind == OpKind::kSend) {
      for (const OpRef met : met_by(ref)) {
        if (op_at(met).kind == OpKind::kSend) take_edges(met);
      }
    } else if (op.kind == OpKind::kCollective) {
      for (const OpRef met : met_by(ref)) {
        take_edges(met);
        const std::int32_t before = lane_before(met);
        if (op.lane == Lane::kCompute && before >= 0) {
          const OpRef candidate{met.rank, before};
          if (latest.op < 0 || span_at(candidate).end > span_at(latest).end) latest = candidate;
        }
      }
    } else {
      take_edges(ref);
    }
    return latest.op >= 0 ? latest : OpRef{ref.rank, lane_before(ref)};
  }

  const Program& program_;
  const Timeline& timeline_;
  const Matching matching_;
  std::vector<std::vector<std::int32_t>> lane_before_;
};

}  // namespace parallelarium
