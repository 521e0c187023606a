// SPDX-License-Identifier: Apache-2.0
// How an action changes the times at which a rank's lanes are free, whenever it comes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/planner/bounds/bound.h"

namespace parallelarium {

// The times that a walk keeps of a rank beside its latest transfer: when its lanes are free, and
// when the next stretch's experts and its other parameters are there. While an action is walked, it
// also keeps when what comes is there and when what goes can leave.
enum class PassageTime : std::uint8_t {
  kCompute,
  kPipeline,
  kData,
  kRings,  // if rings have a lane to themselves
  kExperts,
  kOthers,
  kArrival,
  kLeaves
};
inline constexpr std::size_t kMoments = 8;
using Moments = std::array<std::int64_t, kMoments>;

// A moment as the latest of earlier moments, each plus a delay. kNoWay: that moment does not count.
class Latest {
 public:
  Latest() { after_.fill(kNoWay); }
  static Latest of(PassageTime moment) {
    Latest latest;
    latest.after_[static_cast<std::size_t>(moment)] = 0;
    return latest;
  }
  Latest operator+(std::int64_t later) const {
    Latest sum = *this;
    for (std::int64_t& after : sum.after_)
      if (after > kNoWay) after += later;
    return sum;
  }
  void raise(const Latest& other) {
    for (std::size_t from = 0; from < kMoments; ++from)
      after_[from] = std::max(after_[from], other.after_[from]);
  }
  std::int64_t after(std::size_t from) const { return after_[from]; }

 private:
  Moments after_;
};

// What becomes of the moments in an action, or in anything else that is always the same. Times only
// add up and wait for each other. So one walk through the layers of an action serves all actions
// that are alike.
class Passage {
 public:
  Passage() {
    for (std::size_t at = 0; at < kMoments; ++at) moments_[at] = Latest::of(PassageTime(at));
    (*this)[PassageTime::kLeaves] = Latest();
  }
  Latest& operator[](PassageTime moment) { return moments_[static_cast<std::size_t>(moment)]; }
  // Turns this into ways from one moment to another, which are few.
  void finish() {
    (*this)[PassageTime::kArrival] = Latest();
    for (std::uint8_t to = 0; to < kMoments; ++to)
      for (std::uint8_t from = 0; from < kMoments; ++from)
        if (const std::int64_t takes = moments_[to].after(from); takes > kNoWay)
          ways_.push_back({from, to, takes});
  }
  // Returns the moments after the action, each as late as its ways say. What came counts no more in
  // the next action.
  Moments of(const Moments& before) const {
    Moments after;
    after.fill(kNoWay);
    for (const Way& way : ways_)
      if (before[way.from] > kNoWay)
        after[way.to] = std::max(after[way.to], before[way.from] + way.takes);
    return after;
  }

 private:
  struct Way {
    std::uint8_t from = 0, to = 0;
    std::int64_t takes = 0;
  };
  std::array<Latest, kMoments> moments_;
  std::vector<Way> ways_;
};

}  // namespace parallelarium
