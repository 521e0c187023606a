// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/probe_program.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/run/cpu/fabric.h"
#include "engine/run/train/executor/executor.h"

namespace parallelarium {

ProbeProgram::ProbeProgram(int ranks, std::int64_t bytes) {
  program_.world = ranks;
  program_.shape.B = program_.shape.T = 1;
  program_.shape.C = 16;
  Group group{Axis::kWorld, {}};
  for (int rank = 0; rank < ranks; ++rank) group.ranks.push_back(rank);
  program_.groups = {group};
  program_.ranks.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    RankProgram& rank = program_.ranks[static_cast<std::size_t>(r)];
    rank.rank = r;
    Buffer buffer;
    buffer.bytes = rank.arena_bytes = std::max<std::int64_t>(bytes, 64);
    buffer.offset = 0;
    rank.buffers = {buffer};
  }
}

void ProbeProgram::compute(int rank) {
  Op op;
  op.piece = Piece::kResidual1;
  add(rank, op,
      {{0, Access::kRead, DataType::kF32, -1, 0, 16},
       {0, Access::kRead, DataType::kF32, -1, 0, 16},
       {0, Access::kWrite, DataType::kF32, -1, 0, 16}});
}

void ProbeProgram::lead(int rank, const ProbeLead& lead) {
  Op op;
  op.piece = Piece::kZeroGrad;
  op.phase = Phase::kUpdate;
  for (int i = 0; i < lead.times; ++i)
    add(rank, op, {{0, Access::kWrite, DataType::kF32, -1, 0, lead.bytes / 4}});
}

void ProbeProgram::transfer(int from, int to, std::int64_t bytes) {
  for (const bool send : {true, false}) {
    Op op;
    op.kind = send ? OpKind::kSend : OpKind::kRecv;
    op.lane = Lane::kPipeline;
    op.piece = Piece::kTransfer;
    op.peer = send ? to : from;
    op.group = 0;
    op.bytes = bytes;
    const Access access = send ? Access::kRead : Access::kWrite;
    add(send ? from : to, op, {{0, access, DataType::kF32, -1, 0, bytes / 4}});
  }
}

void ProbeProgram::collective(CollectiveKind kind, std::int64_t bytes) {
  Op op;
  op.kind = OpKind::kCollective;
  op.piece = Piece::kTransfer;
  op.collective = kind;
  op.group = 0;
  op.bytes = bytes;
  if (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter)
    op.reduction = Reduction::kSum;
  for (int rank = 0; rank < program_.world; ++rank)
    add(rank, op, {{0, Access::kAccumulate, DataType::kF32, -1, 0, bytes / 4}});
}

void ProbeProgram::add(int rank_index, Op op, const std::vector<Operand>& operands) {
  RankProgram& rank = program_.ranks[static_cast<std::size_t>(rank_index)];
  op.operand_first = static_cast<std::int32_t>(rank.operands.size());
  op.operand_count = static_cast<std::int32_t>(operands.size());
  rank.operands.insert(rank.operands.end(), operands.begin(), operands.end());
  op.after_first = static_cast<std::int32_t>(rank.after.size());
  if (!rank.ops.empty() && rank.ops.back().lane != op.lane) {
    rank.after.push_back(static_cast<std::int32_t>(rank.ops.size()) - 1);
    op.after_count = 1;
  }
  rank.ops.push_back(op);
}

