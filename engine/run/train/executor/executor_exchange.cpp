// SPDX-License-Identifier: Apache-2.0
// All-to-alls whose sizes only the step knows: what goes to each rank, and where what comes
// belongs, follow from counts that the ranks have told each other. Each pair of ranks exchanges one
// message for each of the receiver's experts, all at once.
#include <algorithm>
#include <numeric>

#include "engine/run/train/executor/executor.h"

namespace parallelarium {

// Rows by place: one entry after another. By expert (`grouped`): all of an expert's, then the next.
void Executor::RowLayout::set(std::span<const std::int32_t> counts, std::size_t ranks,
                              bool grouped) {
  const std::size_t here = counts.size() / ranks;
  count.assign(counts.begin(), counts.end());
  first.resize(counts.size());
  std::int64_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t entry = grouped ? i % ranks * here + i / ranks : i;
    first[entry] = next;
    next += count[entry];
  }
}

std::int64_t Executor::RowLayout::rows() const {
  return std::accumulate(count.begin(), count.end(), std::int64_t{0});
}
std::int64_t Executor::RowLayout::rows_of(std::size_t index, std::size_t ranks) const {
  const auto here = static_cast<std::ptrdiff_t>(count.size() / ranks);
  const auto begin = count.begin() + static_cast<std::ptrdiff_t>(index) * here;
  return std::accumulate(begin, begin + here, std::int64_t{0});
}

// Durations are those of even routing. An expert that has twice the rows takes twice the time, as
// in predict/expert_rows.h.
Nanoseconds Executor::duration_of(std::int32_t index) {
  const Nanoseconds even = durations_[static_cast<std::size_t>(index)];
  const Op& op = op_at(index);
  const std::int64_t even_rows = program_.shape.experts.even_rows;
  if (op.kind != OpKind::kCompute || op.piece != Piece::kExpert || even_rows == 0) return even;
  const Operand& operand = rank_.operands_of(op)[1];
  std::vector<std::int32_t>& counts = lanes_[static_cast<std::size_t>(op.lane)].rows.counts[0];
  counts.resize(static_cast<std::size_t>(operand.count));
  device_of(index).copy_to_host(counts.data(), arena_.address(operand), operand.count * 4);
  if (!device_of(index).finish()) return even;  // the failure stays with the device
  const auto rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  return Nanoseconds{even.count() * rows / even_rows};
}

// Where the rows of an exchange lie on this rank: by the counts that the ranks have told each
// other, or equal parts, one for each rank.
bool Executor::lay_out_rows(std::int32_t index, std::size_t ranks) {
  const Op& op = op_at(index);
  const std::span<const Operand> operands = rank_.operands_of(op);
  Device& device = device_of(index);
  auto& [counts, from, to] = lane_of(index).rows;
  std::int64_t elements = 1;  // of a row
  if (operands.size() == 4) {
    elements = program_.shape.C;
    for (std::size_t side = 0; side < 2; ++side) {
      const Operand& operand = operands[2 + side];
      counts[side].resize(static_cast<std::size_t>(operand.count));
      device.copy_to_host(counts[side].data(), arena_.address(operand), operand.count * 4);
    }
    if (Result<void> done = device.finish(); !done) {
      fail(index, done.error());
      return false;
    }
    from.set(counts[0], ranks, op.block == 1);
    to.set(counts[1], ranks, op.block == 0);
  } else {
    counts[0].assign(
        ranks, static_cast<std::int32_t>(operands[0].count / static_cast<std::int64_t>(ranks)));
    from.set(counts[0], ranks, false);
    to = from;
  }
  const std::int64_t sends = from.rows(), receives = to.rows();
  if (sends * elements <= operands[0].count && receives * elements <= operands[1].count)
    return true;
  fail(index, message("exchange-bound",
                      "{} rows to send or {} to receive are more than there is "
                      "room for.",
                      sends, receives));
  return false;
}

// The messages of an exchange. What stays on this rank, of index `me` in the group, is copied.
void Executor::message_rows(std::int32_t index, std::size_t me, std::int64_t row_bytes,
                            const Pace& pace, bool in_step) {
  const Op& op = op_at(index);
  const Group& group = program_.groups[static_cast<std::size_t>(op.group)];
  const std::span<const Operand> operands = rank_.operands_of(op);
  Device& device = device_of(index);
  LaneState& lane = lane_of(index);
  const auto& [counts, from, to] = lane.rows;
  const std::size_t here = from.first.size() / group.ranks.size();
  lane.parts.clear();
  for (std::size_t entry = 0; entry < from.first.size(); ++entry) {
    std::byte* source = arena_.address(operands[0]) + from.first[entry] * row_bytes;
    std::byte* target = arena_.address(operands[1]) + to.first[entry] * row_bytes;
    if (entry / here == me) {
      if (from.count[entry] > 0) device.copy(target, source, from.count[entry] * row_bytes);
      continue;
    }
    for (const bool send : {true, false}) {
      TransferPart& part = lane.parts.emplace_back();
      part.send = send;
      part.peer = group.ranks[entry / here];
      part.group = op.group;
      part.sequence =
          sequence_[static_cast<std::size_t>(index)] * program_.shape.experts.model.count +
          static_cast<std::int64_t>(entry % here);
      part.data = send ? source : target;
      part.bytes = (send ? from : to).count[entry] * row_bytes;
      part.type = op.type;
      part.pace = pace;
      part.device = &device;
      part.marks = index * kMarksOfOp;
      if (in_step) part.turn = turn_[static_cast<std::size_t>(index)];
    }
  }
}

bool Executor::exchange(std::int32_t index, Pace& pace, Ledger* ledger, TimePoint& begin) {
  const Op& op = op_at(index);
  const Group& group = program_.groups[static_cast<std::size_t>(op.group)];
  const std::size_t ranks = group.ranks.size();
  const auto me = static_cast<std::size_t>(
      std::lower_bound(group.ranks.begin(), group.ranks.end(), rank_.rank) - group.ranks.begin());
  if (!lay_out_rows(index, ranks)) return false;
  const bool by_counts = rank_.operands_of(op).size() == 4;
  const std::int64_t row_bytes = size_of(op.type) * (by_counts ? program_.shape.C : 1);
  LaneState& lane = lane_of(index);
  if (by_counts) {  // what stays on this rank takes no time
    const std::int64_t leaving = lane.rows.from.rows() - lane.rows.from.rows_of(me, ranks);
    const std::int64_t coming = lane.rows.to.rows() - lane.rows.to.rows_of(me, ranks);
    const auto n = static_cast<std::int64_t>(ranks);
    const std::int64_t even = op.bytes / n * (n - 1);
    pace.duration = Nanoseconds{static_cast<std::int64_t>(
        static_cast<double>(pace.duration.count()) *
        static_cast<double>(std::max(leaving, coming) * row_bytes) / static_cast<double>(even))};
  }
  message_rows(index, me, row_bytes, pace, ledger != nullptr);
  if (Result<void> done = transport_.transfer(lane.parts); !done) return false;
  std::int64_t sent = 0, received = 0;
  for (const TransferPart& part : lane.parts) {
    pace.ready = std::max(pace.ready, part.pace.ready);
    pace.modelled = std::max(pace.modelled, part.pace.modelled);
    pace.duration = std::max(pace.duration, part.pace.duration);
    begin = std::max(begin, part.met);
    (part.send ? sent : received) += part.moved;
  }
  if (ledger == nullptr) return true;
  ledger->count(group.axis, name_of(op.collective), op.purpose, sent, received);
  sent_[static_cast<std::size_t>(index)] = sent;
  return true;
}

}  // namespace parallelarium
