// SPDX-License-Identifier: Apache-2.0
// Numbers for people: three significant digits and a unit, C locale. JSON never goes through here.
#pragma once

#include <cstdint>
#include <string>

namespace parallelarium {

std::string three_digits(double value);    // 0.0123, 1.23, 12.3, 123, 1234
std::string bytes_text(double bytes);      // "512 B", "1.25 MiB" (binary prefixes)
std::string seconds_text(double seconds);  // "48.3 ms"
std::string count_text(double count);      // "0.41 M", "175 G" (decimal prefixes, no unit)
std::string count_text(double count, const std::string& unit);  // "12.5 GB/s"
std::string percent_text(double share);                         // "27.3 %"
std::string signed_percent_text(double share);                  // "+2.1 %", "-0.4 %"
// A value in the unit of a Formula or Comparison: "bytes", "seconds", "flops", "1", ...
std::string in_unit(double value, const std::string& unit);
// All digits that are needed to read the same double back.
std::string exact_text(double value);

}  // namespace parallelarium
