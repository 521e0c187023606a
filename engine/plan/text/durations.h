// SPDX-License-Identifier: Apache-2.0
// Durations as people type them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace parallelarium {

// A unit that a quantity may be typed in, and its size in the unit of the figures.
struct TypedUnit {
  const char* name;
  double size;
};
// Those of time, in seconds. Unicode has two letters that look like a mu.
inline constexpr std::array kTimeUnits = {
    TypedUnit{"ms", 1e-3},      TypedUnit{"ns", 1e-9}, TypedUnit{"\u00b5s", 1e-6},
    TypedUnit{"\u03bcs", 1e-6}, TypedUnit{"us", 1e-6}, TypedUnit{"s", 1},
    TypedUnit{"min", 60},       TypedUnit{"h", 3600},  TypedUnit{"days", 86'400},
    TypedUnit{"Tage", 86'400},
};

// The seconds of "118.4s", "750 ms", "2h" or, without a unit, "118.4". Nothing where it is no such
// time: where it is negative, not finite, or has another unit.
std::optional<double> seconds_of_text(std::string_view text);

}  // namespace parallelarium
