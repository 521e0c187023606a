// SPDX-License-Identifier: GPL-3.0-or-later
// The collectives that carry parameters and gradients between the ranks that share them, as one
// rank sees them over a step: in words, and as a strip of bars above the memory over the step.
#pragma once

#include <QPainter>
#include <QString>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/views/shared/time_axis.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "engine/plan/program/program.h"

namespace parallelarium {

struct SharedMessage {
  TimeRange range;
  QString name;  // "all-gather"
  int op = 0;
};

// Of a rank, by its index in Program::ranks, in the order in which they begin.
std::vector<SharedMessage> shared_messages(const Program& program, const Timeline& timeline,
                                           int rank_index);
// What a rank sends in a whole step, as "8 × all-gather of parameters 1.2 MiB, ...": among the
// ranks that share its states with it, and beyond them. Empty: nothing.
struct SharedSent {
  QString inside, between;
};
// `sharing`: the ranks among which ZeRO cuts what this rank holds.
SharedSent shared_sent_words(const Program& program, int rank_index,
                             const std::vector<int>& sharing);

// "Next: the all-gather of parameters in layer 3, in 1.2 ms"; empty: none follows.
QString next_shared_words(const RankProgram& rank, const std::vector<SharedMessage>& messages,
                          Nanoseconds now, const HiddenOfOps& hides);

// Bars on the time axis in the colour of communication, each with its name where that has room.
inline constexpr double kSharedStrip = 18;
void paint_shared_messages(QPainter& painter, const QRectF& rect,
                           const std::vector<SharedMessage>& messages, const TimeAxis& axis,
                           const Theme& theme, TextLog* texts);

}  // namespace parallelarium
