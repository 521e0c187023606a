// SPDX-License-Identifier: Apache-2.0
// Executes one rank's part of a Program, step by step. Each lane has a thread, which runs its ops
// in order and waits for `after` edges and for the ranks that it exchanges with.
//
// In a rehearsal no op ends before its ideal end. That is the latest ideal end of what it waits for
// (its lane, its `after` edges, and its peers through messages) plus its duration; the thread
// sleeps until then. Ops inherit ideal ends, so a timer that wakes late delays nothing but itself.
// If real work takes longer than it should, its real processor time replaces the duration.
//
// If devices run behind (GPUs), a lane's thread launches its ops without waiting for them. `after`
// edges become waits of one stream for a mark of another (gpu/event_plan.h), and marks give the
// times after the step. The thread stays a bounded number of launches ahead of its device: a
// driver's queue is finite, and a call that waits for room there neither ends when the run does nor
// tells where the device is.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/run/arena.h"
#include "engine/run/gpu/event_plan.h"
#include "engine/run/ledger.h"
#include "engine/run/stop.h"
#include "engine/run/train/progress.h"
#include "engine/run/transport.h"
#include "engine/train/device.h"
#include "engine/train/pieces/execute.h"

namespace parallelarium {

using LaneDevices = std::array<std::unique_ptr<Device>, kLanes>;

// What was observed of a rank in one step.
struct StepRecord {
  bool wants_cpu_time = true;  // set by the caller; asking costs more than a small message
  std::vector<Span> spans;     // by op, since the common start
  MemoryRow memory;
  std::vector<TrafficRow> traffic;
  std::vector<std::int64_t> sent_bytes;  // by op, as the transport counted them
  Nanoseconds cpu_time{0};               // of all lanes; 0 on GPUs or if not wanted
  Nanoseconds compute_cpu_time{0};       // of the compute lane
  Nanoseconds clock_error{0};            // how far the spans' clock may be off this process's
  Nanoseconds modelled_end{0};           // in a rehearsal: the end if no real work takes too long
  // In a rehearsal: what its compute ops take if each begins when it should.
  Nanoseconds compute_given{0};
  std::vector<OpSlot> slots;  // of a rehearsal, by op
  // Devices that run behind: the longest that the compute lane's device can have waited for its
  // host, from when each compute op could begin until the host had launched all of it.
  Nanoseconds host_time{0};
};

// Looks at the memory of a rank during a step. It writes nothing there.
class OpProbe {
 public:
  virtual ~OpProbe() = default;
  // Called before every op of the step, by the thread of its lane, when everything that the op
  // waits for in its own rank has ended. `device` is the lane's; what it is asked to do comes
  // before the op.
  // An error ends the run.
  virtual Result<void> before(std::int32_t op, Device& device) = 0;
  // Called after the op, before others hear of its end and before the mark of its end.
  virtual Result<void> after(std::int32_t op, Device& device) {
    return static_cast<void>(op), static_cast<void>(device), Result<void>{};
  }
};

class Executor {
 public:
  // Starts threads for the lanes that have ops, except the compute lane, which uses the caller's.
  // References outlive the executor. `durations` by op, by the clock; empty: no rehearsal. `slow`:
  // Compute ops keep their core busy for that many times their work (CPUs only; no rehearsal).
  Executor(const Program& program, const RankProgram& rank, Transport& transport,
           LaneDevices& devices, Arena& arena, Stop& stop, RankProgress& progress,
           std::vector<Nanoseconds> durations, double slow = 1);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Launches once all that the ops launch, every kernel and every size of products, on zeros and in
  // the order of the ops, so that drivers and libraries load nothing later. Then it clears the
  // arena. Call it before the transport connects, if the transport asks for it. It takes powers of
  // two for rows of experts, whose number each step finds out. Error: as step().
  Result<void> load();

  // Call it before each step: ties the devices' clocks to the process's, unless it just did so.
  // Error: as step().
  Result<void> align();

  // Waits for the other ranks before a step. Returns when all have come, the same time on all
  // ranks.
  Result<TimePoint> meet();

  // Sets the probes that look at the steps from now on. No step may be under way.
  void set_probes(std::vector<OpProbe*> probes) { probes_ = std::move(probes); }

  // Runs all ops once. `start`: the same time on all ranks. Error: "stopped"; Stop has the reason.
  Result<void> step(TimePoint start, const StepScalars& scalars, StepRecord& record);

  // For the held-out loss: runs only the forwards of micro-batches [0, microbatches), their
  // transfers, and the gathers of parameters that they need, one op after another in issue order,
  // without pace, counts or record.
  Result<void> forward(int microbatches);

