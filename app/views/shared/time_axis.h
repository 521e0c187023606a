// SPDX-License-Identifier: GPL-3.0-or-later
// Converts time to pixels and back, and places the ticks. It knows no widget.
#pragma once

#include <QString>
#include <vector>

#include "app/state/session.h"

namespace parallelarium {

struct TimeAxis {
  TimeRange range;  // the visible range
  double left = 0;  // x of range.begin
  double width = 1;

  double pixels_per_nanosecond() const {
    return range.length().count() > 0 ? width / static_cast<double>(range.length().count()) : 0;
  }
  double x_of(Nanoseconds time) const {
    return left + static_cast<double>((time - range.begin).count()) * pixels_per_nanosecond();
  }
  // The nearest nanosecond; beyond the axis too.
  Nanoseconds time_at(double x) const;
  // The time that `pixels` cover.
  Nanoseconds length_of(double pixels) const;
};

struct Tick {
  Nanoseconds time{0};
  QString label;  // "20 ms", "0.5 ms"; all ticks of one axis use one unit
};

// Ticks at 1, 2 or 5 times a power of ten, at least `spacing` pixels apart, ascending.
std::vector<Tick> ticks_of(const TimeAxis& axis, double spacing);

// `range` scaled by `factor` (below 1: nearer) with `fixed` staying where it is, kept inside
// [0, horizon] and not shorter than 100 ns.
TimeRange zoomed(TimeRange range, Nanoseconds fixed, double factor, Nanoseconds horizon);
// `range` moved by `by`, kept inside [0, horizon].
TimeRange panned(TimeRange range, Nanoseconds by, Nanoseconds horizon);

}  // namespace parallelarium
