// SPDX-License-Identifier: Apache-2.0
// The end of a step on devices that run behind: what they have come to, and when.
#include <algorithm>
#include <thread>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/run/train/executor/executor.h"
#include "kernels/attention/attention.h"

namespace parallelarium {

namespace {
// Clocks drift by some millionths; to tie them takes a good part of a millisecond, in which a GPU
// has nothing to do.
constexpr auto kAlignEvery = std::chrono::milliseconds{50};
constexpr auto kLookAtMarks = std::chrono::microseconds{50};
// Launches of a lane, which last longer than a look. CUDA takes some thousand of a stream, and whom
// it keeps waiting nobody can stop.
constexpr std::int64_t kMostAhead = 512;

// Launches of an op, marks among them, or a few more.
std::int64_t launches_of(const Op& op, const Shape& shape) {
  constexpr std::int64_t kFew = 8;
  if (op.kind != OpKind::kCompute) return kFew;
  const std::int64_t ranks = shape.T > 0 ? shape.sequence / shape.T : 1;  // that cut a sequence
  switch (op.piece) {
    case Piece::kAttention: {  // blocks, or products of each sequence and each head of a group
      if (shape.fused) return kFew * ranks;
      const std::int64_t turns = shape.B * turns_of_attention(shape);
      if (op.phase != Phase::kInputGrad) return 2 * turns + kFew;
      const std::int64_t at_once =
          heads_at_once({shape.B, shape.sequence, shape.H, shape.K, shape.D}, sizeof(float));
      const std::int64_t each = 5 * ((shape.K + at_once - 1) / at_once) + masks_of_turn(shape);
      return each * turns + kFew;
    }
    case Piece::kPermute:
      return kFew + ranks * std::max<std::int64_t>(shape.B, 3);
    case Piece::kExpert: {
      // With an operand more, its activation is computed again.
      const bool again = op.phase == Phase::kInputGrad && op.operand_count > 7;
      return kFew + (launches_of_expert(op.phase) + (again ? 1 : 0)) * shape.experts.model.count /
                        shape.experts.ranks;
    }
    default:  // tokens of CP's runs, or all parts of parameters
      return std::max<std::int64_t>(ranks > 1 ? kFew * shape.B : kFew, op.operand_count);
  }
}
}  // namespace

Result<void> Executor::align() {
  const TimePoint now = Clock::now();
  if (now - aligned_ < kAlignEvery) return {};
  aligned_ = now;
  clock_error_ = Nanoseconds{0};
  for (std::size_t lane = 0; lane < devices_.size(); ++lane) {
    const Result<Nanoseconds> error =
        devices_[lane]->align(lane > 0 ? devices_.front().get() : nullptr);
    if (!error) {
      outside(error.error());
      return stopped();
    }
    clock_error_ = std::max(clock_error_, *error);
  }
  return {};
}

// Before ops of the lane, from `place` on, are launched: waits until the device is close enough.
bool Executor::keep_close(Lane lane, std::size_t place, std::size_t count) {
  LaneState& state = lanes_[static_cast<std::size_t>(lane)];
  const auto launches_at = [&](std::size_t at) {
    return launches_of(op_at(state.ops[at]), program_.shape);
  };
  for (std::size_t at = place; at < place + count; ++at) state.ahead += launches_at(at);
  if (state.ahead <= kMostAhead) return true;
  // A quarter more than it must, so that it looks but now and then.
  while (state.ahead > kMostAhead * 3 / 4 && state.passed < place)
    state.ahead -= launches_at(state.passed++);
  if (state.passed == 0) return true;
  const std::int32_t op = state.ops[state.passed - 1];
  Device& device = device_of(op);
  while (!device.passed(op * kMarksOfOp + kEndedMark)) {
    if (Result<void> good = device.launched(); !good) return outside(good.error());
    if (stop_.raised()) return false;
    std::this_thread::sleep_for(kLookAtMarks);
  }
  return true;
}

// Who watches may look from here on: marks of ops that have been published are of this step.
void Executor::begin_to_follow() {
  const std::lock_guard lock(progress_.following);
  for (LaneState& lane : lanes_) lane.ended = lane.read = 0;
  progress_.follow = [this] { static_cast<void>(follow()); };
  progress_.behind = true;
}
void Executor::end_following() {
  const std::lock_guard lock(progress_.following);
  progress_.follow = nullptr;
}

// What is done is told by the end marks: so whoever watches sees where the devices are and not how
// far their hosts have come, and a hang names the op that a device did not get past. Whether all
// have ended everything. Under the mutex of progress_.
bool Executor::follow() {
  bool done = true;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    done = follow(static_cast<Lane>(lane)) && done;
  return done;
}

bool Executor::follow(Lane lane) {
  LaneState& state = lanes_[static_cast<std::size_t>(lane)];
  LaneProgress& progress = progress_.lanes[static_cast<std::size_t>(lane)];
  const auto has_ended = [&](std::int32_t op) {
    return device_of(op).passed(op * kMarksOfOp + kEndedMark);
  };
  // Later marks are those of the step before.
  const std::size_t launched = state.done.load(std::memory_order_acquire);
  while (state.ended < launched && has_ended(state.ops[state.ended])) ++state.ended;
  if (state.ended == state.ops.size()) {
    if (progress.doing.load() != Doing::kNothing) progress.set(-1, Doing::kNothing);
    return true;
  }
  // Of collectives that were issued together the last one stands for all.
  std::size_t at = state.ended;
  while (!joined_.empty() && at + 1 < launched &&
         joined_[static_cast<std::size_t>(state.ops[at + 1])])
    ++at;
  const std::int32_t op = state.ops[at];
  if (state.ended == launched) {  // the device waits for its host, which says itself what it does
    if (progress.op.load() != op) progress.set(op, Doing::kAwaitingOps);
    return false;
  }
  const bool computes = op_at(op).kind == OpKind::kCompute;
  const std::vector<std::int32_t>& waits = waits_[static_cast<std::size_t>(op)];
  const bool began = computes ? std::all_of(waits.begin(), waits.end(), has_ended)
                              : device_of(op).passed(op * kMarksOfOp + kBeganMark);
  const Doing doing = !began     ? Doing::kAwaitingOps
                      : computes ? Doing::kComputing
                                 : Doing::kTransferring;
  if (progress.op.load() != op || progress.doing.load() != doing) progress.set(op, doing);
  return false;
}

// Every lane's thread has launched everything and touches its device no more in this step.
bool Executor::follow_lanes() {
  while (!stop_.raised()) {
    for (const std::unique_ptr<Device>& device : devices_) {
      if (Result<void> good = device->launched(); !good) return outside(good.error());
    }
    {
      const std::lock_guard lock(progress_.following);
      const bool all = follow();
      if (!read_ends()) return false;
      if (all) {
        progress_.follow = nullptr;
        return true;
      }
    }
    std::this_thread::sleep_for(kLookAtMarks);
  }
  return false;
}

// When what has ended did so: of most ops while others are under way, so that a device does not
// wait for it between two steps. Under the mutex of progress_.
bool Executor::read_ends() {
  for (LaneState& lane : lanes_) {
    for (; lane.read < lane.ended; ++lane.read) {
      const std::int32_t op = lane.ops[lane.read];
      const auto end = device_of(op).time_of(op * kMarksOfOp + kEndedMark);
      if (!end) return outside(end.error());
      ends_[static_cast<std::size_t>(op)] = *end - start_;
    }
  }
  return true;
}

bool Executor::finish_lanes() {
  for (std::size_t lane = 0; lane < devices_.size(); ++lane) {
    if (lanes_[lane].ops.empty()) continue;
    if (Result<void> done = devices_[lane]->finish(); !done) return outside(done.error());
  }
  return !stop_.raised();
}

// A compute op begins when all that its stream waits for has ended and its host has come to it,
// whose times stand in spans_ so far; so it needs no mark of its own. All else says when it began.
bool Executor::read_marks() {
  host_time_ = Nanoseconds{0};
  for (const LaneState& lane : lanes_) {
    Nanoseconds before{0};  // the end of what stands before it in its stream
    for (const std::int32_t index : lane.ops) {
      const auto i = static_cast<std::size_t>(index);
      const Span host = spans_[i];
      spans_[i].end = ends_[i];
      if (op_at(index).kind == OpKind::kCompute) {
        Nanoseconds ready = before;
        for (const std::int32_t earlier : waits_[i])
          ready = std::max(ready, ends_[static_cast<std::size_t>(earlier)]);
        spans_[i].begin = std::min(std::max(ready, host.begin), ends_[i]);
        if (&lane == &lanes_.front())
          host_time_ += std::max(std::min(host.end, ends_[i]) - ready, Nanoseconds{0});
      } else {
        const auto begin = device_of(index).time_of(index * kMarksOfOp + kBeganMark);
        if (!begin) return outside(begin.error());
        spans_[i].begin = *begin - start_;
      }
      before = ends_[i];
    }
  }
  // Ops of a batch are one unit, from its first beginning; all end marks stand behind all of it,
  // and the first of them is the closest.
  for (LaneState& lane : lanes_) {
    for (std::size_t first = 0; first < lane.ops.size();) {
      std::size_t end = first + 1;
      const std::int32_t batch = op_at(lane.ops[first]).batch;
      while (batch >= 0 && end < lane.ops.size() && op_at(lane.ops[end]).batch == batch) ++end;
      Span unit = spans_[static_cast<std::size_t>(lane.ops[first])];
      for (std::size_t i = first; i < end; ++i) {
        const Span& part = spans_[static_cast<std::size_t>(lane.ops[i])];
        unit.begin = std::min(unit.begin, part.begin);
      }
      for (std::size_t i = first; i < end; ++i)
        spans_[static_cast<std::size_t>(lane.ops[i])] = unit;
      first = end;
    }
  }
  return true;
}

}  // namespace parallelarium
