// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/executor/executor.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "engine/plan/text/describe_op.h"
#include "engine/run/collective/combine_op.h"
#include "engine/run/gpu/nccl/nccl_joins.h"
#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {

namespace {

// joined_collectives() of one rank.
std::vector<bool> joined_of(const Program& program, const RankProgram& rank) {
  std::vector<std::vector<bool>> all = joined_collectives(program);
  for (std::size_t i = 0; i < program.ranks.size(); ++i)
    if (program.ranks[i].rank == rank.rank) return std::move(all[i]);
  return {};
}

}  // namespace

Executor::Executor(const Program& program, const RankProgram& rank, Transport& transport,
                   LaneDevices& devices, Arena& arena, Stop& stop, RankProgress& progress,
                   std::vector<Nanoseconds> durations, double slow)
    : program_(program),
      rank_(rank),
      transport_(transport),
      devices_(devices),
      arena_(arena),
      stop_(stop),
      progress_(progress),
      durations_(std::move(durations)),
      slow_(slow),
      behind_(devices[0]->runs_behind()),
      waits_(behind_ ? plan_events(rank) : EventWaits{}),
      joined_(behind_ && transport.joins_collectives() ? joined_of(program, rank)
                                                       : std::vector<bool>{}),
      place_in_lane_(rank.ops.size(), 0),
      stretches_(rank.ops.size()),
      sequence_(rank.ops.size(), 0),
      meetings_(rank.ops.size(), 0),
      turn_(issue_turns(rank)),
      spans_(rank.ops.size()),
      sent_(rank.ops.size(), 0),
      slots_(durations_.size()),
      ends_(behind_ ? rank.ops.size() : 0),
      ideal_(rank.ops.size()) {
  std::map<std::tuple<std::int32_t, OpKind, std::int32_t>, std::int64_t> met;
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    const Op& op = rank.ops[i];
    LaneState& lane = lanes_[static_cast<std::size_t>(op.lane)];
    place_in_lane_[i] = static_cast<std::uint32_t>(lane.ops.size());
    lane.ops.push_back(static_cast<std::int32_t>(i));
    if (op.kind != OpKind::kCompute) {
      sequence_[i] = met[{op.group, op.kind, op.kind == OpKind::kCollective ? -1 : op.peer}]++;
    }
    if ((op.kind == OpKind::kSend || op.kind == OpKind::kRecv) && op.operand_count > 1) {
      for (const Operand& operand : rank.operands_of(op))
        stretches_[i].push_back({arena.address(operand), operand.count * size_of(operand.type)});
    }
  }
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    const Op& op = rank.ops[i];
    if (op.kind != OpKind::kCompute)
      meetings_[i] = met[{op.group, op.kind, op.kind == OpKind::kCollective ? -1 : op.peer}];
  }
  if (devices_[0]->names_ops())
    for (const Op& op : rank.ops) names_.push_back(describe(op).text);
  for (const std::unique_ptr<Device>& device : devices_) {
    device->reserve_marks(static_cast<std::int32_t>(rank.ops.size()) * kMarksOfOp);
  }
  for (const Lane lane : {Lane::kPipeline, Lane::kData}) {
    LaneState& state = lanes_[static_cast<std::size_t>(lane)];
    if (state.ops.empty()) continue;
    try {
      state.thread = std::thread([this, lane] { lane_thread(lane); });
    } catch (const std::system_error&) {
      // The destructor will not run, and the threads that did start read this object.
      stop_.raise(
          message("threads-short.rank", "This computer gives rank {} no more threads.", rank.rank));
      for (LaneState& started : lanes_) {
        if (started.thread.joinable()) started.thread.join();
      }
      throw;
    }
  }
}

Executor::~Executor() {
  if (behind_) end_following();
  quit_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  Stop::wake(round_);
  for (LaneState& lane : lanes_) {
    if (lane.thread.joinable()) lane.thread.join();
  }
}

void Executor::lane_thread(Lane lane) {
  ask_for_precise_sleep();
  ask_for_prompt_turns();
  for (std::uint32_t round = 0;; ++round) {
    if (!stop_.wait_while(round_, round)) return;
    if (quit_.load(std::memory_order_relaxed) || !run_lane(lane)) return;
  }
}

