// SPDX-License-Identifier: Apache-2.0
#include "engine/run/net/socket_transport.h"

#include <algorithm>
#include <mutex>

#include "engine/run/cpu/direct.h"
#include "engine/run/net/mail.h"
#include "engine/train/device.h"

namespace parallelarium {

namespace {

class SocketTransport final : public Transport {
 public:
  SocketTransport(World& world, const Program& program, Stop& stop)
      : world_(world), program_(program), stop_(stop), mail_(world, stop) {}

  int rank() const override { return world_.rank(); }
  Result<TimePoint> barrier() override { return world_.barrier(); }
  // Nobody shuts a connection that another still writes to.
  Result<void> close() override {
    mail_.end();
    const Result<TimePoint> all = world_.barrier();
    if (!all) return all.error();
    return {};
  }

  Result<void> transfer(std::span<TransferPart> parts) override {
    std::vector<Parcel> parcels;
    for (const TransferPart& part : parts) {
      parcels.push_back({part.send,
                         part.peer,
                         {MailKind::kTransfer, part.group, part.sequence},
                         0,
                         part.data,
                         part.bytes});
    }
    if (Result<void> done = mail_.move(parcels); !done) return done;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].met = parcels[i].met;
      parts[i].moved = parts[i].bytes;
    }
    return {};
  }

  Result<void> collective(CollectiveCall& call) override {
    if (!can_collect(call.kind, call.type, call.reduction)) {
      return fail(message("collective-unknown.numbers",
                          "Rank {} cannot do an {} of this type of numbers.", rank(),
                          name_of(call.kind)));
    }
    const Collective parts(call, program_.groups[static_cast<std::size_t>(call.group)].ranks,
                           rank());
    call.met = Clock::now();
    std::vector<std::byte> scratch = take_scratch();
    Result<void> done = first_half(call, parts, scratch);
    give_scratch(std::move(scratch));
    if (done) done = second_half(call, parts);
    return done;
  }

 private:
  // A collective as this member sees it.
  struct Collective {
    Collective(const CollectiveCall& of, const std::vector<int>& all, int rank)
        : call(of),
          ranks(all),
          me(static_cast<int>(std::lower_bound(all.begin(), all.end(), rank) - all.begin())) {}
    struct Range {
      std::int64_t begin = 0, bytes = 0;
    };
    Range chunk(int index) const {
      const std::int64_t size = size_of(call.type);
      const ChunkRange range = chunk_of(call.bytes / size, static_cast<int>(ranks.size()), index);
      return {range.begin * size, (range.end - range.begin) * size};
    }
    Parcel parcel(bool send, int member, MailKind what, std::byte* data, std::int64_t bytes) const {
      return {send,
              ranks[static_cast<std::size_t>(member)],
              {what, call.group, call.sequence},
              static_cast<std::uint8_t>(call.kind),
              data,
              bytes};
    }
    const CollectiveCall& call;
    const std::vector<int>& ranks;
    const int me;
  };

