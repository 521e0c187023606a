// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/durations.h"

#include <charconv>
#include <cmath>

namespace parallelarium {

std::optional<double> seconds_of_text(std::string_view text) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{}) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  double size = unit.empty() ? 1 : 0;  // seconds without a unit
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, seconds] : kTimeUnits)
    if (unit == name) size = seconds;
  const double seconds = number * size;
  return size > 0 && seconds >= 0 && std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

}  // namespace parallelarium
