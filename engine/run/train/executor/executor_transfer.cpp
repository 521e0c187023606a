// SPDX-License-Identifier: Apache-2.0
// Messages and collectives of a step: what the transport is asked for, and what it moved.
#include <algorithm>

#include "engine/run/train/executor/executor.h"

namespace parallelarium {

// The parts of a batch begin and end one by one in modelled time; the batch lasts from the first
// beginning to the last end.
bool Executor::transfer(std::span<const std::int32_t> unit, const Pace& pace, Ideal& ideal,
                        Ledger* ledger, TimePoint& begin) {
  std::vector<TransferPart>& parts = lanes_[static_cast<std::size_t>(op_at(unit[0]).lane)].parts;
  parts.clear();
  for (const std::int32_t index : unit) {
    const Op& op = op_at(index);
    TransferPart& part = parts.emplace_back();
    part.send = op.kind == OpKind::kSend;
    part.peer = op.peer;
    part.group = op.group;
    part.sequence = sequence_[static_cast<std::size_t>(index)];
    part.data = arena_.address(rank_.operands_of(op)[0]);
    part.bytes = op.bytes;
    part.stretches = stretches_[static_cast<std::size_t>(index)];
    if (!part.send) part.reduction = op.reduction;
    if (!transport_.does_steps() &&
        (part.reduction != Reduction::kNone || !part.stretches.empty())) {
      fail(index, message("transfer-steps",
                          "Ranks that are processes on CPUs run whole collectives only; choose "
                          "collectives direct."));
      return false;
    }
    part.type = op.type;
    part.pace = pace;
    part.device = &device_of(index);
    part.marks = index * kMarksOfOp;
    if (ledger != nullptr) part.turn = turn_[static_cast<std::size_t>(index)];
    if (!durations_.empty()) part.pace.duration = durations_[static_cast<std::size_t>(index)];
  }
  if (Result<void> done = transport_.transfer(parts); !done) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TransferPart& part = parts[i];
    ideal.end = std::max(ideal.end, part.pace.ready + part.pace.duration);
    ideal.modelled = std::max(ideal.modelled, part.pace.modelled + part.pace.duration);
    begin = i == 0 ? part.met : std::min(begin, part.met);
    const Op& op = op_at(unit[i]);
    if (ledger != nullptr) {
      ledger->count(program_.groups[static_cast<std::size_t>(op.group)].axis, "send_recv",
                    op.purpose, part.send ? part.moved : 0, part.send ? 0 : part.moved);
      sent_[static_cast<std::size_t>(unit[i])] = part.send ? part.moved : 0;
    }
  }
  return true;
}

CollectiveCall Executor::call_of(std::int32_t index, const Pace& pace, bool in_step) {
  const Op& op = op_at(index);
  CollectiveCall call;
  call.kind = op.collective;
  call.group = op.group;
  call.sequence = sequence_[static_cast<std::size_t>(index)];
  call.type = op.type;
  call.reduction = op.reduction;
  const std::span<const Operand> operands = rank_.operands_of(op);
  call.data = arena_.address(operands[0]);
  call.bytes = op.bytes;
  if (operands.size() > 1) {
    call.own = arena_.address(operands[1]);
    call.adds = operands[1].access == Access::kAccumulate;
  }
  call.pace = pace;
  call.device = &device_of(index);
  call.marks = index * kMarksOfOp;
  if (in_step) call.turn = turn_[static_cast<std::size_t>(index)];
  return call;
}

bool Executor::collectives(std::span<const std::int32_t> unit, Pace& pace, Ledger* ledger,
                           TimePoint& begin) {
  const Op& first = op_at(unit.front());
  if (first.collective == CollectiveKind::kAllToAll && first.operand_count > 1)
    return exchange(unit.front(), pace, ledger, begin);
  std::vector<CollectiveCall>& calls = lanes_[static_cast<std::size_t>(first.lane)].calls;
  calls.clear();
  for (const std::int32_t index : unit) calls.push_back(call_of(index, pace, ledger != nullptr));
  if (Result<void> done = transport_.collectives(calls); !done) return false;
  pace = calls.front().pace;
  begin = calls.front().met;
  if (ledger == nullptr) return true;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Op& op = op_at(unit[i]);
    ledger->count(program_.groups[static_cast<std::size_t>(op.group)].axis, name_of(op.collective),
                  op.purpose, calls[i].sent, calls[i].received, calls[i].counted);
    sent_[static_cast<std::size_t>(unit[i])] = calls[i].sent;
  }
  return true;
}

}  // namespace parallelarium
