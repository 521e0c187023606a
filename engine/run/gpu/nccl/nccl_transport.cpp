// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/nccl_transport.h"

#include <algorithm>

#include "engine/run/cpu/direct.h"
#include "engine/run/gpu/nccl/nccl_staging.h"

namespace parallelarium {

namespace {

// Whether all members' chunks of so many elements are of one size, as NCCL's all-gather and
// reduce-scatter want them.
bool is_even(std::int64_t elements, int n) { return elements % n == 0; }

Reduction sum_or_max(Reduction reduction) {
  return reduction == Reduction::kMax ? Reduction::kMax : Reduction::kSum;
}

// See NcclTransport::empty_turns_.
std::vector<std::int64_t> empty_turns(const Program& program, const RankProgram& rank) {
  const std::vector<std::int32_t> turns = issue_turns(rank);
  std::vector<std::int64_t> empty;
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    const Op& op = rank.ops[i];
    if (op.kind == OpKind::kCollective && op.collective == CollectiveKind::kAllToAll &&
        op.operand_count > 1 &&
        program.groups[static_cast<std::size_t>(op.group)].ranks.size() == 1)
      empty.push_back(turns[i]);
  }
  return empty;
}

}  // namespace

NcclTransport::NcclTransport(Nccl& nccl, const Program& program, const RankProgram& rank,
                             Stop& stop, std::unique_ptr<Transport> host,
                             std::function<Result<NcclId>()> unique_id, DeviceStream& device,
                             NcclWait wait)
    : nccl_(nccl),
      program_(program),
      rank_(rank),
      stop_(stop),
      host_(std::move(host)),
      unique_id_(std::move(unique_id)),
      device_(device),
      wait_(std::move(wait)),
      comms_(program.groups.size(), nullptr),
      empty_turns_(empty_turns(program, rank)) {}

std::byte* NcclTransport::scratch_of(std::int32_t marks) const {
  const auto op = static_cast<std::size_t>(marks / kMarksOfOp);
  return scratch_[static_cast<std::size_t>(rank_.ops[op].lane)];
}

int NcclTransport::place_of(int group, int rank) const {
  const std::vector<int>& ranks = program_.groups[static_cast<std::size_t>(group)].ranks;
  return static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

bool NcclTransport::take_turn(std::int64_t turn) {
  if (turn < 0) return !stop_.raised();
  for (std::uint32_t now = next_turn_.load(std::memory_order_acquire); now != turn;
       now = next_turn_.load(std::memory_order_acquire)) {
    if (!stop_.wait_while(next_turn_, now)) return false;
  }
  return !stop_.raised();
}

// The first turn from this one on that somebody takes.
std::int64_t NcclTransport::issuing_from(std::int64_t turn) const {
  while (std::binary_search(empty_turns_.begin(), empty_turns_.end(), turn)) ++turn;
  return turn;
}

void NcclTransport::pass_turn(std::int64_t turn) {
  if (turn < 0) return;
  next_turn_.store(static_cast<std::uint32_t>(issuing_from(turn + 1)), std::memory_order_release);
  Stop::wake(next_turn_);
}

// One NCCL group on `lane` in its turn, until NCCL has launched it.
template <class Calls>
Result<void> NcclTransport::issue(std::int64_t turn, const std::string& doing,
                                  std::span<NcclComm* const> comms, DeviceStream& lane,
                                  const Calls& calls) {
  NcclStatus status = NcclStatus::kSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return stopped();
    status = nccl_.group_start();
    if (status == NcclStatus::kSuccess) {
      const NcclStatus called = calls(lane);
      const NcclStatus ended = nccl_.group_end();
      status = goes_well(called) ? ended : called;
    }
  }
  if (Result<void> done = checked(status, comms.front(), doing); !done) return done;
  for (NcclComm* comm : comms) {
    if (Result<void> done = wait_for(comm, doing, Wait::kToLaunch); !done) return done;
  }
  pass_turn(turn);
  return {};
}

