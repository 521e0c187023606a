// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace parallelarium {
namespace {

template <std::size_t N>
std::string scaled(double value, double base, const std::array<const char*, N>& units) {
  std::size_t unit = 0;
  // 999.6 would print as 1000, so the next unit begins a little earlier.
  while (std::abs(value) >= base * (1 - 5e-4) && unit + 1 < N) {
    value /= base;
    ++unit;
  }
  return fmt::format("{}{}", three_digits(value), units[unit]);
}

}  // namespace

std::string three_digits(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < 1e-4 || magnitude >= 1e7) return fmt::format("{:.2e}", value);
  const int digits = std::max(0, 2 - static_cast<int>(std::floor(std::log10(magnitude) + 1e-9)));
  return fmt::format("{:.{}f}", value, digits);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  if (std::abs(bytes) < 1024 && bytes == std::floor(bytes)) return fmt::format("{:.0f} B", bytes);
  return scaled(bytes, 1024, kUnits);
}

std::string seconds_text(double seconds) {
  const double magnitude = std::abs(seconds);
  if (seconds == 0) return "0 s";
  if (magnitude >= 1e7 && magnitude < 1e15) return fmt::format("{:.0f} s", seconds);
  if (magnitude >= 0.9995) return three_digits(seconds) + " s";
  if (magnitude >= 0.9995e-3) return three_digits(seconds * 1e3) + " ms";
  if (magnitude >= 0.9995e-6) return three_digits(seconds * 1e6) + " µs";
  return three_digits(seconds * 1e9) + " ns";
}

std::string count_text(double count) {
  static constexpr std::array<const char*, 6> kUnits = {"", " k", " M", " G", " T", " P"};
  if (std::abs(count) < 1e4 && count == std::floor(count)) return fmt::format("{:.0f}", count);
  return scaled(count, 1000, kUnits);
}

std::string count_text(double count, const std::string& unit) {
  const std::string text = count_text(count);
  return text + (text.find(' ') == std::string::npos ? " " : "") + unit;
}

std::string percent_text(double share) { return three_digits(share * 100) + " %"; }

std::string signed_percent_text(double share) {
  // Differences too small to matter read as none, not as 1.2e-14 %.
  if (std::abs(share) < 5e-6) return "0 %";
  return fmt::format("{}{} %", share > 0 ? "+" : "-", three_digits(std::abs(share) * 100));
}

std::string in_unit(double value, const std::string& unit) {
  if (unit == "bytes") return bytes_text(value);
  if (unit == "seconds") return seconds_text(value);
  if (unit == "flops") return count_text(value, "FLOP");
  if (unit == "tokens/second")
    return value < 1e3 ? three_digits(value) + " tokens/s" : count_text(value) + " tokens/s";
  if (unit == "1" || unit.empty()) return three_digits(value);
  return three_digits(value) + " " + unit;
}

std::string exact_text(double value) { return fmt::format("{}", value); }

}  // namespace parallelarium
