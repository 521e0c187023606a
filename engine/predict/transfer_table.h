// SPDX-License-Identifier: Apache-2.0
// Rates between CPU ranks from measured points: caches make them depend on the size, which one
// bandwidth cannot say.
#pragma once

#include <vector>

#include "engine/collectives/observation.h"

namespace parallelarium {

class TransferTable {
 public:
  explicit TransferTable(std::vector<TransferPoint> points) : points_(std::move(points)) {}
  bool empty() const { return points_.size() < 2; }

  // Requires: !empty().
  // Of a message without bytes to speak of. Crossing: its ranks have others in the same step.
  double latency(bool combined, bool crossing) const;
  // Bytes per second of a message of `bytes` while `flows` such are under way in all, without its
  // latency.
  double rate(double bytes, bool combined, std::size_t flows) const;
  // Of combining so many bytes on one rank, and of copying them there.
  double combine_seconds(double bytes) const;
  double copy_seconds(double bytes) const;

 private:
  // Straight lines between the points' logarithms; beyond the last, its rate.
  double seconds(double TransferPoint::*column, double bytes) const;
  std::vector<TransferPoint> points_;
};

}  // namespace parallelarium
