// SPDX-License-Identifier: GPL-3.0-or-later
// What happened in a selected range: busy and idle shares, bytes, bandwidth.
#pragma once

#include <QLocale>
#include <QStringList>
#include <array>

#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

struct RangeReadout {
  Nanoseconds duration{0};
  int ranks = 0;
  // Shares of ranks x duration that compute lanes spend in each OpColor; with `idle` they sum to 1.
  std::array<double, kOpColors> busy{};
  double idle = 0;
  // Sent by all ranks: a message that reaches beyond the range counts by the part inside.
  double sent_bytes = 0;
  double sent_bytes_per_second() const;
};
RangeReadout read_range(const LaneRows& rows, TimeRange range);

// Bytes that the ops of a bar send, by the direct way for collectives.
std::int64_t sent_bytes_of(const Program& program, int rank_index, const Bar& bar);

// Lines for the read-out card: duration, then a line for each kind with a value per lane; without
// those that a lesson hides.
struct ReadoutLine {
  QString name;
  QStringList values;  // one per lane
};
std::vector<ReadoutLine> readout_lines(const Picture& picture, TimeRange range,
                                       const QLocale& locale = QLocale());

}  // namespace parallelarium
