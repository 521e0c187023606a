// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl_transport.h"

#include <algorithm>
#include <thread>

#include "engine/run/cpu/direct.h"
#include "engine/run/gpu/nccl_staging.h"

namespace parallelarium {

namespace {

// Whether all members' chunks of so many elements are of one size, as NCCL's all-gather and
// reduce-scatter want them.
bool is_even(std::int64_t elements, int n) { return elements % n == 0; }

Reduction sum_or_max(Reduction reduction) {
  return reduction == Reduction::kMax ? Reduction::kMax : Reduction::kSum;
}

}  // namespace

NcclTransport::NcclTransport(Nccl& nccl, const Program& program, const RankProgram& rank,
                             Stop& stop, std::unique_ptr<Transport> host,
                             std::function<Result<NcclId>()> unique_id, Device& device,
                             NcclWait wait)
    : nccl_(nccl),
      program_(program),
      rank_(rank),
      stop_(stop),
      host_(std::move(host)),
      unique_id_(std::move(unique_id)),
      device_(device),
      wait_(std::move(wait)),
      comms_(program.groups.size(), nullptr) {}

NcclTransport::~NcclTransport() {
  abort();
  for (std::byte* scratch : scratch_)
    if (scratch != nullptr) device_.release(scratch);
}

void NcclTransport::pause() const {
  if (wait_.pause) {
    wait_.pause();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds{20});
  }
}

std::byte* NcclTransport::scratch_of(std::int32_t marks) const {
  const auto op = static_cast<std::size_t>(marks / kMarksOfOp);
  return scratch_[static_cast<std::size_t>(rank_.ops[op].lane)];
}

int NcclTransport::place_of(int group, int rank) const {
  const std::vector<int>& ranks = program_.groups[static_cast<std::size_t>(group)].ranks;
  return static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

Result<void> NcclTransport::checked(NcclStatus status, NcclComm* comm, const std::string& doing) {
  if (status == NcclStatus::kSuccess || status == NcclStatus::kInProgress) return {};
  Message why;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return stopped();
    why =
        nccl_failure(rank_.rank, status, doing, comm != nullptr ? nccl_.get_last_error(comm) : "");
  }
  stop_.raise(why);
  return why;
}

// Asks until the communicator is no longer in progress. Without a limit the run's watchdog ends the
// wait, since it knows which rank did not come.
Result<void> NcclTransport::wait_for(NcclComm* comm, const std::string& doing, bool limited) {
  const TimePoint begin = wait_.now();
  while (true) {
    NcclStatus state = NcclStatus::kInProgress, asked = NcclStatus::kSuccess;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return stopped();
      asked = nccl_.get_async_error(comm, state);
    }
    if (asked != NcclStatus::kSuccess) return checked(asked, comm, doing);
    if (state != NcclStatus::kInProgress) return checked(state, comm, doing);
    if (stop_.raised()) return stopped();
    if (limited && wait_.now() - begin > wait_.connecting) {
      const Message why =
          nccl_timeout(rank_.rank, doing, std::chrono::duration<double>(wait_.connecting).count());
      stop_.raise(why);
      return why;
    }
    pause();
  }
}

Result<void> NcclTransport::connect() {
  const std::vector<NcclSplit> splits = plan_splits(program_);
  const auto me = static_cast<std::size_t>(rank_.rank);
  const auto own = std::count_if(splits.begin(), splits.end(), [&](const NcclSplit& split) {
    return split.group[me] != kNcclNoColor;
  });
  if (Result<void> can = check_nccl(nccl_.version(), static_cast<int>(own)); !can) {
    stop_.raise(can.error());
    return can;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t bytes = nccl_scratch_bytes(program_, rank_, static_cast<Lane>(lane));
    if (bytes == 0) continue;
    const Result<std::byte*> space = device_.allocate(bytes);
    if (!space) {
      stop_.raise(space.error());
      return space.error();
    }
    scratch_[static_cast<std::size_t>(lane)] = *space;
  }
  const Result<NcclId> id = unique_id_();
  if (!id) return id.error();
  const std::string connecting = "connecting to the other ranks";
  NcclStatus status = NcclStatus::kSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || stop_.raised()) return stopped();
    status = nccl_.init(world_, program_.world, *id, rank_.rank, device_);
  }
  if (Result<void> done = checked(status, nullptr, connecting); !done) return done;
  if (Result<void> done = wait_for(world_, connecting, true); !done) return done;
  for (const NcclSplit& split : splits) {
    const int group = split.group[me];
    const std::string making = "making the communicator of a group";
    NcclComm*& place = group == kNcclNoColor ? none_ : comms_[static_cast<std::size_t>(group)];
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return stopped();
      status = nccl_.split(world_, group, split.key[me], place);
    }
    if (Result<void> done = checked(status, world_, making); !done) return done;
    if (Result<void> done = wait_for(world_, making, true); !done) return done;
    if (group == kNcclNoColor) continue;
    if (Result<void> done = wait_for(place, making, true); !done) return done;
  }
  return {};
}

