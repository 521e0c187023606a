// SPDX-License-Identifier: Apache-2.0
// How calibration times one call on a device, with operands where a step has them.
#pragma once

#include <chrono>
#include <functional>

#include "engine/train/device.h"

namespace parallelarium {

// Device memory for one measurement: numbers of a type that are small and not alike. In a step an
// op finds in the nearest cache what the op before it has written; weights, and what a forward
// keeps for the backward, have long left it. So the former is measured at one place, the latter
// each time at the next, all places together being larger than that cache.
class Numbers {
 public:
  // `together`: bytes of all places, or a little more; 0: one place. Where the device has no room
  // for several there is one, and where it has none there is nothing.
  Numbers(Device& device, DataType type, std::int64_t count, std::int64_t together = 0);
  ~Numbers() { device_.release(address_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  bool is_there() const { return address_ != nullptr; }
  Values get() const { return {type_, address_}; }
  // Requires: of that type.
  float* floats() const { return get().as<float>(); }
  // The next `count` in turn. Requires: count is at most that of the constructor.
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

// What the device has no room for cannot be measured.
template <class... Several>
bool all_there(const Several&... numbers) {
  return (... && numbers.is_there());
}

// What comes between two calls that are timed, as other ops do in a step, where short pieces take
// up to a third longer than in a loop of their own.
class Interlude {
 public:
  Interlude(Device& device, DataType type);
  void play() const;

 private:
  static constexpr std::int64_t kTokens = 128, kInputs = 64, kOutputs = 256;
  static constexpr std::int64_t kHalf = kTokens * kOutputs / 2;
  Device& device_;
  Numbers x_, weight_, y_;
};

// The upper one of two; 0 of none.
double median(std::vector<double> samples);

struct CallTime {
  double seconds = 0;
  double host_seconds = 0;  // until its host has launched it; of devices that run behind
};
// Of one call, from calls for so long at least; without an interlude of many in a row. Infinity
// where the device fails, so that nothing is concluded from it.
CallTime typical_time(Device& device, const std::function<void()>& work,
                      std::chrono::nanoseconds least, const Interlude* interlude = nullptr);

}  // namespace parallelarium