 private:
  // The places of an exchange's messages in its buffer, in rows: entry i = rank * here + expert.
  struct RowLayout {
    std::vector<std::int64_t> first, count;
    void set(std::span<const std::int32_t> counts, std::size_t ranks, bool grouped);
    std::int64_t rows() const;
    std::int64_t rows_of(std::size_t index, std::size_t ranks) const;  // of one of the ranks
  };
  struct ExchangeRows {  // kept from step to step: a step allocates nothing
    std::vector<std::int32_t> counts[2];
    RowLayout from, to;
  };
  struct LaneState {
    std::vector<std::int32_t> ops;
    std::atomic<std::uint32_t> done{0};  // ops of this lane that have ended in this step
    // How many ops of this lane each lane's thread waits for; 0: none. A waiting thread is woken
    // only when it can go on.
    std::array<std::atomic<std::uint32_t>, kLanes> awaited{};
    Ledger ledger;
    std::vector<TransferPart> parts;    // of the transfer under way
    std::vector<CollectiveCall> calls;  // of the collectives under way
    ExchangeRows rows;                  // of the exchange under way
    Nanoseconds cpu_time{0};
    // Devices that run behind: how many ops keep_close() has seen end, and the launches of later
    // ones so far.
    std::size_t passed = 0;
    std::int64_t ahead = 0;
    std::size_t ended = 0;  // ops that the following thread has seen its device end
    std::size_t read = 0;   // how many of these have their times in ends_
    std::thread thread;
  };
  struct Ideal {
    Nanoseconds end{0};       // with overruns of real work
    Nanoseconds modelled{0};  // without
  };

  void lane_thread(Lane lane);
  bool run_lane(Lane lane);
  bool run_unit(Lane lane, std::span<const std::int32_t> unit, Ideal& lane_ideal);
  bool await(Lane me, std::int32_t op);
  void publish(Lane lane, std::size_t count);
  // Executes an op, or the transfers of a batch. An exception in it fails the run. `ledger` is null
  // outside of a step.
  bool execute(std::span<const std::int32_t> unit, const StepScalars& scalars, Pace& pace,
               Ideal& ideal, Ledger* ledger, TimePoint& begin, Nanoseconds& real_work);
  bool probe(std::span<const std::int32_t> unit, Device& device, bool done);
  bool compute(std::int32_t op, const StepScalars& scalars, Nanoseconds& real_work);
  bool transfer(std::span<const std::int32_t> unit, const Pace& pace, Ideal& ideal, Ledger* ledger,
                TimePoint& begin);
  bool collectives(std::span<const std::int32_t> unit, Pace& pace, Ledger* ledger,
                   TimePoint& begin);
  CollectiveCall call_of(std::int32_t op, const Pace& pace, bool in_step);
  bool exchange(std::int32_t op, Pace& pace, Ledger* ledger, TimePoint& begin);
  bool lay_out_rows(std::int32_t op, std::size_t ranks);
  void message_rows(std::int32_t op, std::size_t me, std::int64_t row_bytes, const Pace& pace,
                    bool in_step);
  // The modelled time of an op; an expert's follows the rows that it has in this step.
  Nanoseconds duration_of(std::int32_t op);
  void fail(std::int32_t op, const Message& why);
  // load() for one op.
  bool load_op(std::int32_t op);
  bool load_experts(std::int32_t op, const StepScalars& scalars);
  void load_communication(const Op& op, Device& device);
  bool keep_close(Lane lane, std::size_t place, std::size_t count);
  void begin_to_follow();
  void end_following();
  bool follow();
  bool follow(Lane lane);
  bool follow_lanes();
  bool read_ends();
  bool finish_lanes();
  bool read_marks();
  bool outside(const Message& why);
  Device& device_of(std::int32_t op) { return *devices_[static_cast<std::size_t>(op_at(op).lane)]; }
  LaneState& lane_of(std::int32_t op) {
    return lanes_[static_cast<std::size_t>(rank_.ops[static_cast<std::size_t>(op)].lane)];
  }
  const Op& op_at(std::int32_t op) const { return rank_.ops[static_cast<std::size_t>(op)]; }

  const Program& program_;
  const RankProgram& rank_;
  Transport& transport_;
  LaneDevices& devices_;
  Arena& arena_;
  Stop& stop_;
  RankProgress& progress_;
  const std::vector<Nanoseconds> durations_;
  const double slow_;
  const bool behind_;               // devices run behind
  const EventWaits waits_;          // if they do
  const std::vector<bool> joined_;  // by op: with the collective before it; empty: none
  Nanoseconds clock_error_{0};
  TimePoint aligned_{};
  Nanoseconds host_time_{0};  // of the last step

  std::vector<std::uint32_t> place_in_lane_;  // by op
  // By op: the places of a message that is in several places; Send and Recv only.
  std::vector<std::vector<MemoryPiece>> stretches_;
  // By op, for communication only: its number among those that meet at the same place, over all
  // steps; and how many of these a step has.
  std::vector<std::int64_t> sequence_, meetings_;
  std::vector<std::int32_t> turn_;  // by op; communication only
  std::vector<std::string> names_;  // by op; empty if no device wants them
  std::array<LaneState, kLanes> lanes_;

  std::vector<OpProbe*> probes_;

  // These are for the step under way.
  bool reads_cpu_time_ = false;
  TimePoint start_;
  StepScalars scalars_;
  std::vector<Span> spans_;
  std::vector<std::int64_t> sent_;  // by op; each lane's thread writes its own
  std::vector<OpSlot> slots_;       // of a rehearsal, by op
  std::vector<Nanoseconds> ends_;   // by op; devices that run behind
  std::vector<Ideal> ideal_;

  std::atomic<std::uint32_t> round_{0};  // counts steps; odd or even does not matter
  std::atomic<bool> quit_{false};
};

}  // namespace parallelarium
