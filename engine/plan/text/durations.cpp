// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/durations.h"

#include <charconv>
#include <cmath>

namespace parallelarium {

std::optional<double> seconds_of_text(std::string_view text) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || !(number >= 0) || !std::isfinite(number)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.empty()) return number;
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, seconds] : kTimeUnits)
    if (unit == name) return number * seconds;
  return std::nullopt;
}

}  // namespace parallelarium