Result<TimePoint> Executor::meet() {
  LaneProgress& progress = progress_.lanes.front();
  progress.set(-1, Doing::kMeeting);
  const Result<TimePoint> start = transport_.barrier();
  progress.set(-1, Doing::kNothing);
  return start;
}

Result<void> Executor::step(TimePoint start, const StepScalars& scalars, StepRecord& record) {
  start_ = start;
  scalars_ = scalars;
  reads_cpu_time_ = record.wants_cpu_time && !behind_;
  for (LaneState& lane : lanes_) {
    lane.done.store(0, std::memory_order_relaxed);
    lane.ledger.clear();
    lane.passed = 0;
    lane.ahead = 0;
  }
  if (behind_) begin_to_follow();
  round_.fetch_add(1, std::memory_order_release);
  const bool threads = std::any_of(lanes_.begin(), lanes_.end(),
                                   [](const LaneState& lane) { return lane.thread.joinable(); });
  if (threads) Stop::wake(round_);
  if (!run_lane(Lane::kCompute)) return stopped();
  for (LaneState& lane : lanes_) {
    if (!lane.ops.empty() && !await(Lane::kCompute, lane.ops.back())) return stopped();
  }
  if (behind_ && !(follow_lanes() && finish_lanes() && read_marks())) return stopped();
  record.spans = spans_;
  record.slots = slots_;
  record.clock_error = clock_error_;
  record.host_time = host_time_;
  record.memory = arena_.take_peaks();
  record.cpu_time = record.modelled_end = Nanoseconds{0};
  Ledger ledger;
  for (const LaneState& lane : lanes_) {
    ledger.add(lane.ledger);
    record.cpu_time += lane.cpu_time;
  }
  record.compute_cpu_time = lanes_[static_cast<std::size_t>(Lane::kCompute)].cpu_time;
  record.traffic = ledger.rows();
  record.sent_bytes = sent_;
  for (const Ideal& ideal : ideal_)
    record.modelled_end = std::max(record.modelled_end, ideal.modelled);
  record.compute_given = Nanoseconds{0};
  for (std::size_t op = 0; op < slots_.size(); ++op)
    if (rank_.ops[op].lane == Lane::kCompute)
      record.compute_given += std::max(slots_[op].length, slots_[op].work);
  // A rank may begin its next step while its peers still leave this one.
  for (std::size_t i = 0; i < sequence_.size(); ++i) sequence_[i] += meetings_[i];
  return {};
}

// Runs the lane's ops in order; ops of one batch are one unit.
bool Executor::run_lane(Lane lane) {
  LaneState& state = lanes_[static_cast<std::size_t>(lane)];
  LaneProgress& progress = progress_.lanes[static_cast<std::size_t>(lane)];
  const Nanoseconds cpu_before = reads_cpu_time_ ? thread_cpu_time() : Nanoseconds{0};
  Ideal ideal;
  const std::vector<std::int32_t>& ops = state.ops;
  for (std::size_t first = 0; first < ops.size();) {
    std::size_t end = first + 1;
    const std::int32_t batch = op_at(ops[first]).batch;
    while (batch >= 0 && end < ops.size() && op_at(ops[end]).batch == batch) ++end;
    while (!joined_.empty() && end < ops.size() && joined_[static_cast<std::size_t>(ops[end])])
      ++end;
    if (behind_ && !keep_close(lane, first, end - first)) return false;
    if (!run_unit(lane, {ops.data() + first, end - first}, ideal)) return false;
    // Before the last op is published: afterwards the step may be over.
    if (reads_cpu_time_ && end == ops.size()) state.cpu_time = thread_cpu_time() - cpu_before;
    publish(lane, end);
    first = end;
  }
  if (!behind_) progress.set(-1, Doing::kNothing);
  return true;
}