  // all_reduce, reduce_scatter: the own chunk becomes the sum. all_to_all: chunks change places.
  Result<void> first_half(CollectiveCall& call, const Collective& parts,
                          std::vector<std::byte>& scratch) {
    const bool sums =
        call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kReduceScatter;
    if (!sums && call.kind != CollectiveKind::kAllToAll) return {};
    const auto n = static_cast<int>(parts.ranks.size());
    const Collective::Range own = parts.chunk(parts.me);
    std::vector<std::int64_t> places;
    std::int64_t needed = 0;
    for (int member = 0; member < n; ++member) {
      places.push_back(needed);
      needed += sums ? own.bytes : parts.chunk(member).bytes;
    }
    if (static_cast<std::int64_t>(scratch.size()) < needed)
      scratch.resize(static_cast<std::size_t>(needed));
    std::vector<Parcel> parcels;
    for (int member = 0; member < n; ++member) {
      if (member == parts.me) continue;
      const Collective::Range theirs = parts.chunk(member);
      std::byte* arrives = scratch.data() + places[static_cast<std::size_t>(member)];
      parcels.push_back(parts.parcel(false, member, MailKind::kFirstHalf, arrives,
                                     sums ? own.bytes : theirs.bytes));
      parcels.push_back(
          parts.parcel(true, member, MailKind::kFirstHalf, call.data + theirs.begin, theirs.bytes));
    }
    if (Result<void> done = mail_.move(parcels); !done) return done;
    count(call, parcels);
    if (!sums) {
      for (int member = 0; member < n; ++member) {
        const Collective::Range chunk = parts.chunk(member);
        if (member != parts.me)
          std::copy_n(scratch.data() + places[static_cast<std::size_t>(member)], chunk.bytes,
                      call.data + chunk.begin);
      }
      return {};
    }
    std::vector<const std::byte*> from;
    for (int member = 0; member < n; ++member) {
      from.push_back(member == parts.me
                         ? call.data + own.begin
                         : scratch.data() + places[static_cast<std::size_t>(member)]);
    }
    const bool elsewhere = call.kind == CollectiveKind::kReduceScatter && call.own != nullptr;
    std::byte* target = elsewhere ? call.own : call.data + own.begin;
    if (elsewhere && call.adds) from.push_back(target);
    DeviceStream& device = call.device != nullptr ? *call.device : *host_;
    device.combine(call.type, call.reduction == Reduction::kMax ? Reduction::kMax : Reduction::kSum,
                   target, from, 1, own.bytes / size_of(call.type));
    return {};
  }

  // all_reduce, all_gather: the own chunk goes to all. broadcast: member 0's array does.
  Result<void> second_half(CollectiveCall& call, const Collective& parts) {
    const auto n = static_cast<int>(parts.ranks.size());
    const Collective::Range own = parts.chunk(parts.me);
    std::vector<Parcel> parcels;
    if (call.kind == CollectiveKind::kBroadcast) {
      for (int member = 1; member < n && parts.me == 0; ++member)
        parcels.push_back(parts.parcel(true, member, MailKind::kSecondHalf, call.data, call.bytes));
      if (parts.me != 0)
        parcels.push_back(parts.parcel(false, 0, MailKind::kSecondHalf, call.data, call.bytes));
    } else if (call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather) {
      std::byte* mine = call.data + own.begin;
      if (call.kind == CollectiveKind::kAllGather && call.own != nullptr && call.own != mine)
        std::copy_n(call.own, own.bytes, mine);
      for (int member = 0; member < n; ++member) {
        if (member == parts.me) continue;
        const Collective::Range theirs = parts.chunk(member);
        parcels.push_back(parts.parcel(false, member, MailKind::kSecondHalf,
                                       call.data + theirs.begin, theirs.bytes));
        parcels.push_back(parts.parcel(true, member, MailKind::kSecondHalf, mine, own.bytes));
      }
    }
    if (Result<void> done = mail_.move(parcels); !done) return done;
    count(call, parcels);
    return {};
  }

  static void count(CollectiveCall& call, const std::vector<Parcel>& parcels) {
    for (const Parcel& parcel : parcels) {
      (parcel.send ? call.sent : call.received) += parcel.bytes;
      call.met = std::max(call.met, parcel.met);
    }
  }

  std::vector<std::byte> take_scratch() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    std::vector<std::byte> scratch = std::move(spare_.back());
    spare_.pop_back();
    return scratch;
  }
  void give_scratch(std::vector<std::byte> scratch) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(scratch));
  }

  Message fail(Message why) {
    stop_.raise(why);
    return why;
  }

  World& world_;
  const Program& program_;
  Stop& stop_;
  Mail mail_;
  std::unique_ptr<Device> host_ = make_cpu_device();
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> spare_;  // of lanes' collectives, kept for the next
};

class WorldBarrier final : public Transport {
 public:
  explicit WorldBarrier(World& world) : world_(world) {}
  int rank() const override { return world_.rank(); }
  Result<void> transfer(std::span<TransferPart>) override { return stopped(); }
  Result<void> collective(CollectiveCall&) override { return stopped(); }
  Result<TimePoint> barrier() override { return world_.barrier(); }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Transport> make_socket_transport(World& world, const Program& program, Stop& stop) {
  return std::make_unique<SocketTransport>(world, program, stop);
}

std::unique_ptr<Transport> make_world_barrier(World& world) {
  return std::make_unique<WorldBarrier>(world);
}

}  // namespace parallelarium
