// SPDX-License-Identifier: Apache-2.0
// The life of a rank's communicators: how they are made, asked, closed and aborted.
#include <algorithm>
#include <thread>

#include "engine/run/gpu/nccl/nccl_staging.h"
#include "engine/run/gpu/nccl/nccl_transport.h"

namespace parallelarium {

NcclTransport::~NcclTransport() {
  abort();
  for (std::byte* scratch : scratch_)
    if (scratch != nullptr) device_.release(scratch);
}

void NcclTransport::pause(Wait wait, TimePoint begin) const {
  if (wait == Wait::kToLaunch && wait_.now() - begin < wait_.spin) {
    std::this_thread::yield();
  } else if (wait_.pause) {
    wait_.pause();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds{20});
  }
}

Result<void> NcclTransport::refused(Message why) {
  stop_.raise(why);
  return why;
}

Result<void> NcclTransport::checked(NcclStatus status, NcclComm* comm, const std::string& doing) {
  if (goes_well(status)) return {};
  Message why;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return stopped();
    why =
        nccl_failure(rank_.rank, status, doing, comm != nullptr ? nccl_.get_last_error(comm) : "");
  }
  return refused(std::move(why));
}

// Asks until the communicator is no longer in progress.
Result<void> NcclTransport::wait_for(NcclComm* comm, const std::string& doing, Wait wait) {
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
    if (wait == Wait::kToConnect) tell_connecting();
    if (wait == Wait::kToClose && wait_.now() - begin > wait_.closing) {
      return refused(
          nccl_timeout(rank_.rank, doing, std::chrono::duration<double>(wait_.closing).count()));
    }
    pause(wait, begin);
  }
}

// Who watches may have come late, so it is told until it knows.
void NcclTransport::tell_connecting() {
  RankProgress* const progress = progress_;
  if (progress == nullptr) return;
  LaneProgress& lane = progress->lanes.front();
  if (lane.doing.load() != Doing::kConnecting || lane.op.load() != calls_)
    lane.set(calls_, Doing::kConnecting);
}

Result<void> NcclTransport::connect() {
  const std::vector<NcclSplit> splits = plan_splits(program_);
  const auto me = static_cast<std::size_t>(rank_.rank);
  const auto own = std::count_if(splits.begin(), splits.end(), [&](const NcclSplit& split) {
    return split.group[me] != kNcclNoColor;
  });
  if (Result<void> can = check_nccl(nccl_.version(), static_cast<int>(own)); !can)
    return refused(can.error());
  if (Result<void> done = allocate_scratch(); !done) return done;
  if (Result<void> done = join_world(); !done) return done;
  for (const NcclSplit& split : splits) {
    if (Result<void> done = join_group(split); !done) return done;
  }
  if (RankProgress* const progress = progress_) progress->lanes.front().set(-1, Doing::kNothing);
  return {};
}

Result<void> NcclTransport::allocate_scratch() {
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t bytes = nccl_scratch_bytes(program_, rank_, static_cast<Lane>(lane));
    if (bytes == 0) continue;
    const Result<std::byte*> space = device_.allocate(bytes);
    if (!space) return refused(space.error());
    scratch_[static_cast<std::size_t>(lane)] = *space;
  }
  return {};
}

Result<void> NcclTransport::join_world() {
  tell_connecting();  // for the id it waits too
  const Result<NcclId> id = unique_id_();
  if (!id) return id.error();
  const std::string connecting = "connecting to the other ranks";
  NcclStatus status = NcclStatus::kSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || stop_.raised()) return stopped();
    status = nccl_.init(world_, program_.world, *id, rank_.rank, device_);
  }
  ++calls_;
  if (Result<void> done = checked(status, nullptr, connecting); !done) return done;
  return made(world_, connecting);
}

Result<void> NcclTransport::join_group(const NcclSplit& split) {
  const auto me = static_cast<std::size_t>(rank_.rank);
  const int group = split.group[me];
  const std::string making = "making the communicator of a group";
  NcclComm*& place = group == kNcclNoColor ? none_ : comms_[static_cast<std::size_t>(group)];
  NcclStatus status = NcclStatus::kSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return stopped();
    status = nccl_.split(world_, group, split.key[me], place);
  }
  ++calls_;
  if (Result<void> done = checked(status, world_, making); !done) return done;
  if (Result<void> done = wait_for(world_, making, Wait::kToConnect); !done) return done;
  return group == kNcclNoColor ? Result<void>{} : made(place, making);
}

// Waits until a communicator is ready; from then on look() asks it for failures.
Result<void> NcclTransport::made(NcclComm* comm, const std::string& doing) {
  if (Result<void> done = wait_for(comm, doing, Wait::kToConnect); !done) return done;
  const std::lock_guard lock(mutex_);
  open_.push_back(comm);
  return {};
}

Result<void> NcclTransport::look(const std::function<std::string()>& doing) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || ended_) return {};  // held: somebody calls NCCL, and is told there
  for (NcclComm* comm : open_) {
    NcclStatus state = NcclStatus::kSuccess;
    const NcclStatus asked = nccl_.get_async_error(comm, state);
    const NcclStatus status = asked == NcclStatus::kSuccess ? state : asked;
    if (!goes_well(status))
      return nccl_failure(rank_.rank, status, doing(), nccl_.get_last_error(comm));
  }
  return {};
}

// Flushes what is issued and lets the others go; children before the world.
Result<void> NcclTransport::close() {
  const std::vector<NcclComm*> open(open_.rbegin(), open_.rend());
  const std::string closing = "closing its communicators";
  for (NcclComm* comm : open) {
    NcclStatus status = NcclStatus::kSuccess;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return stopped();
      status = nccl_.finalize(comm);
    }
    if (Result<void> done = checked(status, comm, closing); !done) return done;
    if (Result<void> done = wait_for(comm, closing, Wait::kToClose); !done) return done;
  }
  const std::lock_guard lock(mutex_);
  if (ended_) return stopped();
  ended_ = true;
  for (NcclComm* comm : open) static_cast<void>(nccl_.destroy(comm));
  return {};
}

// In one group: an abort waits until the GPU is free, and what keeps it busy may be a kernel of a
// communicator that has not been told yet. What is in progress comes last: its abort waits at once
// for a thread of NCCL's that may itself wait for such a kernel (NCCL 2.28, group.cc,
// ncclGroupJobAbort). Of these the world's goes first, because it ends a split under way, which
// leaves a communicator in the child's place.
void NcclTransport::abort() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  ended_ = true;
  if (world_ == nullptr) return;
  std::vector<NcclComm*> told;
  const auto tell = [&](NcclComm* comm) {
    if (comm == nullptr || std::find(told.begin(), told.end(), comm) != told.end()) return;
    told.push_back(comm);
    static_cast<void>(nccl_.abort(comm));
  };
  const auto tell_if_idle = [&](NcclComm* comm) {
    NcclStatus state = NcclStatus::kSuccess;
    if (comm == nullptr) return;
    const bool answers = nccl_.get_async_error(comm, state) == NcclStatus::kSuccess;
    if (answers && state != NcclStatus::kInProgress) tell(comm);
  };
  static_cast<void>(nccl_.group_start());
  tell_if_idle(world_);
  for (NcclComm* comm : comms_) tell_if_idle(comm);
  tell(world_);
  for (NcclComm* comm : comms_) tell(comm);
  static_cast<void>(nccl_.group_end());
}

}  // namespace parallelarium