bool NcclTransport::take_turn(std::int64_t turn) {
  if (turn < 0) return !stop_.raised();
  for (std::uint32_t now = next_turn_.load(std::memory_order_acquire); now != turn;
       now = next_turn_.load(std::memory_order_acquire)) {
    if (!stop_.wait_while(next_turn_, now)) return false;
  }
  return !stop_.raised();
}

void NcclTransport::pass_turn(std::int64_t turn) {
  if (turn < 0) return;
  next_turn_.store(static_cast<std::uint32_t>(turn) + 1, std::memory_order_release);
  Stop::wake(next_turn_);
}

// One NCCL group on `lane` in its turn, until NCCL has launched it.
template <class Calls>
Result<void> NcclTransport::issue(std::int64_t turn, const std::string& doing,
                                  std::span<NcclComm* const> comms, Device& lane,
                                  const Calls& calls) {
  NcclStatus status = NcclStatus::kSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return stopped();
    status = nccl_.group_start();
    if (status == NcclStatus::kSuccess) {
      const NcclStatus called = calls(lane);
      const NcclStatus ended = nccl_.group_end();
      const bool good = called == NcclStatus::kSuccess || called == NcclStatus::kInProgress;
      status = good ? ended : called;
    }
  }
  if (Result<void> done = checked(status, comms.front(), doing); !done) return done;
  for (NcclComm* comm : comms) {
    if (Result<void> done = wait_for(comm, doing, false); !done) return done;
  }
  pass_turn(turn);
  return {};
}

Result<void> NcclTransport::transfer(std::span<TransferPart> parts) {
  Device& lane = *parts.front().device;
  const std::int64_t turn = parts.front().turn;
  if (!take_turn(turn)) return stopped();
  std::vector<NcclComm*> comms;
  std::vector<std::byte*> data;  // by part: where NCCL finds or leaves it
  std::byte* scratch = scratch_of(parts.front().marks);
  for (TransferPart& part : parts) {
    lane.mark(part.marks + kBeganMark);
    part.met = Clock::now();
    NcclComm* comm = comm_of(part.group);
    if (std::find(comms.begin(), comms.end(), comm) == comms.end()) comms.push_back(comm);
    data.push_back(is_staged(part) ? scratch : part.data);
    if (is_staged(part)) scratch = stage(lane, part, scratch);
  }
  const auto calls = [&](Device& stream) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const TransferPart& part = parts[i];
      if (part.bytes == 0) continue;  // both sides know it
      const int peer = place_of(part.group, part.peer);
      const NcclStatus status =
          part.send ? nccl_.send(data[i], part.bytes, peer, comm_of(part.group), stream)
                    : nccl_.recv(data[i], part.bytes, peer, comm_of(part.group), stream);
      if (status != NcclStatus::kSuccess && status != NcclStatus::kInProgress) return status;
    }
    return NcclStatus::kSuccess;
  };
  const std::string doing = fmt::format(
      "{} rank {}", parts.front().send ? "a transfer to" : "a transfer from", parts.front().peer);
  if (Result<void> done = issue(turn, doing, comms, lane, calls); !done) return done;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TransferPart& part = parts[i];
    if (!part.send && is_staged(part)) unstage(lane, part, data[i]);
    part.moved = part.bytes;
  }
  return {};
}

// The calls of one collective, inside a group.
NcclStatus NcclTransport::launch(const CollectiveCall& call, NcclComm* comm, int n, int me,
                                 Device& lane) {
  const std::int64_t size = size_of(call.type), elements = call.bytes / size;
  const auto chunk = [&](int index) { return chunk_of(elements, n, index); };
  const auto at = [&](std::int64_t element) { return call.data + element * size; };
  const std::int64_t own = chunk(me).begin, own_count = chunk(me).end - own;
  const Reduction reduction = sum_or_max(call.reduction);
  std::byte* scratch = scratch_of(call.marks);
  NcclStatus status = NcclStatus::kSuccess;
  const auto each = [&](const auto& one) {
    for (int i = 0; i < n && (status == NcclStatus::kSuccess || status == NcclStatus::kInProgress);
         ++i) {
      status = one(i, chunk(i).begin, chunk(i).end - chunk(i).begin);
    }
    return status;
  };
  switch (call.kind) {
    case CollectiveKind::kAllReduce:
      return nccl_.all_reduce(call.data, call.data, elements, call.type, reduction, comm, lane);
    case CollectiveKind::kBroadcast:
      return nccl_.broadcast(call.data, call.data, elements, call.type, 0, comm, lane);
    case CollectiveKind::kAllGather: {
      const std::byte* mine = call.own != nullptr ? call.own : at(own);
      if (is_even(elements, n))
        return nccl_.all_gather(mine, call.data, own_count, call.type, comm, lane);
      return each([&](int root, std::int64_t begin, std::int64_t count) {
        return nccl_.broadcast(root == me ? mine : at(begin), at(begin), count, call.type, root,
                               comm, lane);
      });
    }
    case CollectiveKind::kReduceScatter: {
      std::byte* target = call.own == nullptr ? at(own) : call.adds ? scratch : call.own;
      if (is_even(elements, n)) {
        return nccl_.reduce_scatter(call.data, target, own_count, call.type, reduction, comm, lane);
      }
      return each([&](int root, std::int64_t begin, std::int64_t count) {
        return nccl_.reduce(at(begin), root == me ? target : at(begin), count, call.type, reduction,
                            root, comm, lane);
      });
    }
    case CollectiveKind::kAllToAll:
      // From a copy, since chunks leave from where others arrive.
      return each([&](int peer, std::int64_t begin, std::int64_t count) {
        if (peer == me) return NcclStatus::kSuccess;
        const NcclStatus sent = nccl_.send(scratch + begin * size, count * size, peer, comm, lane);
        if (sent != NcclStatus::kSuccess && sent != NcclStatus::kInProgress) return sent;
        return nccl_.recv(at(begin), count * size, peer, comm, lane);
      });
    case CollectiveKind::kScatter:
    case CollectiveKind::kGather:
    case CollectiveKind::kReduce:
      break;  // can_collect has refused them
  }
  return NcclStatus::kInvalidArgument;
}

