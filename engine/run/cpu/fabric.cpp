// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cpu/fabric.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/run/cpu/channel.h"
#include "engine/run/cpu/direct.h"
#include "engine/train/device.h"

namespace parallelarium {

namespace {

void join(Pace& all, const Pace& one) {
  all.ready = std::max(all.ready, one.ready);
  all.modelled = std::max(all.modelled, one.modelled);
  all.duration = std::max(all.duration, one.duration);
}

// Without a pace all are 0.
bool is_set(const Pace& pace) {
  return pace.ready.count() != 0 || pace.modelled.count() != 0 || pace.duration.count() != 0;
}

// Where the members of a group meet for one collective. `arrivals` counts up through its phases.
struct Gathering {
  explicit Gathering(std::size_t members)
      : data(members), own(members), devices(members), marks(members) {}
  void reset_members() {
    std::fill(data.begin(), data.end(), nullptr);
    std::fill(own.begin(), own.end(), nullptr);
    std::fill(devices.begin(), devices.end(), nullptr);
    std::fill(marks.begin(), marks.end(), 0);
  }

  std::int64_t sequence = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  DataType type = DataType::kF32;
  std::int64_t bytes = 0;
  Reduction reduction = Reduction::kNone;
  std::vector<std::byte*> data, own;  // by member
  std::vector<const DeviceStream*> devices;
  std::vector<std::int32_t> marks;
  std::atomic<std::uint32_t> arrivals{0};
  int joined = 0, left = 0;
  Pace pace;
  TimePoint met;
};

struct GroupState {
  std::vector<int> ranks;
  std::vector<std::unique_ptr<Channel>> channels;  // [from * n + to]
  std::mutex mutex;
  std::vector<std::unique_ptr<Gathering>> open, spare;

  // The caller must hold the mutex.
  Gathering& at(const CollectiveCall& call) {
    for (const auto& gathering : open) {
      if (gathering->sequence == call.sequence) return *gathering;
    }
    if (spare.empty()) spare.push_back(std::make_unique<Gathering>(ranks.size()));
    open.push_back(std::move(spare.back()));
    spare.pop_back();
    Gathering& fresh = *open.back();
    fresh.sequence = call.sequence;
    fresh.kind = call.kind;
    fresh.type = call.type;
    fresh.bytes = call.bytes;
    fresh.reduction = call.reduction;
    fresh.reset_members();
    fresh.arrivals.store(0, std::memory_order_relaxed);
    fresh.joined = fresh.left = 0;
    fresh.pace = {};
    return fresh;
  }

  int member(int rank) const {
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
    return found != ranks.end() && *found == rank ? static_cast<int>(found - ranks.begin()) : -1;
  }
  Channel& channel(int from, int to) {
    return *channels[static_cast<std::size_t>(from) * ranks.size() + static_cast<std::size_t>(to)];
  }
};

}  // namespace

struct CpuFabric::Shared {
  int ranks;
  Stop& stop;
  std::vector<std::unique_ptr<GroupState>> groups;
  // Barrier: arrivals of all time; the last of a round writes its time.
  std::mutex barrier_mutex;
  std::int64_t arrived = 0;
  std::atomic<std::uint32_t> rounds{0};
  TimePoint round_time;

  Shared(int count, Stop& the_stop) : ranks(count), stop(the_stop) {}
};

namespace {

class CpuTransport final : public Transport {
 public:
  CpuTransport(CpuFabric::Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  int rank() const override { return rank_; }
  bool does_steps() const override { return true; }

  Result<void> transfer(std::span<TransferPart> parts) override {
    thread_local std::vector<Slot*> kept;  // a step allocates nothing
    kept.resize(parts.size());
    Slot** const slots = kept.data();
    for (const TransferPart& part : parts) device_of(part).mark(part.marks + kPostedMark);
    std::optional<TimePoint> now;  // of this call, once it is asked for
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Result<Slot*> posted = post(parts[i], now);
      if (!posted) return posted.error();
      slots[i] = *posted;
    }
    take_while_awake(parts, slots);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Slot& slot = *slots[i];
      DeviceStream& device = device_of(parts[i]);
      std::uint32_t state = kOpen;
      while ((state = slot.state.load(std::memory_order_acquire)) != kDone) {
        if (state != kOpen && state != kAsleep) {
          take(device, parts[i].marks, slot);
          if (state != kReady) std::this_thread::yield();
          continue;
        }
        std::uint32_t expected = kOpen;
        slot.state.compare_exchange_strong(expected, kAsleep, std::memory_order_acq_rel);
        if (expected != kOpen && expected != kAsleep) continue;
        if (!shared_.stop.wait_while(slot.state, kAsleep)) return stopped();
      }
      if (device.runs_behind() && slot.copier != &device) {
        device.wait(*slot.copier, slot.copier_marks + kBeganMark);
        device.mark(parts[i].marks + kBeganMark);
        device.wait(*slot.copier, slot.copier_marks + kDoneMark);
      }
      if (slot.paced) parts[i].pace = slot.pace;
      parts[i].met = slot.met;
      parts[i].moved = parts[i].bytes;
      Channel::leave(slot, parts[i].send);
    }
    return {};
  }

