// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/pace.h"

#include <cmath>

namespace parallelarium {

namespace {

// Rounded up to two digits: "0.068" -> 0.068, 0.0612 -> 0.062.
double two_digits_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit - 1e-9) * unit;
}

}  // namespace

Message pace_too_fast(const Setup& setup, double load, double least_load, int cores) {
  const std::string least =
      fmt::format("{:.4g}", two_digits_up(setup.run.pace_seconds * least_load / kMostPacedLoad));
  Message why = message("pace-too-fast",
                        "At a pace of {} s the real work would fill {} % of the {}; a pace of at "
                        "least {} s leaves room.",
                        setup.run.pace_seconds, std::lround(load * 100),
                        cores == 1 ? std::string("core") : fmt::format("{} cores", cores), least);
  why.field = "run.pace_seconds";
  why.alternatives = {least};
  return why;
}

}  // namespace parallelarium