bool Executor::run_unit(Lane lane, std::span<const std::int32_t> unit, Ideal& lane_ideal) {
  LaneProgress& progress = progress_.lanes[static_cast<std::size_t>(lane)];
  const bool paced = !durations_.empty();
  Pace pace{lane_ideal.end, lane_ideal.modelled, {}};
  Ideal ideal;
  progress.set(unit.front(), Doing::kAwaitingOps);
  for (const std::int32_t index : unit) {
    for (const std::int32_t earlier : rank_.after_of(op_at(index))) {
      if (!await(lane, earlier)) return false;
      pace.ready = std::max(pace.ready, ideal_[static_cast<std::size_t>(earlier)].end);
      pace.modelled = std::max(pace.modelled, ideal_[static_cast<std::size_t>(earlier)].modelled);
    }
  }
  if (paced) pace.duration = duration_of(unit.front());
  const Op& op = op_at(unit.front());
  Device& device = *devices_[static_cast<std::size_t>(lane)];
  if (behind_) {
    for (const std::int32_t earlier : waits_[static_cast<std::size_t>(unit.front())])
      device.wait(device_of(earlier), earlier * kMarksOfOp + kEndedMark);
  }
  if (!probe(unit, device, false)) return false;
  for (const std::int32_t index : unit) arena_.begin(index);
  // A transfer begins when its sides have met; reading the clock costs as much as a small message.
  const bool transfers = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
  TimePoint begin = transfers ? TimePoint{} : Clock::now();
  Nanoseconds real_work{0};
  Ledger& ledger = lanes_[static_cast<std::size_t>(lane)].ledger;
  if (!names_.empty()) device.enter_op(names_[static_cast<std::size_t>(unit.front())].c_str());
  // Until a communication stands in the stream, the device has not arrived at it.
  progress.set(unit.front(), op.kind == OpKind::kCompute ? Doing::kComputing
                             : behind_                   ? Doing::kAwaitingOps
                                                         : Doing::kTransferring);
  const bool good = execute(unit, scalars_, pace, ideal, &ledger, begin, real_work);
  if (!names_.empty()) device.leave_op();
  if (!good || !probe(unit, device, true)) return false;
  if (behind_) {
    for (const std::int32_t index : unit) device.mark(index * kMarksOfOp + kEndedMark);
  }
  if (op.kind == OpKind::kCompute || op.kind == OpKind::kCollective) {
    ideal = {pace.ready + std::max(pace.duration, real_work), pace.modelled + pace.duration};
  }
  if (paced && op.kind == OpKind::kCompute)
    slots_[static_cast<std::size_t>(unit.front())] = {pace.duration, real_work};
  for (const std::int32_t index : unit) {
    arena_.end(index, device);
  }
  if (paced) {
    lane_ideal = ideal;
    progress.set(unit.front(), Doing::kPacing);
    if (!stop_.sleep_until(start_ + lane_ideal.end)) return false;
  }
  const Span span{begin - start_, Clock::now() - start_};
  for (const std::int32_t index : unit) {
    spans_[static_cast<std::size_t>(index)] = span;
    ideal_[static_cast<std::size_t>(index)] = lane_ideal;
  }
  return !stop_.raised();
}

bool Executor::await(Lane me, std::int32_t op) {
  LaneState& lane = lane_of(op);
  const std::uint32_t needed = place_in_lane_[static_cast<std::size_t>(op)] + 1;
  std::uint32_t done = lane.done.load(std::memory_order_acquire);
  if (done >= needed) return true;
  std::atomic<std::uint32_t>& awaited = lane.awaited[static_cast<std::size_t>(me)];
  awaited.store(needed);
  while ((done = lane.done.load()) < needed) {
    if (!stop_.wait_while(lane.done, done)) break;
  }
  awaited.store(0);
  return done >= needed;
}

void Executor::publish(Lane lane, std::size_t count) {
  LaneState& state = lanes_[static_cast<std::size_t>(lane)];
  const auto done = static_cast<std::uint32_t>(count);
  state.done.store(done);
  for (const std::atomic<std::uint32_t>& awaited : state.awaited) {
    const std::uint32_t needed = awaited.load();
    if (needed == 0 || needed > done) continue;
    Stop::wake(state.done);
    return;
  }
}

