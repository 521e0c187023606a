// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/link_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/plan/text/phrases.h"
#include "engine/run/gpu/check/kernels/kernel_check.h"
#include "engine/run/gpu/nccl/nccl_launch.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kMessageGuard = 64;  // behind a message: nobody writes there
constexpr auto kGuardByte = std::byte{0xA5};
constexpr auto kLinkPoll = std::chrono::microseconds{20};

// Small whole numbers: sums of 64 ranks are exact in bf16.
std::int64_t number_of(int rank, std::int64_t element) { return (rank * 7 + element * 3) % 5 - 2; }

void put(DataType type, std::byte* to, std::int64_t value) {
  if (type == DataType::kF32) {
    const auto number = static_cast<float>(value);
    std::memcpy(to, &number, sizeof number);
  } else {
    const Bf16 number = round_to_bf16(static_cast<float>(value));
    std::memcpy(to, &number, sizeof number);
  }
}
std::byte message_byte(const LinkStep& step, std::int64_t at) {
  return static_cast<std::byte>((at * 7 + step.from * 13 + step.to * 31 + 5) % 251);
}

// Of a collective: what rank `rank` holds before, and what element `at` has to be after; `checked`:
// whether anything is said of it.
std::int64_t before(const LinkStep& step, int rank, std::int64_t at, std::int64_t count) {
  if (step.kind == CollectiveKind::kAllGather) {
    const ChunkRange own = chunk_of(count, step.ranks, rank);
    if (at < own.begin || at >= own.end) return 99;
  }
  if (step.kind == CollectiveKind::kBroadcast && rank != 0) return 99;
  return number_of(rank, at);
}
std::int64_t after(const LinkStep& step, int rank, std::int64_t at, std::int64_t count,
                   bool& checked) {
  const int n = step.ranks;
  const ChunkRange own = chunk_of(count, n, rank);
  const auto reduced = [&] {
    std::int64_t sum = 0, most = number_of(0, at);
    for (int other = 0; other < n; ++other) {
      sum += number_of(other, at);
      most = std::max(most, number_of(other, at));
    }
    return step.reduction == Reduction::kMax ? most : sum;
  };
  checked = true;
  switch (step.kind) {
    case CollectiveKind::kAllReduce:
      return reduced();
    case CollectiveKind::kBroadcast:
      return number_of(0, at);
    case CollectiveKind::kAllGather:
      for (int other = 0; other < n; ++other)
        if (at < chunk_of(count, n, other).end) return number_of(other, at);
      return 0;
    case CollectiveKind::kReduceScatter:
      checked = at >= own.begin && at < own.end;
      return checked ? reduced() : 0;
    case CollectiveKind::kAllToAll: {
      const std::int64_t each = count / n;
      return number_of(static_cast<int>(at / each), own.begin + at % each);
    }
    default:
      checked = false;
      return 0;
  }
}

}  // namespace

LinkSession::LinkSession(const LinkRig& rig, std::vector<int> gpus, std::vector<LinkStep> steps)
    : rig_(rig),
      gpus_(std::move(gpus)),
      steps_(std::move(steps)),
      ranks_(gpus_.size()),
      results_(steps_.size()) {
  for (const LinkStep& step : steps_)
    most_bytes_ = std::max(most_bytes_, step.bytes + kMessageGuard);
  make_program();
  fabric_ = std::make_unique<CpuFabric>(program_.world, program_.groups, stop_);
}

LinkSession::~LinkSession() {
  for (Rank& rank : ranks_) {
    rank.transport.reset();
    if (rank.device != nullptr) rank.device->release(rank.memory);
  }
}

// What the transport asks a Program: groups, who uses them, and how large messages are.
void LinkSession::make_program() {
  const auto world = static_cast<int>(gpus_.size());
  program_.world = world;
  for (int ranks = 2; ranks <= world; ++ranks) {
    Group group{Axis::kWorld, {}};
    for (int rank = 0; rank < ranks; ++rank) group.ranks.push_back(rank);
    program_.groups.push_back(group);
  }
  program_.ranks.resize(gpus_.size());
  for (int r = 0; r < world; ++r) {
    RankProgram& rank = program_.ranks[static_cast<std::size_t>(r)];
    rank.rank = r;
    for (const LinkStep& step : steps_) {
      if (!step.takes(r)) continue;
      Op op;
      op.piece = Piece::kTransfer;
      op.bytes = step.bytes;
      op.type = step.type;
      op.group = (step.is_message() ? world : step.ranks) - 2;
      op.kind = !step.is_message() ? OpKind::kCollective
                : step.from == r   ? OpKind::kSend
                                   : OpKind::kRecv;
      op.peer = step.from == r ? step.to : step.from;
      op.collective = step.kind;
      op.reduction = step.reduction;
      op.operand_first = static_cast<std::int32_t>(rank.operands.size());
      op.operand_count = 1;
      rank.operands.push_back(
          {0, Access::kAccumulate, step.type, -1, 0, step.bytes / size_of(step.type)});
      rank.ops.push_back(op);
    }
    if (rank.ops.empty()) rank.ops.emplace_back();
    Buffer buffer;
    buffer.bytes = rank.arena_bytes = most_bytes_;
    buffer.offset = 0;
    rank.buffers = {buffer};
  }
}

