// SPDX-License-Identifier: Apache-2.0
// Times one call on a device, with operands where a step has them.
#pragma once

#include <chrono>
#include <functional>

#include "engine/train/device.h"

namespace parallelarium {

// Device memory for one measurement, filled with small and different numbers. In a step, an op
// finds the output of the op before it in the nearest cache. Weights, and what a forward keeps for
// the backward, have long left that cache. So a measurement keeps the former at one place, and
// moves the latter to the next place for each call. All places together are larger than that cache.
class DeviceNumbers {
 public:
  // `together`: bytes of all places, or a little more; 0: one place. If the device has no room for
  // several there is one, and if it has no room for one there is nothing.
  DeviceNumbers(Device& device, DataType type, std::int64_t count, std::int64_t together = 0);
  ~DeviceNumbers() { device_.release(address_); }
  DeviceNumbers(const DeviceNumbers&) = delete;
  DeviceNumbers& operator=(const DeviceNumbers&) = delete;
  bool is_there() const { return address_ != nullptr; }
  Values get() const { return {type_, address_}; }
  // The type must be fp32.
  float* floats() const { return get().as<float>(); }
  // The next place, for `count` numbers. `count` must be that of the constructor at most.
  Values next(std::int64_t count) const {
    next_ = next_ + 2 * count <= count_ ? next_ + count : 0;
    return get() + next_;
  }

 private:
  Device& device_;
  DataType type_;
  std::byte* address_ = nullptr;
  std::int64_t count_ = 0;
  mutable std::int64_t next_ = 0;
};

// Whether the device had room for all, so that they can be measured.
template <class... Several>
bool all_there(const Several&... numbers) {
  return (... && numbers.is_there());
}

// Work between two timed calls, as other ops in a step: there, short pieces take up to a third
// longer than in a loop of their own.
class Interlude {
 public:
  Interlude(Device& device, DataType type);
  void play() const;

 private:
  static constexpr std::int64_t kTokens = 128, kInputs = 64, kOutputs = 256;
  static constexpr std::int64_t kHalf = kTokens * kOutputs / 2;
  Device& device_;
  DeviceNumbers x_, weight_, y_;
};

// The median; the upper one of the middle two, and 0 of no samples.
double median(std::vector<double> samples);

struct CallTime {
  double seconds = 0;
  double host_seconds = 0;  // until the host has launched it, if the device runs behind
};
// The typical time of one call, from calls for at least `least`; without an interlude, many calls
// in a row. Infinity if the device fails, so that nobody uses the time.
CallTime typical_time(Device& device, const std::function<void()>& work,
                      std::chrono::nanoseconds least, const Interlude* interlude = nullptr);

}  // namespace parallelarium