Result<void> NcclTransport::transfer(std::span<TransferPart> parts) {
  if (parts.empty()) return {};  // nobody waits for its turn
  DeviceStream& lane = *parts.front().device;
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
  const auto calls = [&](DeviceStream& stream) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const TransferPart& part = parts[i];
      if (part.bytes == 0) continue;  // both sides know it
      const int peer = place_of(part.group, part.peer);
      const NcclStatus status =
          part.send ? nccl_.send(data[i], part.bytes, peer, comm_of(part.group), stream)
                    : nccl_.recv(data[i], part.bytes, peer, comm_of(part.group), stream);
      if (!goes_well(status)) return status;
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
                                 DeviceStream& lane) {
  const std::int64_t size = size_of(call.type), elements = call.bytes / size;
  const auto chunk = [&](int index) { return chunk_of(elements, n, index); };
  const auto at = [&](std::int64_t element) { return call.data + element * size; };
  const std::int64_t own = chunk(me).begin, own_count = chunk(me).end - own;
  const Reduction reduction = sum_or_max(call.reduction);
  std::byte* scratch = scratch_of(call.marks);
  NcclStatus status = NcclStatus::kSuccess;
  const auto each = [&](const auto& one) {
    for (int i = 0; i < n && goes_well(status); ++i) {
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
        if (!goes_well(sent)) return sent;
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
  DeviceStream& lane = *call.device;
  lane.mark(call.marks + kBeganMark);
  call.met = Clock::now();
  const DirectMember member{&lane,           call.kind,      call.type,      call.bytes, 0,
                            {&call.data, 1}, {&call.own, 1}, call.reduction, call.adds};
  reduce_own_chunk(member);
  gather_chunks(member);
  return {};
}

Result<void> NcclTransport::checked(const CollectiveCall& call, int n) {
  if (!can_collect(call.kind, call.type, call.reduction)) {
    return refused(message("collective-unknown.numbers",
                           "Rank {} cannot do an {} of this type of numbers.", rank_.rank,
                           name_of(call.kind)));
  }
  // What two members send each other would differ in size, and NCCL hang.
  if (const std::int64_t elements = call.bytes / size_of(call.type);
      call.kind == CollectiveKind::kAllToAll && !is_even(elements, n)) {
    return refused(message("collective-uneven",
                           "Rank {} cannot exchange {} numbers in place with {} ranks in equal "
                           "parts; choose sizes that {} divides.",
                           rank_.rank, elements, n, n));
  }
  return {};
}

Result<void> NcclTransport::collectives(std::span<CollectiveCall> calls) {
  CollectiveCall& first = calls.front();
  const auto n =
      static_cast<int>(program_.groups[static_cast<std::size_t>(first.group)].ranks.size());
  if (!take_turn(first.turn)) return stopped();
  for (const CollectiveCall& call : calls)
    if (Result<void> can = checked(call, n); !can) return can;
  if (n == 1) {
    const Result<void> done = alone(first);
    pass_turn(first.turn);
    return done;
  }
  DeviceStream& lane = *first.device;
  const int me = place_of(first.group, rank_.rank);
  NcclComm* comm = comm_of(first.group);
  for (CollectiveCall& call : calls) {
    lane.mark(call.marks + kBeganMark);
    call.met = Clock::now();
    if (call.kind == CollectiveKind::kAllToAll)
      lane.copy(scratch_of(call.marks), call.data, call.bytes);
  }
  const auto launch_all = [&](DeviceStream& stream) {
    NcclStatus status = NcclStatus::kSuccess;
    for (std::size_t i = 0; i < calls.size() && goes_well(status); ++i)
      status = launch(calls[i], comm, n, me, stream);
    return status;
  };
  const std::string doing(name_of(first.kind));
  if (Result<void> done = issue(calls.back().turn, doing, {&comm, 1}, lane, launch_all); !done)
    return done;
  for (CollectiveCall& call : calls) {
    if (call.kind == CollectiveKind::kReduceScatter && call.own != nullptr && call.adds) {
      const ChunkRange own = chunk_of(call.bytes / size_of(call.type), n, me);
      lane.accumulate({call.type, call.own}, {call.type, scratch_of(call.marks)},
                      own.end - own.begin);
    }
    const Volume volume = collective_volume(call.kind, call.type, call.bytes, n, me);
    call.sent = volume.sent;
    call.received = volume.received;
    call.counted = false;
  }
  return {};
}

Result<TimePoint> NcclTransport::barrier() {
  next_turn_.store(static_cast<std::uint32_t>(issuing_from(0)), std::memory_order_release);
  return host_->barrier();
}

}  // namespace parallelarium
