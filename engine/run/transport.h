// SPDX-License-Identifier: Apache-2.0
// Ranks exchange bytes through this interface. Behind it are threads of one process (cpu/fabric.h),
// processes (net/socket_transport.h) or NCCL (gpu/nccl/nccl_transport.h), and the executor does not
// know which.
//
// Every call is a rendezvous: it returns when the bytes have moved, and nothing is buffered. The
// k-th send from a to b in a group meets the k-th receive; `sequence` is that k.
//
// If devices run behind, a call returns when its work is in their streams in the right order.
// Threads then meet only to agree on that order.
//
// A rehearsal exchanges modelled time along with the bytes: participants agree on when the last of
// them was ready and on the longest of their durations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/run/stop.h"
#include "engine/train/device_stream.h"

namespace parallelarium {

struct RankProgress;  // progress.h

// Modelled time, since the start of the step.
struct Pace {
  Nanoseconds ready{0};     // when this participant could begin
  Nanoseconds modelled{0};  // the same if no earlier real work had taken longer than modelled
  Nanoseconds duration{0};  // how long it takes once all are ready
};

// The marks of a communication op on its lane's device, counted from `marks`, if devices run
// behind.
inline constexpr std::int32_t kMarksOfOp = 5;
inline constexpr std::int32_t kBeganMark = 0;  // all sides are there: the span begins
inline constexpr std::int32_t kEndedMark = 1;  // set by the executor
inline constexpr std::int32_t kPostedMark = 2, kHalfMark = 3, kDoneMark = 4;

// A stretch of a rank's memory.
struct MemoryPiece {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// One Send or Recv. Ops of one batch are one call, so that they progress concurrently.
struct TransferPart {
  bool send = false;
  int peer = -1;              // global rank
  int group = -1;             // index in Program::groups
  std::int64_t sequence = 0;  // k-th of its (group, from, to)
  std::byte* data = nullptr;  // sent from, or received into
  std::int64_t bytes = 0;     // of the whole message
  // If not empty, the payload is in these places, in this order, and not in `data`. They stay until
  // the call returns. The two sides may cut the message differently.
  std::span<const MemoryPiece> stretches;
  // A receive combines what comes with what is there, as numbers of this type.
  Reduction reduction = Reduction::kNone;
  DataType type = DataType::kF32;
  Pace pace;                       // in: this side's; out: the later `ready`, the longer `duration`
  DeviceStream* device = nullptr;  // the lane's; it copies. Null: host memory
  std::int32_t marks = 0;          // the op's first
  std::int64_t turn = -1;          // as in CollectiveCall
  // Filled by the call:
  TimePoint met;           // when the second side arrived
  std::int64_t moved = 0;  // copied bytes
};

// One collective on `data`, which has the whole array on every member. all_gather and broadcast
// fill in what others hold, reduce_scatter leaves the sum in the own chunk (chunk_of), all_to_all
// exchanges chunks. If the own chunk lies elsewhere, `own` says where: all_gather takes it from
// there; reduce_scatter writes or adds the sum there and leaves `data` as it was. A reduction adds
// in rank order, so every member and every run get the same bits.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int group = -1;
  std::int64_t sequence = 0;  // k-th collective of its group
  DataType type = DataType::kF32;
  Reduction reduction = Reduction::kNone;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;  // of the whole array
  std::byte* own = nullptr;
  bool adds = false;  // reduce_scatter adds to `own`
  Pace pace;
  DeviceStream* device = nullptr;  // as in TransferPart
  std::int32_t marks = 0;
  // Its turn among the rank's communication of one step (issue_turns), for transports that issue in
  // one order; -1: nothing else of the rank is under way.
  std::int64_t turn = -1;
  TimePoint met;
  std::int64_t sent = 0, received = 0;  // by this member
  bool counted = true;                  // false: by the formula
};

// One rank's end. Its lanes' threads may call it at once.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;

  // The rank's thread calls these before its first call and after its last; the ranks meet in both.
  // Error: "stopped", or the reason, which the run's Stop then has too.
  virtual Result<void> connect() { return {}; }
  virtual Result<void> close() { return {}; }
  // The rank reports the progress of connect() there. Call it before connect() or during it, from
  // any thread.
  virtual void report_to(RankProgress& progress) { static_cast<void>(progress); }
  // The watch asks now and then whether issued work has failed since, as when a connection breaks.
  // From any thread; waits for nobody. `doing`: what the rank is doing, for the sentence.
  virtual Result<void> look(const std::function<std::string()>& doing) {
    return static_cast<void>(doing), Result<void>{};
  }
  // Ends all work under way, also on devices, after the run was stopped. From any thread; blocks
  // until that is done.
  virtual void abort() {}

  // Whether its devices may wait for other ranks' devices. A driver that loads a kernel then could
  // wait for ever, so Executor::load loads all kernels before connect().
  virtual bool waits_on_devices() const { return false; }

  // Whether receives may combine and messages may lie in several places; the steps of collectives
  // need that.
  virtual bool does_steps() const { return false; }

  // Starts all parts together and returns when all have moved. Errors: "stopped"; "transfer-size"
  // if the two sides disagree about the bytes, which also stops the run.
  virtual Result<void> transfer(std::span<TransferPart> parts) = 0;

  // Errors: "stopped"; "collective-differs" if members disagree, which also stops the run;
  // "collective-unknown" for a data type that it cannot reduce.
  virtual Result<void> collective(CollectiveCall& call) = 0;
  // Whether neighbouring collectives should come in one call (gpu/nccl/nccl_joins.h). They are of
  // one group and lane, their turns follow each other, and they begin and end together.
  virtual bool joins_collectives() const { return false; }
  virtual Result<void> collectives(std::span<CollectiveCall> calls) {
    for (CollectiveCall& call : calls)
      if (Result<void> done = collective(call); !done) return done;
    return {};
  }

  // Waits for all ranks. Returns when the last arrived, the same time on each. One thread per rank
  // calls it.
  virtual Result<TimePoint> barrier() = 0;
};

}  // namespace parallelarium
