// SPDX-License-Identifier: Apache-2.0
// Where a rank's tensors live, and the order in which its lanes work on them.
//
// train/ and run/ see device memory only through this interface and Device. They pass addresses on
// and add to them but never dereference them, so the same pieces run on a CPU thread and on a GPU.
//
// One object stands for one lane of one rank and does its launches in order. On a GPU it is a CUDA
// stream; on the CPU it is the calling thread, and a launch has finished when it returns. Objects
// of one rank share addresses. A failed launch sticks: later launches may be skipped, and finish()
// says why. Not thread-safe: one thread uses one object.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/train/values.h"

namespace parallelarium {

// Memory, order and time of a lane. Arenas, transports and collectives need no more of it.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  // Memory. allocate: 256-byte aligned or better, contents undefined; error "memory-short" says how
  // much was asked for. release takes an address from allocate, or null.
  virtual Result<std::byte*> allocate(std::int64_t bytes) = 0;
  virtual void release(std::byte* address) = 0;
  virtual void zero(std::byte* address, std::int64_t bytes) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
  // The host may reuse its array at once.
  virtual void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) = 0;
  virtual void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) = 0;

  // Bytes that the object holds beside what it allocated; it gives them back when it ends.
  virtual std::int64_t workspace_bytes() const { return 0; }

  // Waits until everything launched on this object is done. Returns the first failure since the
  // last call.
  virtual Result<void> finish() = 0;

  // Whether launches may return before they are done (a stream of a GPU). Then marks give the order
  // between objects, and times. Otherwise a launch has finished when it returns, and nobody needs
  // marks.
  virtual bool runs_behind() const { return false; }
  // The first launch that failed so far, without waiting; finish() says it too.
  virtual Result<void> launched() { return {}; }
  // Makes room for marks 0 .. count - 1, before other threads see this object.
  virtual void reserve_marks(std::int32_t count) { static_cast<void>(count); }
  // Sets the mark behind all launches so far; setting it again moves it.
  virtual void mark(std::int32_t index) { static_cast<void>(index); }
  // Later launches here begin after `other` has reached its mark. Another thread may have set that
  // mark, but before this call. Both must be of the same kind of device.
  virtual void wait(const DeviceStream& other, std::int32_t index) {
    static_cast<void>(other), static_cast<void>(index);
  }
  // Ties the device's clock to the process's. Returns by how much they may differ. `like`: another
  // object of the same kind, aligned just now; its alignment is reused if the clock is the same.
  virtual Result<std::chrono::nanoseconds> align(const DeviceStream* like = nullptr) {
    return static_cast<void>(like), std::chrono::nanoseconds{0};
  }
  // Whether the device has passed the mark. The mark must be set.
  virtual bool passed(std::int32_t index) const { return static_cast<void>(index), true; }
  // When the mark was passed. align() must have come before the mark was set, and finish() after.
  virtual Result<std::chrono::steady_clock::time_point> time_of(std::int32_t index) {
    return message("mark-unknown", "This device keeps no mark {}.", index);
  }

  // Whether a profiler wants names. Only then the launching thread calls enter_op and leave_op, in
  // pairs. The name outlives the object.
  virtual bool names_ops() const { return false; }
  virtual void enter_op(const char* name) { static_cast<void>(name); }
  virtual void leave_op() {}

  // target[i] = parts[0][i] op parts[1][i] op ..., rounded once: kernels/exchange/combine.h's
  // combine_cpu for any type and reduction. target may be one of the parts. The call reads the
  // addresses of the parts, at most 64. A device that cannot combine such a type fails as a launch
  // does.
  virtual void combine(DataType type, Reduction reduction, std::byte* target,
                       std::span<const std::byte* const> parts, int divisor,
                       std::int64_t count) = 0;
  // Swaps two stretches that do not overlap.
  virtual void swap(std::byte* a, std::byte* b, std::int64_t bytes) = 0;
  // to[i] = from[i] in the type of `to`, rounded once. Both fp32 or bf16, and not the same.
  virtual void cast(Values to, ConstValues from, std::int64_t count) = 0;
  // sum[i] += part[i], also fp64.
  virtual void accumulate(Values sum, ConstValues part, std::int64_t count) = 0;
};

}  // namespace parallelarium
