// SPDX-License-Identifier: Apache-2.0
// Ranks on GPUs of their own that exchange through NCCL.
//
// A rank connects to the world, splits from it a communicator for each of its groups, and issues
// everything in one order over all of them (issue_turns). A batch is one NCCL group. Communicators
// do not block: after a group the transport asks until NCCL has launched it, and only then lets
// another thread call NCCL or set a mark behind it. Two ranks connect at their first exchange, so
// the first launches wait for other ranks too. The span of an op begins when its stream reaches it,
// so it includes the waiting for other ranks.
//
// NCCL does whole collectives. Their bytes come from the formula (collective_volume) and say so
// (CollectiveCall::counted). The bytes of sends and receives are counted. NCCL adds in an order of
// its own, so sums equal those of other transports within rounding.
//
// The steps of our own algorithms are sends and receives. A step is one batch, so one NCCL group,
// and has a span of its own. What NCCL cannot do itself goes through scratch (nccl_staging.h).
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/run/gpu/nccl/library/nccl.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "engine/run/stop.h"
#include "engine/run/train/progress.h"
#include "engine/run/transport.h"

namespace parallelarium {

// How a rank waits for NCCL. Tests bring their own clock.
struct NcclWait {
  std::function<TimePoint()> now = [] { return Clock::now(); };
  std::function<void()> pause;  // between two looks, after the first ones; absent: 20 microseconds
  // A thread of NCCL's launches a group, mostly within this time. Until then the rank looks again
  // at once and only yields, since to sleep and wake up takes longer. Negative: 0.1 ms if there are
  // cores for ranks and such threads, else none.
  std::chrono::nanoseconds spin{-1};
  // The limit for closing. The watch over the run ends every other wait and knows which rank did
  // not come.
  std::chrono::nanoseconds closing{60'000'000'000};
};

class NcclTransport final : public Transport {
 public:
  // References outlive it. `host` keeps the barrier; `devices`: the lanes' of this rank;
  // `unique_id` gives all ranks the same id, made by one of them.
  NcclTransport(Nccl& nccl, const Program& program, const RankProgram& rank, Stop& stop,
                std::unique_ptr<Transport> host, std::function<Result<NcclId>()> unique_id,
                DeviceStream& device, NcclWait wait = {});
  ~NcclTransport() override;

  int rank() const override { return rank_.rank; }
  void report_to(RankProgress& progress) override { progress_ = &progress; }
  // Errors: "nccl-old", "nccl-failed", or "stopped".
  Result<void> connect() override;
  Result<void> look(const std::function<std::string()>& doing) override;
  // A test's stand-in has no file and nothing to load.
  bool waits_on_devices() const override { return !nccl_.path().empty(); }
  bool does_steps() const override { return true; }
  Result<void> transfer(std::span<TransferPart> parts) override;
  // Errors: also "collective-uneven", for an all-to-all in place whose chunks differ in size.
  Result<void> collective(CollectiveCall& call) override { return collectives({&call, 1}); }
  bool joins_collectives() const override { return true; }
  // Issues them in one NCCL group. joined_collectives() must join them.
  Result<void> collectives(std::span<CollectiveCall> calls) override;
  Result<TimePoint> barrier() override;
  // Errors: "nccl-failed", "nccl-timeout", or "stopped".
  Result<void> close() override;
  void abort() override;

 private:
  enum class Wait : std::uint8_t { kToConnect, kToLaunch, kToClose };

  NcclComm* comm_of(int group) const { return comms_[static_cast<std::size_t>(group)]; }
  int place_of(int group, int rank) const;
  // nccl_connect.cpp: the life of communicators.
  Result<void> allocate_scratch();
  Result<void> join_world();
  Result<void> join_group(const NcclSplit& split);
  Result<void> made(NcclComm* comm, const std::string& doing);
  void tell_connecting();
  Result<void> wait_for(NcclComm* comm, const std::string& doing, Wait wait);
  Result<void> checked(NcclStatus status, NcclComm* comm, const std::string& doing);
  Result<void> refused(Message why);

  std::int64_t issuing_from(std::int64_t turn) const;
  bool take_turn(std::int64_t turn);
  void pass_turn(std::int64_t turn);
  template <class Calls>
  Result<void> issue(std::int64_t turn, const std::string& doing, std::span<NcclComm* const> comms,
                     DeviceStream& lane, const Calls& calls);
  NcclStatus launch(const CollectiveCall& call, NcclComm* comm, int n, int me, DeviceStream& lane);
  Result<void> alone(CollectiveCall& call);
  // Whether NCCL can do it. If not, it has stopped the run and said why.
  Result<void> checked(const CollectiveCall& call, int n);
  std::byte* scratch_of(std::int32_t marks) const;
  void pause(Wait wait, TimePoint begin) const;

  Nccl& nccl_;
  const Program& program_;
  const RankProgram& rank_;
  Stop& stop_;
  const std::unique_ptr<Transport> host_;
  const std::function<Result<NcclId>()> unique_id_;
  DeviceStream& device_;  // for its memory, and the GPU of the communicators
  const NcclWait wait_;

  std::mutex mutex_;  // one thread of this rank calls NCCL at a time
  NcclComm* world_ = nullptr;
  NcclComm* none_ = nullptr;                  // what a split gives a rank that is in no child
  std::vector<NcclComm*> comms_;              // by group; null: this rank is not in it, or is alone
  std::vector<NcclComm*> open_;               // the ready ones, the world first
  bool ended_ = false;                        // closed or aborted
  std::array<std::byte*, kLanes> scratch_{};  // by lane: see above
  std::atomic<RankProgress*> progress_{nullptr};
  std::int32_t calls_ = 0;  // of connect(), so far
  // Ascending. An all-to-all of a rank with itself is an empty batch, which names no turn.
  const std::vector<std::int64_t> empty_turns_;
  std::atomic<std::uint32_t> next_turn_{0};
};

}  // namespace parallelarium
