// SPDX-License-Identifier: Apache-2.0
#include "engine/run/collective/collective_memory.h"

#include <algorithm>

#include "engine/plan/text/units.h"
#include "engine/run/collective/collective_run.h"
#include "engine/run/train/outcome.h"

namespace parallelarium {

namespace {

std::int64_t arenas_of(const Program& program) {
  std::int64_t bytes = 0;
  for (const RankProgram& rank : program.ranks) bytes += rank.arena_bytes;
  return bytes;
}

}  // namespace

std::int64_t bytes_of_run(const Collective& collective, const std::string& rounding) {
  const std::int64_t run = arenas_of(collective.program);
  if (rounding.empty()) return run;
  const Result<Collective> rival = rounding_rival(collective.spec, rounding);
  if (!rival) return run;
  // Results are copied out before their arenas go, and the first algorithm's are kept.
  const std::int64_t results = collective.spec.bytes * collective.spec.ranks;
  return std::max(run + results, arenas_of(rival->program) + 2 * results);
}

Result<void> fits_memory(const Collective& collective, const std::string& rounding,
                         std::int64_t free_bytes) {
  const std::int64_t needed = bytes_of_run(collective, rounding);
  const std::int64_t free =
      free_bytes < 0 ? proc_bytes("/proc/meminfo", "MemAvailable:") : free_bytes;
  if (free <= 0 || needed <= free) return {};
  const Message need = figure(bytes_text(static_cast<double>(needed)));
  const Message has = figure(bytes_text(static_cast<double>(free)));
  if (collective.spec.ranks == 1)
    return message("memory-short.one-rank",
                   "The buffers of the rank need {} together and this computer has {} free; a "
                   "smaller array needs less.",
                   need, has);
  return message("memory-short.collective",
                 "The ranks need {} together and this computer has {} free; a smaller array or "
                 "fewer ranks need less.",
                 need, has);
}

}  // namespace parallelarium
