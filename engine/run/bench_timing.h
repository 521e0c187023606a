// SPDX-License-Identifier: Apache-2.0
// How calibration times one call on a device, with operands where a step has them.
#pragma once

#include <chrono>
#include <functional>

#include "engine/train/device.h"

namespace parallelarium {

// Device memory for one measurement: floats that are small and not alike. In a step an op finds in
// the nearest cache what the op before it has written; weights, and what a forward keeps for the
// backward, have long left it. So the former is measured at one place, the latter each time at the
// next, all places together being larger than that cache.
class Floats {
 public:
  enum Places { kOne, kMany };
  Floats(Device& device, std::int64_t count, Places places = kOne)
      : device_(device), count_(places == kOne ? count : std::max(count, kTogether)) {
    const std::int64_t bytes = count_ * 4;
    Result<std::byte*> address = device.allocate(bytes);
    if (!address) return;
    address_ = *address;
    std::vector<float> values(static_cast<std::size_t>(count_));
    std::uint32_t random = 1;  // no pattern for the processor to learn
    for (float& value : values) {
      random = random * 1'664'525 + 1'013'904'223;
      value = 0.01F * static_cast<float>(static_cast<int>(random >> 16) % 97 - 48);
    }
    device.copy_to_device(address_, values.data(), bytes);
    static_cast<void>(device.finish());
  }
  ~Floats() { device_.release(address_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* get() const { return reinterpret_cast<float*>(address_); }
  // The next `count` in turn. Requires: count is at most that of the constructor.
  float* next(std::int64_t count) const {
    next_ = next_ + 2 * count <= count_ ? next_ + count : 0;
    return get() + next_;
  }

 private:
  static constexpr std::int64_t kTogether = 1 << 20;  // floats: 4 MiB
  Device& device_;
  std::byte* address_ = nullptr;
  std::int64_t count_ = 0;
  mutable std::int64_t next_ = 0;
};

// What comes between two calls that are timed, as other ops do in a step, where short pieces take
// up to a third longer than in a loop of their own.
class Interlude {
 public:
  explicit Interlude(Device& device);
  void play() const;

 private:
  static constexpr std::int64_t kTokens = 128, kInputs = 64, kOutputs = 256;
  static constexpr std::int64_t kHalf = kTokens * kOutputs / 2;
  Device& device_;
  Floats x_, weight_, y_;
};

// The upper one of two; 0 of none.
double median(std::vector<double> samples);

// Seconds of one call, from calls for so long at least; without an interlude of many in a row.
// Infinity where the device fails, so that nothing is concluded from it.
double typical_seconds(Device& device, const std::function<void()>& work,
                       std::chrono::nanoseconds least, const Interlude* interlude = nullptr);

}  // namespace parallelarium
