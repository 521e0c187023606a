// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/nccl_joins.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace parallelarium {

namespace {

// At 100 GB/s, what a link needs as long for as a host for a call.
constexpr std::int64_t kMostJoinedBytes = std::int64_t{4} << 20;
constexpr std::size_t kMostJoined = 8;

// Those that need no scratch, which the lane has once (nccl_staging.h).
bool can_join(const Program& program, const RankProgram& rank, const Op& op) {
  if (op.kind != OpKind::kCollective || op.bytes > kMostJoinedBytes || op.batch >= 0) return false;
  if (program.groups[static_cast<std::size_t>(op.group)].ranks.size() < 2) return false;
  if (op.collective == CollectiveKind::kAllToAll) return false;
  const auto operands = rank.operands_of(op);
  return operands.size() < 2 || operands[1].access != Access::kAccumulate;
}

// Bytes of the arena: of a buffer that ops open and close all of it, since it ends with its last
// user; else of the operand.
std::pair<std::int64_t, std::int64_t> place_of(const RankProgram& rank, const Operand& operand) {
  const Buffer& buffer = rank.buffers[static_cast<std::size_t>(operand.buffer)];
  if (buffer.opened_by >= 0) return {buffer.offset, buffer.offset + buffer.bytes};
  const std::int64_t begin = buffer.offset + operand.offset * size_of(operand.type);
  return {begin, begin + operand.count * size_of(operand.type)};
}

// Buffers of different ops may have one place, one after the other.
bool share_memory(const RankProgram& rank, const Op& a, const Op& b) {
  for (const Operand& one : rank.operands_of(a)) {
    for (const Operand& other : rank.operands_of(b)) {
      const auto [begin, end] = place_of(rank, one);
      const auto [other_begin, other_end] = place_of(rank, other);
      if (begin < other_end && other_begin < end) return true;
    }
  }
  return false;
}

// Whether what `op` comes after has ended when `first`, of the same lane, begins.
bool waits_no_longer(const RankProgram& rank, std::int32_t first, const Op& op) {
  const Op& leader = rank.ops[static_cast<std::size_t>(first)];
  const auto lane_of = [&](std::int32_t index) {
    return rank.ops[static_cast<std::size_t>(index)].lane;
  };
  const auto after = rank.after_of(op), before = rank.after_of(leader);
  return std::all_of(after.begin(), after.end(), [&](std::int32_t needed) {
    if (lane_of(needed) == op.lane) return needed < first;
    return std::any_of(before.begin(), before.end(), [&](std::int32_t known) {
      return lane_of(known) == lane_of(needed) && needed <= known;
    });
  });
}

// What one rank could join, by op.
std::vector<bool> joinable(const Program& program, const RankProgram& rank) {
  std::vector<bool> joins(rank.ops.size(), false);
  std::vector<std::int32_t> chain;  // of the communication under way, the first one first
  Lane lane = Lane::kCompute;
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    const Op& op = rank.ops[i];
    const auto index = static_cast<std::int32_t>(i);
    if (op.kind == OpKind::kCompute) {
      if (!chain.empty() && op.lane == lane) chain.clear();
      continue;
    }
    const auto goes_with = [&](std::int32_t other) {
      const Op& earlier = rank.ops[static_cast<std::size_t>(other)];
      return earlier.group == op.group && earlier.lane == op.lane &&
             !share_memory(rank, earlier, op);
    };
    const bool can = can_join(program, rank, op);
    joins[i] = can && !chain.empty() && chain.size() < kMostJoined &&
               std::all_of(chain.begin(), chain.end(), goes_with) &&
               waits_no_longer(rank, chain.front(), op);
    if (!joins[i]) chain.clear();
    if (can) chain.push_back(index);
    lane = op.lane;
  }
  return joins;
}

}  // namespace

std::vector<std::vector<bool>> joined_collectives(const Program& program) {
  std::vector<std::vector<bool>> joins;
  // By group and how many collectives it had before: members that would not join this one.
  std::set<std::pair<std::int32_t, std::int64_t>> refused;
  const auto each = [](const RankProgram& rank, const auto& visit) {
    std::map<std::int32_t, std::int64_t> sequence;
    for (std::size_t i = 0; i < rank.ops.size(); ++i) {
      const Op& op = rank.ops[i];
      if (op.kind == OpKind::kCollective) visit(i, std::pair(op.group, sequence[op.group]++));
    }
  };
  for (const RankProgram& rank : program.ranks) {
    const std::vector<bool>& own = joins.emplace_back(joinable(program, rank));
    each(rank, [&](std::size_t op, const auto& place) {
      if (!own[op]) refused.insert(place);
    });
  }
  for (std::size_t i = 0; i < program.ranks.size(); ++i) {
    each(program.ranks[i], [&](std::size_t op, const auto& place) {
      if (refused.count(place) > 0) joins[i][op] = false;
    });
  }
  return joins;
}

}  // namespace parallelarium