bool Executor::execute(std::span<const std::int32_t> unit, const StepScalars& scalars, Pace& pace,
                       Ideal& ideal, Ledger* ledger, TimePoint& begin, Nanoseconds& real_work) {
  const std::int32_t first = unit.front();
  try {
    switch (op_at(first).kind) {
      case OpKind::kCompute:
        return compute(first, scalars, real_work);
      case OpKind::kCollective:
        return collectives(unit, pace, ledger, begin);
      case OpKind::kSend:
      case OpKind::kRecv:
        return transfer(unit, pace, ideal, ledger, begin);
    }
  } catch (const std::exception& error) {
    fail(first, message("device-threw", "{}", error.what()));
  }
  return false;
}

bool Executor::probe(std::span<const std::int32_t> unit, Device& device, bool done) {
  for (OpProbe* const probe : probes_) {
    for (const std::int32_t index : unit) {
      const Result<void> looked = done ? probe->after(index, device) : probe->before(index, device);
      if (looked) continue;
      fail(index, looked.error());
      return false;
    }
  }
  return true;
}

bool Executor::compute(std::int32_t index, const StepScalars& scalars, Nanoseconds& real_work) {
  const Op& op = op_at(index);
  Device& device = *devices_[static_cast<std::size_t>(op.lane)];
  // Asked of the system only in a rehearsal: it costs as much as a small message.
  const bool paced = !durations_.empty();
  const Nanoseconds before = paced || slow_ > 1 ? thread_cpu_time() : Nanoseconds{0};
  Result<void> done = op.piece == Piece::kCombine
                          ? combine_op(device, program_, rank_, op, arena_.base())
                          : execute_op(device, program_.shape, rank_, op, arena_.base(), scalars);
  if (done) done = behind_ ? device.launched() : device.finish();
  if (!done) {
    fail(index, done.error());
    return false;
  }
  if (paced) real_work = thread_cpu_time() - before;
  if (slow_ > 1) {
    const Nanoseconds work = thread_cpu_time() - before;
    const auto all = Nanoseconds{std::llround(static_cast<double>(work.count()) * slow_)};
    while (thread_cpu_time() - before < all && !stop_.raised()) {
    }
  }
  return true;
}

Result<void> Executor::forward(int microbatches) {
  const auto belongs = [&](const Op& op) {
    return op.phase == Phase::kForward && op.microbatch < microbatches;
  };
  StepScalars scalars = scalars_;
  scalars.training = false;
  LaneProgress& progress = progress_.lanes[static_cast<std::size_t>(Lane::kCompute)];
  for (std::size_t i = 0; i < rank_.ops.size(); ++i) {
    if (!belongs(rank_.ops[i])) continue;
    const auto index = static_cast<std::int32_t>(i);
    Ideal ideal;
    TimePoint begin;
    Nanoseconds real_work{0};
    const bool computes = rank_.ops[i].kind == OpKind::kCompute;
    progress.set(index, computes ? Doing::kComputing : Doing::kTransferring);
    Pace pace;
    // Transfers that go together are issued together.
    std::vector<std::int32_t> unit = {index};
    while (rank_.ops[i].batch >= 0 && i + 1 < rank_.ops.size() && belongs(rank_.ops[i + 1]) &&
           rank_.ops[i + 1].batch == rank_.ops[i].batch) {
      unit.push_back(static_cast<std::int32_t>(++i));
    }
    if (!execute(unit, scalars, pace, ideal, nullptr, begin, real_work)) return stopped();
    // All lanes' ops go one after another here.
    if (Result<void> done = device_of(index).finish(); !done) {
      fail(index, done.error());
      return stopped();
    }
    if (stop_.raised()) return stopped();
  }
  progress.set(-1, Doing::kNothing);
  return {};
}

bool Executor::outside(const Message& why) {
  stop_.raise(passed_on(
      message("rank-failed.step", "Rank {} failed in its step: {}", rank_.rank, why), why));
  return false;
}

void Executor::fail(std::int32_t op, const Message& why) {
  stop_.raise(passed_on(
      message("rank-failed", "Rank {} failed in {}: {}", rank_.rank, describe(op_at(op)), why),
      why));
}

}  // namespace parallelarium
