// SPDX-License-Identifier: Apache-2.0
// Rates between CPU ranks from measured points. Because of caches they depend on the size, which a
// single bandwidth cannot express.
#pragma once

#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"

namespace parallelarium {

class TransferTable {
 public:
  explicit TransferTable(std::vector<TransferPoint> points) : points_(std::move(points)) {}
  bool empty() const { return points_.size() < 2; }

  // The latency of a message with almost no bytes. `fresh`: see fresh_sends(). `crossing`: its
  // ranks have other messages in the same step. The table must not be empty().
  double latency(bool combined, bool fresh, bool crossing) const;
  // Bytes per second of a message of `bytes`, without its latency, while `flows` such messages are
  // under way in all.
  double rate(double bytes, bool combined, bool fresh, std::size_t flows) const;
  // Seconds to combine `bytes` bytes on one rank, and to copy them there.
  double combine_seconds(double bytes) const;
  double copy_seconds(double bytes) const;

 private:
  // Seconds of a message, or of as many messages as `column` was measured with.
  double message_seconds(double TransferPoint::*column, bool fresh, double bytes) const;
  // Interpolates linearly between the points' logarithms. Beyond the last point its rate counts.
  double seconds(double TransferPoint::*column, double bytes) const;
  std::vector<TransferPoint> points_;
};

// By rank and op: whether a send carries bytes that its rank writes itself, before or after. When
// the collective is repeated, such bytes are no longer in the cache of the core that read them
// last.
std::vector<std::vector<bool>> fresh_sends(const Program& program);

}  // namespace parallelarium
