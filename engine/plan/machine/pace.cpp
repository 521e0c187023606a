// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/pace.h"

#include <cmath>

#include "engine/plan/setup/setup_names.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

// Rounded up to two digits: "0.068" -> 0.068, 0.0612 -> 0.062.
double two_digits_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit - 1e-9) * unit;
}

}  // namespace

bool pace_is_default(const RunSettings& run) {
  return run.pace_seconds == RunSettings{}.pace_seconds;
}

double least_pace(double pace_seconds, double load) {
  return two_digits_up(pace_seconds * load / kMostPacedLoad);
}

Message pace_too_fast(const Setup& setup, double load, double least_load, int cores) {
  const double least = least_pace(setup.run.pace_seconds, least_load);
  const Message where = cores == 1 ? message("pace-core", "core") : counted_cores(cores);
  const long percent = std::lround(load * 100);
  Message why =
      least <= kPace.high
          ? message("pace-too-fast",
                    "At a pace of {} s the real work would fill {} % of the {}; a pace of at "
                    "least {} s leaves room.",
                    setup.run.pace_seconds, percent, where, figure(fmt::format("{:.4g}", least)))
          : message("pace-too-fast.slowest",
                    "At a pace of {} s the real work would fill {} % of the {}, and the slowest "
                    "pace, {} s, leaves no room either; take a smaller model or fewer ranks.",
                    setup.run.pace_seconds, percent, where,
                    figure(fmt::format("{:.4g}", kPace.high)));
  if (least > kPace.high) return why;
  why.field = "run.pace_seconds";
  why.alternatives = {fmt::format("{:.4g}", least)};
  return why;
}

}  // namespace parallelarium
