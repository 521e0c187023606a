// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/network/transfer_table.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

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

double TransferTable::message_seconds(double TransferPoint::*column, bool fresh,
                                      double bytes) const {
  const double stale = seconds(column, bytes);
  if (!fresh) return stale;
  const bool alone = column == &TransferPoint::one || column == &TransferPoint::one_combined;
  return stale * seconds(alone ? &TransferPoint::fresh_one : &TransferPoint::fresh_both,
                         std::min(bytes, static_cast<double>(points_.back().bytes)));
}

double TransferTable::latency(bool combined, bool fresh, bool crossing) const {
  return message_seconds(crossing ? combined ? &TransferPoint::both_combined : &TransferPoint::both
                         : combined ? &TransferPoint::one_combined
                                    : &TransferPoint::one,
                         fresh, 0);
}

double TransferTable::rate(double bytes, bool combined, bool fresh, std::size_t flows) const {
  // Points may be noisy: a message that was quicker than one without bytes takes the latency alone.
  const auto rate_of = [&](double TransferPoint::*column, double messages) {
    const double whole = message_seconds(column, fresh, bytes);
    return messages * bytes / std::max(whole - message_seconds(column, fresh, 0), 1e-15);
  };
  const double alone = rate_of(combined ? &TransferPoint::one_combined : &TransferPoint::one, 1);
  if (flows <= 1) return alone;
  const double both = rate_of(combined ? &TransferPoint::both_combined : &TransferPoint::both, 2);
  const auto under_way = static_cast<double>(flows);
  const int ranks = points_.front().ring_ranks;
  if (ranks <= 2) return std::min(alone, both / under_way);
  // What all flows get together grows from two of them to as many as there are cores.
  const double ring =
      rate_of(combined ? &TransferPoint::ring_combined : &TransferPoint::ring, ranks);
  const double share = std::min(1.0, (under_way - 2) / (ranks - 2));
  return std::min(alone, (both + share * (ring - both)) / under_way);
}

double TransferTable::combine_seconds(double bytes) const {
  return bytes > 0 ? seconds(&TransferPoint::combine, bytes) : 0;
}

double TransferTable::copy_seconds(double bytes) const {
  return bytes > 0 ? seconds(&TransferPoint::copy, bytes) : 0;
}

std::vector<std::vector<bool>> fresh_sends(const Program& program) {
  struct Range {
    std::int32_t buffer;
    std::int64_t begin, end;
    bool operator<(const Range& other) const {
      return std::tie(buffer, begin) < std::tie(other.buffer, other.begin);
    }
  };
  std::vector<std::vector<bool>> fresh;
  for (const RankProgram& rank : program.ranks) {
    const auto operands_of = [&](const Op& op) {
      return std::span(rank.operands)
          .subspan(static_cast<std::size_t>(op.operand_first),
                   static_cast<std::size_t>(op.operand_count));
    };
    std::vector<Range> written;
    for (const Op& op : rank.ops) {
      for (const Operand& operand : operands_of(op))
        if (operand.access != Access::kRead)
          written.push_back({operand.buffer, operand.offset, operand.offset + operand.count});
    }
    std::sort(written.begin(), written.end());
    std::vector<Range> merged;
    for (const Range& range : written) {
      if (!merged.empty() && merged.back().buffer == range.buffer &&
          merged.back().end >= range.begin)
        merged.back().end = std::max(merged.back().end, range.end);
      else
        merged.push_back(range);
    }
    std::vector<bool>& sends = fresh.emplace_back();
    for (const Op& op : rank.ops) {
      const std::span<const Operand> operands = operands_of(op);
      sends.push_back(op.kind == OpKind::kSend &&
                      std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
                        const Range read{operand.buffer, operand.offset + operand.count, 0};
                        const auto after = std::lower_bound(merged.begin(), merged.end(), read);
                        return after != merged.begin() &&
                               std::prev(after)->buffer == operand.buffer &&
                               std::prev(after)->end > operand.offset;
                      }));
    }
  }
  return fresh;
}

}  // namespace parallelarium
