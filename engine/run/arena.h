// SPDX-License-Identifier: Apache-2.0
// The one allocation of a rank, and the count of what is open in it. Ops open and close buffers as
// they run. The peak follows their order in the Program, so it does not depend on timing.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/train/device_stream.h"

namespace parallelarium {

class Arena {
 public:
  // Allocates rank.arena_bytes and zeroes them, so that every page is there before the first step.
  // `poison` fills a buffer with not-a-number after its last use. `device` and `rank` outlive the
  // arena. Error "memory-short".
  static Result<std::unique_ptr<Arena>> make(DeviceStream& device, const RankProgram& rank,
                                             bool poison);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Restores its first state. No op may be running. Error: the device's.
  Result<void> clear();

  std::byte* base() const { return base_; }
  std::byte* address(const Operand& operand) const;
  // The buffer of a tensor that the rank holds all the time, or null.
  std::byte* held(Tensor tensor) const;

  // The lane's thread calls these around each op; `device` is the lane's.
  void begin(std::int32_t op);
  void end(std::int32_t op, DeviceStream& device);

  // The peaks since the last call. No op may be running.
  MemoryRow take_peaks();

 private:
  struct Change {
    std::int32_t op = 0;
    bool closes = false;
    int category = 0;
    std::int64_t bytes = 0;
  };
  Arena(DeviceStream& device, const RankProgram& rank, bool poison);
  void poison_buffer(std::int32_t buffer, DeviceStream& device);

  DeviceStream& device_;
  const RankProgram& rank_;
  std::byte* base_ = nullptr;
  bool poison_ = false;
  // By op: the buffers that it opens, closes and uses (each once).
  std::vector<std::vector<std::int32_t>> opens_, closes_, uses_;
  std::array<std::vector<Change>, kLanes> changes_;          // by lane: each thread writes its own
  std::unique_ptr<std::atomic<std::int32_t>[]> users_left_;  // by buffer; poison only
  std::vector<std::int32_t> users_;
  std::vector<std::byte> pattern_;
};

}  // namespace parallelarium