Result<void> LinkSession::wait(Device& device) const {
  const std::int32_t mark = kMarksOfOp;  // behind those of the transport
  device.mark(mark);
  while (!device.passed(mark)) {
    if (stop_.raised()) return stopped();
    if (Result<void> good = device.launched(); !good) return good;
    std::this_thread::sleep_for(kLinkPoll);
  }
  // An abort ends what waits, too: then nothing has arrived.
  if (stop_.raised()) return stopped();
  return device.launched();
}

Result<void> LinkSession::call(int rank, const LinkStep& step) {
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  const int group = (step.is_message() ? program_.world : step.ranks) - 2;
  if (step.is_message()) {
    TransferPart part;
    part.send = step.from == rank;
    part.peer = part.send ? step.to : step.from;
    part.group = group;
    std::vector<std::int64_t>& passed = part.send ? mine.sent : mine.received;
    part.sequence = passed[static_cast<std::size_t>(part.peer)]++;
    part.data = mine.memory;
    part.bytes = step.bytes;
    part.device = mine.device.get();
    return mine.transport->transfer({&part, 1});
  }
  CollectiveCall all;
  all.kind = step.kind;
  all.group = group;
  all.sequence = mine.collectives[static_cast<std::size_t>(group)]++;
  all.type = step.type;
  all.reduction = step.reduction;
  all.data = mine.memory;
  all.bytes = step.bytes;
  all.device = mine.device.get();
  return mine.transport->collective(all);
}

Result<void> LinkSession::step(int rank, std::size_t index) {
  const LinkStep& step = steps_[index];
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  const bool takes = step.takes(rank);
  if (takes && !step.timed) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(step.bytes + kMessageGuard), kGuardByte);
    const std::int64_t size = size_of(step.type), count = step.bytes / size;
    if (step.is_message() && rank == step.from) {
      for (std::int64_t at = 0; at < step.bytes; ++at)
        bytes[static_cast<std::size_t>(at)] = message_byte(step, at);
    } else if (!step.is_message()) {
      for (std::int64_t at = 0; at < count; ++at)
        put(step.type, bytes.data() + at * size, before(step, rank, at, count));
    }
    mine.device->copy_to_device(mine.memory, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    if (Result<void> done = wait(*mine.device); !done) return done;
  }
  if (Result<TimePoint> met = mine.transport->barrier(); !met) return met.error();
  const TimePoint begin = Clock::now();
  if (takes) {
    if (Result<void> done = call(rank, step); !done) return done;
    if (Result<void> done = wait(*mine.device); !done) return done;
    {
      const std::lock_guard lock(mutex_);
      LinkStepResult& result = results_[index];
      result.seconds =
          std::max(result.seconds, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    if (!step.timed) compare(rank, index);
  }
  const Result<TimePoint> met = mine.transport->barrier();
  if (!met) return met.error();
  return mine.device->launched();
}

void LinkSession::compare(int rank, std::size_t index) {
  const LinkStep& step = steps_[index];
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  std::vector<std::byte> seen(static_cast<std::size_t>(step.bytes + kMessageGuard));
  mine.device->copy_to_host(seen.data(), mine.memory, static_cast<std::int64_t>(seen.size()));
  if (!mine.device->finish()) return;  // launched() says it
  Message found;
  const std::int64_t size = size_of(step.type), count = step.bytes / size;
  if (step.is_message()) {
    for (std::int64_t at = 0; at < step.bytes && found.text.empty(); ++at) {
      const auto is = static_cast<int>(seen[static_cast<std::size_t>(at)]);
      const auto should = static_cast<int>(message_byte(step, at));
      if (is != should)
        found = message("link-byte", "byte {} is {} and should be {}", at, is, should);
    }
  } else {
    for (std::int64_t at = 0; at < count && found.text.empty(); ++at) {
      bool checked = true;
      const auto should = static_cast<double>(after(step, rank, at, count, checked));
      const double is = number_at(step.type, seen.data() + at * size);
      if (checked && is != should)
        found = message("link-element", "element {} is {} and should be {}", at, seven_digits(is),
                        seven_digits(should));
    }
  }
  for (std::int64_t at = 0; at < kMessageGuard && found.text.empty(); ++at)
    if (seen[static_cast<std::size_t>(step.bytes + at)] != kGuardByte)
      found = message("link-behind", "byte {} behind the array was written", at);
  const std::lock_guard lock(mutex_);
  LinkStepResult& result = results_[index];
  if (found.text.empty() || !result.found.text.empty()) return;
  result.found = found;
  result.at = rank;
}

Result<void> LinkSession::steps_of(int rank) {
  Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  if (Result<void> met = mine.transport->connect(); !met) return met;
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    if (Result<TimePoint> met = mine.transport->barrier(); !met) return met.error();
    if (rank == 0) at_ = static_cast<int>(index);
    if (Result<void> done = step(rank, index); !done) return done;
    const std::lock_guard lock(mutex_);
    results_[index].done = true;
  }
  return mine.transport->close();
}