// A group of one rank: nothing travels, but the own chunk may lie elsewhere.
Result<void> NcclTransport::alone(CollectiveCall& call) {
  Device& lane = *call.device;
  lane.mark(call.marks + kBeganMark);
  call.met = Clock::now();
  const DirectMember member{&lane,           call.kind,      call.type,      call.bytes, 0,
                            {&call.data, 1}, {&call.own, 1}, call.reduction, call.adds};
  reduce_own_chunk(member);
  gather_chunks(member);
  return {};
}

Result<void> NcclTransport::collective(CollectiveCall& call) {
  const auto n =
      static_cast<int>(program_.groups[static_cast<std::size_t>(call.group)].ranks.size());
  if (!take_turn(call.turn)) return stopped();
  if (!can_collect(call.kind, call.type, call.reduction)) {
    const Message why =
        message("collective-unknown", "Rank {} cannot do an {} of this type of numbers.",
                rank_.rank, name_of(call.kind));
    stop_.raise(why);
    return why;
  }
  if (n == 1) {
    const Result<void> done = alone(call);
    pass_turn(call.turn);
    return done;
  }
  Device& lane = *call.device;
  const int me = place_of(call.group, rank_.rank);
  NcclComm* comm = comm_of(call.group);
  lane.mark(call.marks + kBeganMark);
  call.met = Clock::now();
  if (call.kind == CollectiveKind::kAllToAll)
    lane.copy(scratch_of(call.marks), call.data, call.bytes);
  const std::string doing(name_of(call.kind));
  Result<void> done = issue(call.turn, doing, {&comm, 1}, lane,
                            [&](Device& stream) { return launch(call, comm, n, me, stream); });
  if (!done) return done;
  if (call.kind == CollectiveKind::kReduceScatter && call.own != nullptr && call.adds) {
    const ChunkRange own = chunk_of(call.bytes / size_of(call.type), n, me);
    const std::int64_t count = own.end - own.begin;
    lane.accumulate({call.type, call.own}, {call.type, scratch_of(call.marks)}, count);
  }
  const Volume volume = collective_volume(call.kind, call.type, call.bytes, n, me);
  call.sent = volume.sent;
  call.received = volume.received;
  call.counted = false;
  return {};
}

Result<TimePoint> NcclTransport::barrier() {
  next_turn_.store(0, std::memory_order_release);
  return host_->barrier();
}

// Flushes what is issued and lets the others go; children before the world.
Result<void> NcclTransport::close() {
  std::vector<NcclComm*> open;
  for (NcclComm* comm : comms_)
    if (comm != nullptr) open.push_back(comm);
  if (world_ != nullptr) open.push_back(world_);
  const std::string closing = "closing its communicators";
  for (NcclComm* comm : open) {
    NcclStatus status = NcclStatus::kSuccess;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return stopped();
      status = nccl_.finalize(comm);
    }
    if (Result<void> done = checked(status, comm, closing); !done) return done;
    if (Result<void> done = wait_for(comm, closing, true); !done) return done;
  }
  const std::lock_guard lock(mutex_);
  if (ended_) return stopped();
  ended_ = true;
  for (NcclComm* comm : open) static_cast<void>(nccl_.destroy(comm));
  return {};
}

void NcclTransport::abort() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  ended_ = true;
  // A split under way is stopped by aborting its parent first.
  if (world_ != nullptr) static_cast<void>(nccl_.abort(world_));
  for (NcclComm* comm : comms_)
    if (comm != nullptr) static_cast<void>(nccl_.abort(comm));
}

}  // namespace parallelarium
