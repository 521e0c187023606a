// SPDX-License-Identifier: Apache-2.0
// How ranks exchange bytes. The executor sees ranks, groups and addresses through this interface
// alone: behind it are threads of one process (cpu/fabric.h), processes (net/socket_transport.h) or
// NCCL (gpu/nccl_transport.h).
//
// Every call is a rendezvous: it returns when the bytes have moved, and nothing is buffered. The
// k-th send from a to b in a group meets the k-th receive; `sequence` is that k.
//
// Where devices run behind, a call returns when its work stands in their streams in the right order
// instead; threads meet then only to agree on it.
//
// A paced run exchanges modelled time along with the bytes: participants agree on when the last of
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
  Nanoseconds modelled{0};  // the same had no real work before it taken longer than modelled
  Nanoseconds duration{0};  // how long it takes once all are ready
};

// Marks of a communication op on its lane's device, from `marks` on. Used where devices run behind.
inline constexpr std::int32_t kMarksOfOp = 5;
inline constexpr std::int32_t kBeganMark = 0;  // all sides were there: the span begins
inline constexpr std::int32_t kEndedMark = 1;  // set by the executor
inline constexpr std::int32_t kPostedMark = 2, kHalfMark = 3, kDoneMark = 4;

// A stretch of a rank's memory.
struct Stretch {
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
  // Where the payload lies in several places: these one after another, and not `data`. They stay
  // until the call returns. The two sides may cut the message differently.
  std::span<const Stretch> stretches;
  // Of a receive: what comes is combined with what is there, as numbers of this type.
  Reduction reduction = Reduction::kNone;
  DataType type = DataType::kF32;
  Pace pace;                       // in: this side's; out: the later readiness, the longer duration
  DeviceStream* device = nullptr;  // of the lane: its memory, and what copies; null: host memory
  std::int32_t marks = 0;          // the op's first
  std::int64_t turn = -1;          // as in CollectiveCall
  // Filled by the call:
  TimePoint met;           // when the second side arrived
  std::int64_t moved = 0;  // bytes that were copied
};

// One collective on `data`, which holds the whole array on every member: all_gather and broadcast
// fill what others hold, reduce_scatter leaves the sum in the own chunk (chunk_of), all_to_all
// exchanges chunks. Where the own chunk lies elsewhere, `own` says where: all_gather takes it from
// there, reduce_scatter writes or adds the sum there and leaves `data` as it was. A reduction adds
// in rank order, so its result is the same bits on every member and in every run.
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
  // Place among the rank's communication of one step (issue_turns), for transports that issue in
  // one order; -1: nothing else of the rank is under way.
  std::int64_t turn = -1;
  TimePoint met;
  std::int64_t sent = 0, received = 0;  // what this member's data travelled
  bool counted = true;                  // as copied; false: by the formula
};

// One rank's end. Safe from its lanes' threads at once.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;

  // By the rank's thread, before its first call and after its last; the ranks meet in both. Errors:
  // a sentence that has been given to the run's Stop, or "stopped".
  virtual Result<void> connect() { return {}; }
  virtual Result<void> close() { return {}; }
  // Where the rank says how far connect() has come; before it or during it, from any thread.
  virtual void report_to(RankProgress& progress) { static_cast<void>(progress); }
  // Whether what was issued has failed since, as when a connection breaks: asked now and then by
  // who watches. From any thread; waits for nobody. `doing`: what the rank is at, for the sentence.
  virtual Result<void> look(const std::function<std::string()>& doing) {
    return static_cast<void>(doing), Result<void>{};
  }
  // Ends what is under way, also on devices, when the run has been stopped. From any thread; blocks
  // until it has ended.
  virtual void abort() {}

  // Whether its devices may wait for other ranks', so that a driver which loads a kernel in mid-run
  // may wait for them in vain: then all are loaded before connect() (Executor::load).
  virtual bool waits_on_devices() const { return false; }

  // Whether receives may combine and messages may lie in several places, as the steps of
  // collectives need it.
  virtual bool does_steps() const { return false; }

  // Starts all parts together and returns when all have moved. Errors: "stopped"; "transfer-size"
  // where the two sides disagree about the bytes, which also stops the run.
  virtual Result<void> transfer(std::span<TransferPart> parts) = 0;

  // Errors: "stopped"; "collective-differs" where members disagree, which also stops the run;
  // "collective-unknown" for a data type that cannot be reduced.
  virtual Result<void> collective(CollectiveCall& call) = 0;
  // Whether it is worth giving it neighbouring collectives at once (gpu/nccl_joins.h), and how:
  // they are of one group and lane, and their turns follow each other. They begin and end together.
  virtual bool joins_collectives() const { return false; }
  virtual Result<void> collectives(std::span<CollectiveCall> calls) {
    for (CollectiveCall& call : calls)
      if (Result<void> done = collective(call); !done) return done;
    return {};
  }

  // Waits for all ranks; the same time on each: when the last arrived. One thread per rank.
  virtual Result<TimePoint> barrier() = 0;
};

}  // namespace parallelarium
