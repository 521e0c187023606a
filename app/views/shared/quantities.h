// SPDX-License-Identifier: GPL-3.0-or-later
// A quantity as the strip shows it: predicted beside observed, as text with their source words; one
// computation for strip, exports and clipboard. Each view chooses five, in its own folder.
#pragma once

#include <QLocale>
#include <QString>

#include "engine/plan/program/timeline.h"

namespace parallelarium {

// One side of a quantity. Empty text: nothing to show (not run, stale, no such figure).
struct Figure {
  QString text;         // "84.1 ms", "?" when a lesson hides it
  QString source;       // "predicted", "rehearsed", "counted"; or why there is none: "not run yet"
  QString exact;        // for the tooltip: "41,943,040 bytes"
  bool hidden = false;  // by a lesson, for now
  bool outdated = false;  // of other settings than are asked for now
  bool operator==(const Figure&) const = default;
};

// What stands in the place of a figure that a lesson hides.
inline const QString kHidden = QStringLiteral("?");
Figure hidden_figure();
// A time in the step, as text.
QString shown_time(Nanoseconds time, bool hidden, const QLocale& locale = QLocale());

struct Quantity {
  QString key;    // dotted key of predict and run: "step.seconds"
  QString title;  // "Step time", "Bubble of whole step", "Peak memory, stage 0"
  Figure predicted, observed;
  QString difference;  // "+5.1 %", "2.0 pt", "0 B", "set"; empty when not comparable
  QString why_none;    // what a word in place of a difference means; or empty
  QString since_pin;   // "−3.2 ms since pin", or empty
  QString note;        // what else the figures say: "12,200 tokens/s predicted"; or empty
  QString guess;       // "16 %", or empty
  double predicted_value = 0, observed_value = 0;
  bool operator==(const Quantity&) const = default;
};

}  // namespace parallelarium
