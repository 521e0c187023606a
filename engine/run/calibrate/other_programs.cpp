// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/other_programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

namespace parallelarium {

namespace {

// Columns of a unit's line: user, nice, system, idle, iowait, irq, softirq, steal. Time of guests
// is part of the first two.
constexpr std::size_t kTickColumns = 7;
constexpr bool kIsBusy[kTickColumns] = {true, true, true, false, false, true, true};

std::optional<double> busy_ticks(std::string_view columns) {
  double busy = 0;
  for (const bool counts : kIsBusy) {
    columns.remove_prefix(std::min(columns.find_first_not_of(' '), columns.size()));
    unsigned long long ticks = 0;
    const auto [end, code] =
        std::from_chars(columns.data(), columns.data() + columns.size(), ticks);
    if (code != std::errc()) return std::nullopt;
    columns.remove_prefix(static_cast<std::size_t>(end - columns.data()));
    if (counts) busy += static_cast<double>(ticks);
  }
  return busy;
}

}  // namespace

std::optional<double> cores_used_by_others(const CoreClocks& before, const CoreClocks& after) {
  const double wall = after.wall - before.wall;
  if (wall <= 0) return std::nullopt;
  return std::max(0.0, (after.busy - before.busy - (after.own - before.own)) / wall);
}

std::optional<double> busy_seconds(std::string_view stat, const std::vector<Core>& cores,
                                   double ticks_per_second) {
  double ticks = 0;
  for (const Core& core : cores) {
    for (const int unit : core) {
      const std::string name = fmt::format("\ncpu{} ", unit);
      const auto line = stat.find(name);
      if (line == std::string_view::npos) return std::nullopt;
      const std::optional<double> busy = busy_ticks(stat.substr(line + name.size()));
      if (!busy) return std::nullopt;
      ticks += *busy;
    }
  }
  return ticks / ticks_per_second;
}

std::optional<CoreClocks> core_clocks(const std::vector<Core>& cores) {
  std::ifstream file("/proc/stat", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  timespec own{};
  const long ticks = sysconf(_SC_CLK_TCK);
  if (ticks <= 0 || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) return std::nullopt;
  const std::optional<double> busy = busy_seconds(text, cores, static_cast<double>(ticks));
  if (!busy) return std::nullopt;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now().time_since_epoch();
  return CoreClocks{wall.count(), *busy,
                    static_cast<double>(own.tv_sec) + static_cast<double>(own.tv_nsec) / 1e9};
}

}  // namespace parallelarium
