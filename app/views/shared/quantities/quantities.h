// SPDX-License-Identifier: GPL-3.0-or-later
// A quantity as the strip shows it: predicted beside observed, as text with their source words.
// Strip, exports and clipboard use the same computation. Each view chooses five quantities, in its
// own folder.
#pragma once

#include <QLocale>
#include <QString>

#include "engine/plan/program/timeline.h"

namespace parallelarium {

// One side of a quantity. If the text is empty, there is nothing to show (not run, stale, no such
// figure).
struct Figure {
  QString text;         // "84.1 ms", "?" when a lesson hides it
  QString source;       // "predicted", "rehearsed", "counted"; or why there is none: "not run yet"
  QString exact;        // for the tooltip: "41,943,040 bytes"
  bool hidden = false;  // a lesson hides it for now
  bool outdated = false;  // for other settings than the present ones
  bool operator==(const Figure&) const = default;
};

// The text in place of a figure that a lesson hides.
inline const QString kHidden = QStringLiteral("?");
Figure hidden_figure();
// A time in the step, as text.
QString shown_time(Nanoseconds time, bool hidden, const QLocale& locale = QLocale());

struct Quantity {
  QString key;    // dotted key of predict and run: "step.seconds"
  QString title;  // "Step time", "Bubble of whole step", "Peak memory, stage 0"
  Figure predicted, observed;
  QString difference;  // "+5.1 %", "2.0 pt", "0 B", "set"; empty when not comparable
  QString why_none;    // meaning of a word in place of a difference; or empty
  QString since_pin;   // "−3.2 ms since pin", or empty
  QString note;        // further figures: "12,200 tokens/s predicted"; or empty
  QString guess;       // "16 %", or empty
  double predicted_value = 0, observed_value = 0;
  bool operator==(const Quantity&) const = default;
};

}  // namespace parallelarium