void LinkSession::rank_thread(int rank) {
  if (const Result<void> done = steps_of(rank); !done && !stop_.raised()) stop_.raise(done.error());
  --running_;
}

LinkSession::End LinkSession::run(const std::shared_ptr<LinkSession>& self,
                                  const LinkLimits& limits,
                                  const std::function<void(int step)>& tell) {
  LinkSession& session = *self;
  const auto world = static_cast<int>(session.gpus_.size());
  const auto transport = nccl_between_threads(*session.rig_.nccl);
  for (int r = 0; r < world; ++r) {
    Rank& rank = session.ranks_[static_cast<std::size_t>(r)];
    rank.device =
        session.rig_.make_device(session.gpus_[static_cast<std::size_t>(r)], r, Lane::kPipeline);
    rank.device->reserve_marks(2 * kMarksOfOp);
    const Result<std::byte*> memory = rank.device->allocate(session.most_bytes_);
    if (!memory) return {.why = memory.error()};
    rank.memory = *memory;
    rank.sent.resize(session.gpus_.size());
    rank.received.resize(session.gpus_.size());
    rank.collectives.resize(session.program_.groups.size());
    rank.transport =
        transport({session.program_, session.program_.ranks[static_cast<std::size_t>(r)],
                   session.stop_, *rank.device, session.fabric_->transport(r)});
  }
  session.running_ = world;
  for (int r = 0; r < world; ++r)
    session.ranks_[static_cast<std::size_t>(r)].thread =
        std::thread([self, r] { self->rank_thread(r); });

  End end;
  int at = -2;
  TimePoint changed = Clock::now();
  std::optional<TimePoint> told_to_end;
  std::thread aborter;
  while (session.running_ > 0) {
    const TimePoint now = Clock::now();
    if (const int step = session.at_; step != at) {
      at = step;
      changed = now;
      tell(at);
    }
    const auto limit = at < 0 ? limits.connect : limits.step;
    const bool cancelled = limits.cancel != nullptr && limits.cancel->load();
    if (!session.stop_.raised()) {
      if (now > limits.deadline || cancelled) {
        end.in_time = false;
        session.stop_.raise(message("check-time", "The check ran out of time."));
      } else if (now - changed > limit) {
        end.hung = true;
        session.stop_.raise(message("check-hangs", "The step did not end in time."));
      }
    }
    if (session.stop_.raised() && !told_to_end) {
      told_to_end = now;
      end.step = at;
      end.why = session.stop_.why();
      aborter = std::thread([self] {
        for (Rank& rank : self->ranks_) rank.transport->abort();
      });
    }
    // Neither an abort nor a wait for a GPU can be given up.
    if (told_to_end && now - *told_to_end > limits.end) {
      end.stuck = true;
      aborter.detach();
      for (Rank& rank : session.ranks_) rank.thread.detach();
      return end;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  for (Rank& rank : session.ranks_) rank.thread.join();
  if (aborter.joinable()) aborter.join();
  end.whole = !session.stop_.raised();
  if (!end.whole && !told_to_end) {
    end.step = session.at_;
    end.why = session.stop_.why();
  }
  return end;
}

}  // namespace parallelarium
