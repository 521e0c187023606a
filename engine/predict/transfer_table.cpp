// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/transfer_table.h"

#include <algorithm>
#include <cmath>

namespace parallelarium {

double TransferTable::seconds(double TransferPoint::*column, double bytes) const {
  const TransferPoint& last = points_.back();
  if (bytes >= static_cast<double>(last.bytes))
    return last.*column * bytes / static_cast<double>(last.bytes);
  if (bytes <= static_cast<double>(points_.front().bytes)) return points_.front().*column;
  std::size_t above = 1;
  while (static_cast<double>(points_[above].bytes) < bytes) ++above;
  const TransferPoint &a = points_[above - 1], &b = points_[above];
  const auto log_bytes = [](const TransferPoint& point) {
    return std::log(static_cast<double>(point.bytes));
  };
  const double share = (std::log(bytes) - log_bytes(a)) / (log_bytes(b) - log_bytes(a));
  return std::exp(std::log(a.*column) + share * (std::log(b.*column) - std::log(a.*column)));
}

double TransferTable::latency(bool combined, bool crossing) const {
  const TransferPoint& least = points_.front();
  if (crossing) return combined ? least.both_combined : least.both;
  return combined ? least.one_combined : least.one;
}

double TransferTable::rate(double bytes, bool combined, std::size_t flows) const {
  // Points may be noisy: a message that was quicker than one without bytes takes the latency alone.
  const auto rate_of = [&](double TransferPoint::*column, double messages) {
    const double whole = seconds(column, bytes);
    return messages * bytes / std::max(whole - points_.front().*column, 1e-15);
  };
  const double alone = rate_of(combined ? &TransferPoint::one_combined : &TransferPoint::one, 1);
  if (flows <= 1) return alone;
  const double both = rate_of(combined ? &TransferPoint::both_combined : &TransferPoint::both, 2);
  return std::min(alone, both / static_cast<double>(flows));
}

double TransferTable::combine_seconds(double bytes) const {
  return bytes > 0 ? seconds(&TransferPoint::combine, bytes) : 0;
}

double TransferTable::copy_seconds(double bytes) const {
  return bytes > 0 ? seconds(&TransferPoint::copy, bytes) : 0;
}

}  // namespace parallelarium
