// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/emit.h"

#include <algorithm>
#include <cassert>

namespace parallelarium {

namespace {

// Held tensors are found by tensor, not by slot.
bool is_held(Tensor tensor) { return tensor <= Tensor::kSquareSum; }

// Asks for the cache lines that the table grows into next. Ranks take turns, and all their tables
// are more streams than a processor foresees.
template <class Row>
void fetch_ahead(const std::vector<Row>& table) {
  constexpr std::ptrdiff_t kLine = 64;
  const auto* end = reinterpret_cast<const char*>(table.data() + table.size());
  __builtin_prefetch(end + kLine, 1);
  __builtin_prefetch(end + 2 * kLine, 1);
}

}  // namespace

void RankEmitter::hold(Tensor tensor, std::int64_t bytes) {
  assert(is_held(tensor) && !holds(tensor));
  held_[static_cast<std::size_t>(tensor)] = static_cast<std::int32_t>(rank_.buffers.size());
  Buffer buffer;
  buffer.tensor = tensor;
  buffer.category = category_of(tensor);
  buffer.bytes = bytes;
  rank_.buffers.push_back(buffer);
  touched_.push_back({-1, -1, -1});
  passed_on_.push_back(-1);
}

bool RankEmitter::holds(Tensor tensor) const {
  return is_held(tensor) && held_[static_cast<std::size_t>(tensor)] >= 0;
}

void RankEmitter::number_slots(std::vector<Draft>& drafts, SlotNumbers& numbers) {
  for (Draft& draft : drafts) {
    for (DraftOperand& operand : draft.operands) {
      if (is_held(operand.tensor)) continue;
      const auto next = static_cast<std::int32_t>(numbers.size());
      // A bucket's temporary buffer is told from others by the bucket.
      const int key =
          operand.bucket >= 0 ? kBuckets + operand.bucket : slot_key(operand.layer, operand.part);
      operand.slot = numbers.try_emplace({operand.tensor, key}, next).first->second;
    }
  }
}

void RankEmitter::register_work(std::vector<Draft>& drafts) {
  for (Draft& draft : drafts) {
    if (draft.op.kind != OpKind::kCompute || draft.op.work >= 0) continue;
    draft.op.work = static_cast<std::int32_t>(program_.works.size());
    program_.works.push_back(std::move(draft.work));
  }
}

std::int32_t RankEmitter::emit(const Draft& draft, const Place& place, SlotTable table,
                               std::int32_t needs) {
  const auto index = static_cast<std::int32_t>(rank_.ops.size());
  const auto lane = static_cast<std::size_t>(draft.op.lane);
  const auto operand_first = static_cast<std::int32_t>(rank_.operands.size());
  LaneOps needed = {-1, -1, -1};
  if (needs >= 0) needed[static_cast<std::size_t>(rank_.ops[needs].lane)] = needs;
  for (const DraftOperand& from : draft.operands) {
    std::int32_t buffer_index = -1;
    assert(is_held(from.tensor) || static_cast<std::size_t>(from.slot) < table.size());
    if (is_held(from.tensor)) {
      buffer_index = held_[static_cast<std::size_t>(from.tensor)];
      assert(buffer_index >= 0);
    } else {
      if (from.opens > 0) {
        table[from.slot] = static_cast<std::int32_t>(rank_.buffers.size());
        Buffer& buffer = rank_.buffers.emplace_back();
        buffer.tensor = from.tensor;
        buffer.category = category_of(from);
        buffer.layer = from.layer;
        buffer.microbatch = place.microbatch;
        buffer.bytes = from.opens;
        buffer.opened_by = index;
        touched_.push_back({-1, -1, -1});
        passed_on_.push_back(-1);
      }
      buffer_index = table[from.slot];
      assert(buffer_index >= 0);
      LaneOps& touched = touched_[buffer_index];
      for (int other = 0; other < kLanes; ++other)
        needed[other] = std::max(needed[other], touched[other]);
      // A ring's product or attention and the Send of the same tokens read them, and neither waits
      // for the other.
      if (const std::int32_t sent = passed_on_[buffer_index];
          sent >= 0 && from.access != Access::kRead) {
        const auto ring = static_cast<std::size_t>(rank_.ops[sent].lane);
        needed[ring] = std::max(needed[ring], sent);
      }
      if (passes_on(draft))
        passed_on_[buffer_index] = index;
      else
        touched[lane] = index;
      rank_.buffers[buffer_index].closed_by = index;
    }
    rank_.operands.push_back({buffer_index, from.access, from.type, from.shard,
                              from.offset + from.per_microbatch * std::max(0, place.microbatch),
                              from.count});
  }
  // Written in place and not read again: the table is larger than a cache.
  Op& op = rank_.ops.emplace_back(draft.op);
  op.microbatch = place.microbatch;
  op.chunk = place.chunk;
  op.action = place.action;
  op.operand_first = operand_first;
  op.operand_count = static_cast<std::int32_t>(draft.operands.size());
  op.after_first = static_cast<std::int32_t>(rank_.after.size());
  for (std::size_t other = 0; other < kLanes; ++other)
    if (other != lane && needed[other] >= 0) rank_.after.push_back(needed[other]);
  op.after_count = static_cast<std::int32_t>(rank_.after.size()) - op.after_first;
  last_[lane] = index;
  fetch_ahead(rank_.ops);
  fetch_ahead(rank_.operands);
  fetch_ahead(rank_.buffers);
  fetch_ahead(touched_);
  return index;
}

std::int32_t RankEmitter::group(Axis axis, std::vector<int> ranks) {
  if (ranks.size() < 2) return -1;
  for (std::size_t i = 0; i < program_.groups.size(); ++i) {
    if (program_.groups[i].axis == axis && program_.groups[i].ranks == ranks) {
      return static_cast<std::int32_t>(i);
    }
  }
  program_.groups.push_back({axis, std::move(ranks)});
  return static_cast<std::int32_t>(program_.groups.size()) - 1;
}

}  // namespace parallelarium
