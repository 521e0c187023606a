// SPDX-License-Identifier: Apache-2.0
#include "engine/run/arena.h"

#include <algorithm>
#include <tuple>

namespace parallelarium {

namespace {

constexpr std::byte kNotANumber{0xff};  // all ones: a NaN in every floating-point type

}  // namespace

Arena::Arena(DeviceStream& device, const RankProgram& rank, bool poison)
    : device_(device),
      rank_(rank),
      poison_(poison),
      opens_(rank.ops.size()),
      closes_(rank.ops.size()),
      uses_(poison ? rank.ops.size() : 0),
      users_(rank.buffers.size(), 0) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < rank.buffers.size(); ++i) {
    const Buffer& buffer = rank.buffers[i];
    if (buffer.opened_by < 0) continue;
    opens_[static_cast<std::size_t>(buffer.opened_by)].push_back(static_cast<std::int32_t>(i));
    closes_[static_cast<std::size_t>(buffer.closed_by)].push_back(static_cast<std::int32_t>(i));
    largest = std::max(largest, buffer.bytes);
  }
  if (!poison) return;
  for (std::size_t op = 0; op < rank.ops.size(); ++op) {
    for (const Operand& operand : rank.operands_of(rank.ops[op])) {
      if (rank.buffers[static_cast<std::size_t>(operand.buffer)].opened_by < 0) continue;
      if (std::find(uses_[op].begin(), uses_[op].end(), operand.buffer) != uses_[op].end())
        continue;
      uses_[op].push_back(operand.buffer);
      ++users_[static_cast<std::size_t>(operand.buffer)];
    }
  }
  users_left_ = std::make_unique<std::atomic<std::int32_t>[]>(rank.buffers.size());
  for (std::size_t i = 0; i < rank.buffers.size(); ++i) users_left_[i].store(users_[i]);
  pattern_.assign(static_cast<std::size_t>(largest), kNotANumber);
}

Result<std::unique_ptr<Arena>> Arena::make(DeviceStream& device, const RankProgram& rank,
                                           bool poison) {
  std::unique_ptr<Arena> arena(new Arena(device, rank, poison));
  Result<std::byte*> base = device.allocate(std::max<std::int64_t>(rank.arena_bytes, 1));
  if (!base) return base.error();
  arena->base_ = *base;
  if (Result<void> done = arena->clear(); !done) return done.error();
  return arena;
}

Result<void> Arena::clear() {
  device_.zero(base_, rank_.arena_bytes);
  if (poison_) {
    for (std::size_t i = 0; i < rank_.buffers.size(); ++i) {
      if (rank_.buffers[i].opened_by >= 0) poison_buffer(static_cast<std::int32_t>(i), device_);
    }
  }
  return device_.finish();
}

Arena::~Arena() { device_.release(base_); }

std::byte* Arena::address(const Operand& operand) const {
  return base_ + rank_.buffers[static_cast<std::size_t>(operand.buffer)].offset +
         operand.offset * size_of(operand.type);
}

std::byte* Arena::held(Tensor tensor) const {
  for (const Buffer& buffer : rank_.buffers) {
    if (buffer.opened_by < 0 && buffer.tensor == tensor) return base_ + buffer.offset;
  }
  return nullptr;
}

void Arena::begin(std::int32_t op) {
  const auto lane = static_cast<std::size_t>(rank_.ops[static_cast<std::size_t>(op)].lane);
  for (const std::int32_t i : opens_[static_cast<std::size_t>(op)]) {
    const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(i)];
    changes_[lane].push_back({op, false, static_cast<int>(buffer.category), buffer.bytes});
  }
}

void Arena::end(std::int32_t op, DeviceStream& device) {
  const auto lane = static_cast<std::size_t>(rank_.ops[static_cast<std::size_t>(op)].lane);
  for (const std::int32_t i : closes_[static_cast<std::size_t>(op)]) {
    const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(i)];
    changes_[lane].push_back({op, true, static_cast<int>(buffer.category), -buffer.bytes});
  }
  if (!poison_) return;
  // The op that closes a buffer is the last in the Program's order; another lane's may end later.
  for (const std::int32_t i : uses_[static_cast<std::size_t>(op)]) {
    std::atomic<std::int32_t>& left = users_left_[static_cast<std::size_t>(i)];
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      left.store(users_[static_cast<std::size_t>(i)], std::memory_order_relaxed);  // the next step
      poison_buffer(i, device);
    }
  }
}

void Arena::poison_buffer(std::int32_t buffer, DeviceStream& device) {
  const Buffer& closed = rank_.buffers[static_cast<std::size_t>(buffer)];
  device.copy_to_device(base_ + closed.offset, pattern_.data(), closed.bytes);
}

MemoryRow Arena::take_peaks() {
  std::vector<Change> changes;
  for (std::vector<Change>& lane : changes_) {
    changes.insert(changes.end(), lane.begin(), lane.end());
    lane.clear();
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.op, a.closes) < std::tie(b.op, b.closes);
  });
  std::int64_t open[kCategories] = {};
  std::int64_t all = 0;
  for (const Buffer& buffer : rank_.buffers) {
    if (buffer.opened_by < 0) {
      open[static_cast<int>(buffer.category)] += buffer.bytes;
      all += buffer.bytes;
    }
  }
  MemoryRow row;
  row.rank = rank_.rank;
  row.stage = rank_.stage;
  std::copy(std::begin(open), std::end(open), std::begin(row.bytes));
  row.peak_bytes = all;
  for (const Change& change : changes) {
    open[change.category] += change.bytes;
    all += change.bytes;
    row.bytes[change.category] = std::max(row.bytes[change.category], open[change.category]);
    row.peak_bytes = std::max(row.peak_bytes, all);
  }
  return row;
}

}  // namespace parallelarium
