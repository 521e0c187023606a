// SPDX-License-Identifier: Apache-2.0
// Reads what one micro-batch does on a stage from a Program of that stage alone.
#include "engine/planner/bounds/stage_reader.h"

#include <climits>
#include <map>

#include "engine/plan/program/report.h"
#include "engine/planner/bounds/action_reader.h"

namespace parallelarium {

namespace {

bool is_action(const Op& op, Lane lane) { return op.lane == lane && op.action >= 0; }

std::int64_t beside_states(const CategoryBytes& bytes) {
  return bytes[static_cast<std::size_t>(Category::kActivations)] +
         bytes[static_cast<std::size_t>(Category::kBuffers)];
}

// By action and layer, the last ops that read each bucket: until then it is gathered.
using LastReads = std::map<std::pair<std::int32_t, std::int16_t>, std::map<std::int16_t, int>>;
LastReads last_reads(const RankProgram& rank) {
  LastReads last;
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    if (op.layer < 0) continue;
    for_read_buckets(rank, op, [&](std::int16_t bucket) {
      last[{op.action, op.layer}][bucket] = static_cast<int>(at);
    });
  }
  return last;
}

void read_memory(const Program& program, const RankProgram& rank, StageBound& stage) {
  const LastReads reads = last_reads(rank);
  for_held_bytes(program, rank, [&](const HeldBytes& held) {
    if (held.op < 0) return;
    const Op& op = rank.ops[static_cast<std::size_t>(held.op)];
    if (op.action < 0) return;
    const ActionKind kind = rank.actions[static_cast<std::size_t>(op.action)].kind;
    ActionBound& action = stage.actions[static_cast<std::size_t>(kind)];
    const std::int64_t bytes = beside_states(held.at_peak);
    action.peak_bytes = std::max(action.peak_bytes, bytes);
    const auto read = op.layer >= 0 ? reads.find({op.action, op.layer}) : reads.end();
    if (read != reads.end()) {
      int first = INT_MAX, last = -1;
      for (const auto& [bucket, at] : read->second) {
        first = std::min(first, at);
        last = std::max(last, at);
      }
      if (held.op <= last) action.layer_bytes = std::max(action.layer_bytes, bytes);
      if (held.op <= first) action.buckets_bytes = std::max(action.buckets_bytes, bytes);
    }
    if (op.piece == Piece::kEmbedding) action.table_bytes = std::max(action.table_bytes, bytes);
    if (op.piece == Piece::kHead && op.phase != Phase::kWeightGrad)
      action.head_bytes = std::max(action.head_bytes, bytes);
  });
  // What is open from the forward's last op to the backward's first, and between a backward's
  // parts.
  const auto end = static_cast<std::int32_t>(rank.ops.size());
  std::array<std::int32_t, 4> first, last;
  first.fill(end);
  last.fill(-1);
  for (std::int32_t index = 0; index < end; ++index) {
    const Op& op = rank.ops[static_cast<std::size_t>(index)];
    if (!is_action(op, Lane::kCompute)) continue;
    const auto kind =
        static_cast<std::size_t>(rank.actions[static_cast<std::size_t>(op.action)].kind);
    first[kind] = std::min(first[kind], index);
    last[kind] = index;
  }
  const auto at = [](ActionKind kind) { return static_cast<std::size_t>(kind); };
  const std::int32_t forward_end = last[at(ActionKind::kForward)];
  const std::int32_t weights = first[at(ActionKind::kWeightGrad)];
  const std::int32_t backward_begin =
      std::min({first[at(ActionKind::kBackward)], first[at(ActionKind::kInputGrad)], weights});
  const std::int32_t inputs_end = last[at(ActionKind::kInputGrad)];
  for (const Buffer& buffer : rank.buffers) {
    const bool states =
        buffer.category != Category::kActivations && buffer.category != Category::kBuffers;
    if (states || buffer.microbatch < 0 || buffer.opened_by < 0) continue;
    if (buffer.opened_by <= forward_end && buffer.closed_by >= backward_begin)
      stage.kept_bytes += buffer.bytes;
    if (inputs_end >= 0 && buffer.opened_by <= inputs_end && buffer.closed_by >= weights)
      stage.waiting_bytes += buffer.bytes;
  }
}

void read_parameters(const RankProgram& rank, StageBound& stage) {
  for (const ParameterSlice& slice : rank.parameters) {
    const auto count = static_cast<double>(slice.count);
    (slice.parameter == Parameter::kExpertWeights ? stage.experts : stage.shared) += count;
    if (slice.shared_copy) stage.copied_table += count;
  }
}

}  // namespace

StageBound read_stage(const Program& program, const RankProgram& rank, const CostModel& cost,
                      bool with_stretches) {
  StageBound stage;
  for (std::size_t kind = 0; kind < stage.actions.size(); ++kind) {
    const ActionReader reader(rank, cost, static_cast<ActionKind>(kind));
    stage.actions[kind] = reader.read();
    if (with_stretches) stage.stretches[kind] = reader.read_stretches();
  }
  read_memory(program, rank, stage);
  read_parameters(rank, stage);
  return stage;
}

}  // namespace parallelarium
