// SPDX-License-Identifier: Apache-2.0
// Rates between CPU ranks from measured points: caches make them depend on the size, which one
// bandwidth cannot say.
#pragma once

#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"

namespace parallelarium {

class TransferTable {
 public:
  explicit TransferTable(std::vector<TransferPoint> points) : points_(std::move(points)) {}
  bool empty() const { return points_.size() < 2; }

  // It must not be empty. Fresh: see fresh_sends. Of a message without bytes to speak of. Crossing:
  // its ranks have others in the same step.
  double latency(bool combined, bool fresh, bool crossing) const;
  // Bytes per second of a message of `bytes` while `flows` such are under way in all, without its
  // latency.
  double rate(double bytes, bool combined, bool fresh, std::size_t flows) const;
  // Of combining so many bytes on one rank, and of copying them there.
  double combine_seconds(double bytes) const;
  double copy_seconds(double bytes) const;

 private:
  // Seconds of a message, or of as many as `column` is measured with.
  double message_seconds(double TransferPoint::*column, bool fresh, double bytes) const;
  // Straight lines between the points' logarithms; beyond the last, its rate.
  double seconds(double TransferPoint::*column, double bytes) const;
  std::vector<TransferPoint> points_;
};

// By rank and op: sends of what their rank writes itself, before or after. When the collective is
// repeated, such bytes are no longer in the cache of the core that read them last.
std::vector<std::vector<bool>> fresh_sends(const Program& program);

}  // namespace parallelarium
