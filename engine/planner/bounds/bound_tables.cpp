// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/bounds/bound_tables.h"

#include <algorithm>

#include "engine/planner/parallel.h"

namespace parallelarium {

std::int32_t BoundTables::table_of(const Candidate& candidate, const Setup& setup) {
  const auto [at, fresh] = numbers_.try_emplace(key_of(candidate, setup, machine_),
                                                static_cast<std::int32_t>(examples_.size()));
  if (fresh) examples_.push_back(candidate);
  return at->second;
}

std::int32_t BoundTables::end_of(const Candidate& candidate, const Setup& setup) {
  const auto [at, fresh] = end_numbers_.try_emplace(
      end_key_of(setup, candidate.layers), static_cast<std::int32_t>(end_examples_.size()));
  if (fresh) end_examples_.push_back(candidate);
  return at->second;
}

void BoundTables::make(const std::function<bool()>& cancelled,
                       const std::function<void(std::size_t, std::size_t)>& made) {
  tables_.resize(examples_.size());
  refusals_.resize(examples_.size());
  constexpr std::size_t kRun = 128;  // between two words on how far it is
  for (std::size_t first = 0; first < examples_.size(); first += kRun) {
    const std::size_t count = std::min(kRun, examples_.size() - first);
    in_parallel(count, [&](std::size_t of) {
      if (cancelled()) return;
      const std::size_t at = first + of;
      const Setup setup = space_.setup_of(examples_[at]);
      Result<StageTable> table = stage_table(setup, machine_);
      if (table)
        tables_[at] = std::move(*table);
      else
        refusals_[at] = table.error();
    });
    made(first + count, examples_.size());
  }
  ends_.resize(end_examples_.size());
  in_parallel(end_examples_.size(), [&](std::size_t at) {
    if (!cancelled()) ends_[at] = step_end(space_.setup_of(end_examples_[at]), machine_);
  });
}

Bound BoundTables::quick(const Entry& entry, const Setup& setup) const {
  return quick_bound(setup, table(entry), end(entry));
}

Result<Bound> BoundTables::walked(const Entry& entry, const Setup& setup) const {
  return walked_bound(setup, table(entry), end(entry));
}

Result<Bound> BoundTables::laned(const Entry& entry, const Setup& setup) const {
  const Result<std::int64_t> time = laned_bound(
      setup, machine_, table(entry), end(entry), [&](const Order& order) -> auto& {
        return nominal_ranks_of(entry, setup, order);
      });
  if (!time) return time.error();
  return Bound{*time};
}

// They are the same whatever DP, ZeRO and rank order are.
const std::vector<NominalRank>& BoundTables::nominal_ranks_of(const Entry& entry,
                                                              const Setup& setup,
                                                              const Order& order) const {
  const Candidate& candidate = entry.candidate;
  const NominalKey key{entry.table,        candidate.pp,     candidate.microbatches,
                       candidate.schedule, candidate.chunks, candidate.layers};
  {
    const std::lock_guard lock(nominal_);
    if (const auto known = nominal_ranks_.find(key); known != nominal_ranks_.end())
      return known->second;
  }
  std::vector<NominalRank> ranks = nominal_ranks(setup, order);
  const std::lock_guard lock(nominal_);
  return nominal_ranks_.try_emplace(key, std::move(ranks)).first->second;
}

}  // namespace parallelarium
