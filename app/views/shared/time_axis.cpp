// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/time_axis.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

namespace parallelarium {
namespace {

constexpr Nanoseconds kShortest{100};

Nanoseconds rounded(double nanoseconds) { return Nanoseconds(std::llround(nanoseconds)); }

struct Unit {
  const char* name;
  double nanoseconds;
};

Unit unit_of(double time) {
  if (time >= 1e9) return {"s", 1e9};
  if (time >= 1e6) return {"ms", 1e6};
  if (time >= 1e3) return {"\u00b5s", 1e3};
  return {"ns", 1};
}

// The smallest of 1, 2, 5 times a power of ten that is at least `least`.
double step_of(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-12)) return factor * power;
  return 10 * power;
}

}  // namespace

Nanoseconds TimeAxis::time_at(double x) const {
  if (width <= 0) return range.begin;
  return range.begin + rounded((x - left) / width * static_cast<double>(range.length().count()));
}

Nanoseconds TimeAxis::length_of(double pixels) const {
  if (width <= 0) return Nanoseconds(0);
  return rounded(pixels / width * static_cast<double>(range.length().count()));
}

std::vector<Tick> ticks_of(const TimeAxis& axis, double spacing) {
  std::vector<Tick> ticks;
  const double scale = axis.pixels_per_nanosecond();
  if (scale <= 0 || axis.width <= 0) return ticks;
  const double step = std::max(1.0, step_of(spacing / scale));
  const Unit unit = unit_of(static_cast<double>(axis.range.end.count()));
  const int decimals =
      std::max(0, static_cast<int>(-std::floor(std::log10(step / unit.nanoseconds) + 1e-9)));
  const QLocale locale;
  const auto first = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(axis.range.begin.count()) / step - 1e-9));
  const auto last = static_cast<std::int64_t>(
      std::floor(static_cast<double>(axis.range.end.count()) / step + 1e-9));
  for (std::int64_t index = first; index <= last; ++index) {
    const double time = static_cast<double>(index) * step;
    ticks.push_back({rounded(time), locale.toString(time / unit.nanoseconds, 'f', decimals) +
                                        QLatin1Char(' ') + QString::fromUtf8(unit.name)});
  }
  return ticks;
}

TimeRange zoomed(TimeRange range, Nanoseconds fixed, double factor, Nanoseconds horizon) {
  const double old_length = static_cast<double>(std::max(range.length(), kShortest).count());
  const double most = static_cast<double>(std::max(horizon, kShortest).count());
  const double length =
      std::clamp(old_length * factor, static_cast<double>(kShortest.count()), most);
  const double share = static_cast<double>((fixed - range.begin).count()) / old_length;
  const double begin = static_cast<double>(fixed.count()) - share * length;
  const TimeRange wanted{rounded(begin), rounded(begin) + rounded(length)};
  return panned(wanted, Nanoseconds(0), horizon);
}

TimeRange panned(TimeRange range, Nanoseconds by, Nanoseconds horizon) {
  const Nanoseconds length = range.length();
  const Nanoseconds latest = std::max(Nanoseconds(0), horizon - length);
  const Nanoseconds begin = std::clamp(range.begin + by, Nanoseconds(0), latest);
  return {begin, begin + length};
}

}  // namespace parallelarium