  Result<void> collective(CollectiveCall& call) override {
    GroupState& group = *shared_.groups[static_cast<std::size_t>(call.group)];
    const int n = static_cast<int>(group.ranks.size());
    const int me = group.member(rank_);
    assert(me >= 0);
    if (!can_collect(call.kind, call.type, call.reduction)) {
      return fail(message("collective-unknown.cpu", "Rank {} cannot do {} ({}) on {}.", rank_,
                          name_of(call.kind), name_of(call.reduction), name_of(call.type)));
    }
    device_of(call).mark(call.marks + kPostedMark);
    Result<Gathering*> joined = join_gathering(group, call, me);
    if (!joined) return joined.error();
    Gathering& gathering = **joined;
    const auto all = static_cast<std::uint32_t>(n);
    DeviceStream& device = device_of(call);
    const DirectMember member{&device,        call.kind,     call.type,      call.bytes, me,
                              gathering.data, gathering.own, call.reduction, call.adds};
    // Threads meet after each mark; devices that run behind then wait for each other's.
    const auto meet = [&](std::int32_t mark, std::uint32_t times) {
      if (!arrive(gathering, times * all)) return false;
      for (std::size_t i = 0; i < gathering.devices.size(); ++i) {
        if (gathering.devices[i] != &device)
          device.wait(*gathering.devices[i], gathering.marks[i] + mark);
      }
      return true;
    };
    if (!meet(kPostedMark, 1)) return stopped();
    device.mark(call.marks + kBeganMark);
    call.met = gathering.met;
    call.pace = gathering.pace;
    const Moved reduced = reduce_own_chunk(member);
    device.mark(call.marks + kHalfMark);
    if (!meet(kHalfMark, 2)) return stopped();
    const Moved gathered = gather_chunks(member);
    device.mark(call.marks + kDoneMark);
    if (!meet(kDoneMark, 3)) return stopped();
    call.sent = reduced.sent + gathered.sent;
    call.received = reduced.received + gathered.received;
    const std::lock_guard lock(group.mutex);
    if (++gathering.left == n) {
      const auto found = std::find_if(group.open.begin(), group.open.end(),
                                      [&](const auto& other) { return other.get() == &gathering; });
      group.spare.push_back(std::move(*found));
      group.open.erase(found);
    }
    return {};
  }

  Result<TimePoint> barrier() override {
    std::uint32_t round = 0;
    {
      const std::lock_guard lock(shared_.barrier_mutex);
      round = static_cast<std::uint32_t>(shared_.arrived / shared_.ranks);
      if (++shared_.arrived % shared_.ranks == 0) {
        shared_.round_time = Clock::now();
        shared_.rounds.store(round + 1, std::memory_order_release);
        Stop::wake(shared_.rounds);
        return shared_.round_time;
      }
    }
    if (!shared_.stop.wait_while(shared_.rounds, round)) return stopped();
    const std::lock_guard lock(shared_.barrier_mutex);
    return shared_.round_time;
  }

 private:
  template <class Call>
  DeviceStream& device_of(const Call& call) const {
    return call.device != nullptr ? *call.device : *host_;
  }

  Channel& channel_of(const TransferPart& part) {
    GroupState& group = *shared_.groups[static_cast<std::size_t>(part.group)];
    const int me = group.member(rank_), peer = group.member(part.peer);
    assert(me >= 0 && peer >= 0);
    return part.send ? group.channel(me, peer) : group.channel(peer, me);
  }