namespace {

struct ProbeRank {
  LaneDevices devices;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Transport> transport;
  std::vector<std::vector<Span>> spans;  // [repeat][op]
};

// Errors have been given to `stop`, but for those of devices.
Result<void> probe_rank(const Program& program, std::size_t index, ProbeRank& mine, int repeats,
                        Stop& stop) {
  RankProgress progress;
  Executor executor(program, program.ranks[index], *mine.transport, mine.devices, *mine.arena, stop,
                    progress, {});
  if (Result<void> done = executor.load(); !done) return done;
  if (Result<void> met = mine.transport->connect(); !met) return met;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (Result<void> done = executor.align(); !done) return done;
    const Result<TimePoint> start = mine.transport->barrier();
    if (!start) return start.error();
    StepRecord record;
    if (Result<void> done = executor.step(*start, {}, record); !done) return done;
    mine.spans.push_back(std::move(record.spans));
  }
  // Nobody frees its arena while another may still copy from it.
  if (Result<TimePoint> all = mine.transport->barrier(); !all) return all.error();
  return mine.transport->close();
}

}  // namespace

ProbeSpans run_probe(const Program& program, int repeats, Stop& stop, const LaunchOptions& options,
                     double limit_seconds) {
  const std::size_t count = program.ranks.size();
  CpuFabric fabric(program.world, program.groups, stop);
  std::vector<ProbeRank> ranks(count);
  for (std::size_t i = 0; i < count; ++i) {
    ProbeRank& rank = ranks[i];
    for (int lane = 0; lane < kLanes; ++lane)
      rank.devices[static_cast<std::size_t>(lane)] =
          options.make_device(program.ranks[i].rank, static_cast<Lane>(lane));
    Result<std::unique_ptr<Arena>> arena =
        Arena::make(*rank.devices[0], program.ranks[i], options.poison);
    if (!arena) {
      stop.raise(arena.error());
      return {};
    }
    rank.arena = std::move(*arena);
    rank.transport = fabric.transport(program.ranks[i].rank);
    if (options.make_transport)
      rank.transport = options.make_transport(
          {program, program.ranks[i], stop, *rank.devices[0], std::move(rank.transport)});
  }
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t running = count;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      if (Result<void> done = probe_rank(program, i, ranks[i], repeats, stop);
          !done && !stop.raised())
        stop.raise(done.error());
      for (const std::unique_ptr<Device>& device : ranks[i].devices)
        static_cast<void>(device->finish());
      const std::lock_guard lock(mutex);
      --running;
      ended.notify_one();
    });
  }
  {
    const TimePoint begin = Clock::now();
    std::unique_lock lock(mutex);
    while (running > 0) {
      ended.wait_for(lock, std::chrono::milliseconds{20});
      if (std::chrono::duration<double>(Clock::now() - begin).count() > limit_seconds)
        stop.raise(message("calibration-hangs",
                           "The ranks of a calibration did not meet within {} s; calibrate again, "
                           "or see `devices` for what may keep them apart.",
                           fmt::format("{:.3g}", limit_seconds)));
      if (!stop.raised()) continue;
      lock.unlock();
      for (ProbeRank& rank : ranks) rank.transport->abort();
      lock.lock();
    }
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t whole = ranks.front().spans.size();
  for (const ProbeRank& rank : ranks) whole = std::min(whole, rank.spans.size());
  ProbeSpans spans(whole);
  for (std::size_t repeat = 0; repeat < whole; ++repeat)
    for (ProbeRank& rank : ranks) spans[repeat].push_back(std::move(rank.spans[repeat]));
  return spans;
}

double probe_seconds(const ProbeSpans& spans, int rank, int first, int last, double quantile) {
  std::vector<double> seconds;
  for (const auto& repeat : spans) {
    const std::vector<Span>& ops = repeat[static_cast<std::size_t>(rank)];
    Nanoseconds begin = Nanoseconds::max(), end{0};
    for (int op = first; op <= last; ++op) {
      begin = std::min(begin, ops[static_cast<std::size_t>(op)].begin);
      end = std::max(end, ops[static_cast<std::size_t>(op)].end);
    }
    seconds.push_back(std::chrono::duration<double>(end - begin).count());
  }
  if (seconds.empty()) return 0;
  const auto chosen =
      seconds.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(seconds.size()));
  std::nth_element(seconds.begin(), chosen, seconds.end());
  return *chosen;
}

}  // namespace parallelarium