  // Looks at all parts for as long as a wait may stay awake, and delivers what both sides are ready
  // for: first what comes here, which the other side is then less likely to want.
  void take_while_awake(std::span<TransferPart> parts, Slot** slots) {
    if (shared_.stop.spin().count() == 0) return;
    constexpr int kLooksPerClock = 16;
    TimePoint end;
    for (int look = 0;; ++look) {
      bool waits = false;
      for (const bool sends : {false, true}) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
          if (parts[i].send != sends) continue;
          if (slots[i]->state.load(std::memory_order_acquire) == kDone) continue;
          take(device_of(parts[i]), parts[i].marks, *slots[i]);
          waits |= slots[i]->state.load(std::memory_order_relaxed) != kDone;
        }
      }
      if (!waits || shared_.stop.raised()) return;
      if (look % kLooksPerClock != 0) continue;
      const TimePoint now = Clock::now();
      if (look == 0) end = now + shared_.stop.spin();
      if (now >= end) return;
    }
  }

  // `now` is read where this is the second side, and kept.
  Result<Slot*> post(TransferPart& part, std::optional<TimePoint>& now) {
    Channel& channel = channel_of(part);
    Slot* slot = nullptr;
    {
      const std::lock_guard lock(channel.lock());
      slot = &channel.at(part.sequence, part.send);
      const bool second = slot->send != nullptr || slot->recv != nullptr;
      if (second && slot->bytes != part.bytes) {
        const int from = part.send ? rank_ : part.peer, to = part.send ? part.peer : rank_;
        return fail(message("transfer-size", "Rank {} sends {} bytes to rank {}, which expects {}.",
                            from, part.send ? part.bytes : slot->bytes, to,
                            part.send ? slot->bytes : part.bytes));
      }
      slot->bytes = part.bytes;
      if (is_set(part.pace)) {
        if (!slot->paced) slot->pace = {};
        slot->paced = true;
        join(slot->pace, part.pace);
      }
      if (part.send) {
        slot->send = &part;
      } else {
        slot->recv = &part;
      }
      if (!second) {
        slot->first = &device_of(part);
        slot->first_marks = part.marks;
        return slot;
      }
    }
    if (!now) now = Clock::now();
    slot->met = *now;
    DeviceStream& device = device_of(part);
    if (shared_.stop.spin().count() > 0 && !device.runs_behind() && offer(*slot)) return slot;
    device.wait(*slot->first, slot->first_marks + kPostedMark);
    device.mark(part.marks + kBeganMark);
    deliver_alone(device, part.marks, *slot);
    return slot;
  }

  Result<Gathering*> join_gathering(GroupState& group, const CollectiveCall& call, int me) {
    const std::lock_guard lock(group.mutex);
    Gathering& gathering = group.at(call);
    if (gathering.kind != call.kind || gathering.type != call.type ||
        gathering.bytes != call.bytes || gathering.reduction != call.reduction) {
      return fail(
          message("collective-differs",
                  "Rank {} came to an {} of {} bytes, the others of its group to an {} of {}.",
                  rank_, name_of(call.kind), call.bytes, name_of(gathering.kind), gathering.bytes));
    }
    gathering.data[static_cast<std::size_t>(me)] = call.data;
    gathering.own[static_cast<std::size_t>(me)] = call.own;
    gathering.devices[static_cast<std::size_t>(me)] = &device_of(call);
    gathering.marks[static_cast<std::size_t>(me)] = call.marks;
    join(gathering.pace, call.pace);
    if (++gathering.joined == static_cast<int>(group.ranks.size())) gathering.met = Clock::now();
    return &gathering;
  }

  // Counts this member in and waits until `target` have been counted.
  bool arrive(Gathering& gathering, std::uint32_t target) {
    std::uint32_t count = gathering.arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (count == target) {
      Stop::wake(gathering.arrivals);
      return true;
    }
    while (count < target) {
      if (!shared_.stop.wait_while(gathering.arrivals, count)) return false;
      count = gathering.arrivals.load(std::memory_order_acquire);
    }
    return true;
  }

  Message fail(Message why) {
    shared_.stop.raise(why);
    return why;
  }

  CpuFabric::Shared& shared_;
  int rank_;
  std::unique_ptr<Device> host_ = make_cpu_device();
};

}  // namespace

CpuFabric::CpuFabric(int ranks, const std::vector<Group>& groups, Stop& stop)
    : shared_(std::make_unique<Shared>(ranks, stop)) {
  for (const Group& group : groups) {
    auto state = std::make_unique<GroupState>();
    state->ranks = group.ranks;
    const std::size_t n = group.ranks.size();
    for (std::size_t i = 0; i < n * n; ++i) state->channels.push_back(std::make_unique<Channel>());
    // In each lane one that is left and the next, so that a step allocates nothing.
    state->open.reserve(2 * kLanes);
    for (int i = 0; i < 2 * kLanes; ++i) state->spare.push_back(std::make_unique<Gathering>(n));
    shared_->groups.push_back(std::move(state));
  }
}

CpuFabric::~CpuFabric() = default;

std::unique_ptr<Transport> CpuFabric::transport(int rank) {
  return std::make_unique<CpuTransport>(*shared_, rank);
}

}  // namespace parallelarium
