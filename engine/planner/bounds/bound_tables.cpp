// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/bounds/bound_tables.h"

#include <algorithm>

#include "engine/plan/placement/parallel.h"
#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {

Footing BoundTables::footing_of(const Candidate& candidate, const Setup& setup) {
  Footing footing;
  const auto [layout, new_layout] = layout_numbers_.try_emplace(
      {stages_of(setup), candidate.layers}, static_cast<std::int32_t>(layouts_.size()));
  if (new_layout) layouts_.push_back(shapes_of(setup));
  footing.layout = layout->second;
  const auto [family, new_family] = family_numbers_.try_emplace(
      key_of(candidate, setup, machine_), static_cast<std::int32_t>(families_.size()));
  if (new_family) families_.emplace_back().example = candidate;
  footing.family = family->second;
  families_[static_cast<std::size_t>(footing.family)].layouts.insert(footing.layout);
  return footing;
}

std::int32_t BoundTables::end_of(const Candidate& candidate, const Setup& setup) {
  const auto [at, fresh] = end_numbers_.try_emplace(
      end_key_of(setup, candidate.layers), static_cast<std::int32_t>(end_examples_.size()));
  if (fresh) end_examples_.push_back(candidate);
  return at->second;
}

Result<StageFamily> BoundTables::read(const Family& family, bool with_stretches) const {
  std::set<StageShape> shapes;
  for (const std::int32_t layout : family.layouts) {
    const std::vector<StageShape>& stages = layouts_[static_cast<std::size_t>(layout)];
    shapes.insert(stages.begin(), stages.end());
  }
  return StageFamily::make(space_.setup_of(family.example), machine_, shapes, with_stretches);
}

void BoundTables::make(const std::function<bool()>& cancelled,
                       const std::function<void(std::size_t, std::size_t)>& made) {
  constexpr std::size_t kRun = 32;  // between two words on how far it is
  for (std::size_t first = 0; first < families_.size(); first += kRun) {
    const std::size_t count = std::min(kRun, families_.size() - first);
    in_parallel(count, [&](std::size_t of) {
      if (cancelled()) return;
      Family& family = families_[first + of];
      Result<StageFamily> stages = read(family, false);
      if (stages)
        family.stages = std::move(*stages);
      else
        family.refusal = stages.error();
    });
    made(first + count, families_.size());
  }
  ends_.resize(end_examples_.size());
  in_parallel(end_examples_.size(), [&](std::size_t at) {
    if (!cancelled()) ends_[at] = step_end(space_.setup_of(end_examples_[at]), machine_);
  });
}

StageTable BoundTables::table(const Footing& footing) const {
  return families_[static_cast<std::size_t>(footing.family)].stages->table(layout(footing));
}

Bound BoundTables::quick(const Entry& entry, const Setup& setup, const QuickBound& known) const {
  return known.of(setup, end(entry));
}

Result<Bound> BoundTables::walked(const Entry& entry, const Setup& setup) const {
  const StageTable stages = table(entry.footing);
  const Result<OrderWalk>& walk = walks_.of(
      order_key_of(entry), [&] { return walk_order(setup, stages, repeated(entry, setup)); });
  if (!walk) return walk.error();
  return walked_bound(setup, stages, end(entry), *walk);
}

Result<Bound> BoundTables::alone(const Entry& entry, const Setup& setup) const {
  const StageTable table = with_stretches(entry.footing.family).table(layout(entry.footing));
  const Result<std::int64_t> time =
      alone_bound(setup, machine_, table, end(entry), repeated(entry, setup));
  if (!time) return time.error();
  return Bound{*time};
}

Result<Bound> BoundTables::laned(const Entry& entry, const Setup& setup) const {
  const StageTable table = with_stretches(entry.footing.family).table(layout(entry.footing));
  const Result<std::int64_t> time = laned_bound(
      setup, machine_, table, end(entry), [&](const Order& order) -> auto& {
        return nominal_ranks_.of(order_key_of(entry), [&] { return nominal_ranks(setup, order); });
      });
  if (!time) return time.error();
  return Bound{*time};
}

const StageFamily& BoundTables::with_stretches(std::int32_t family) const {
  return *stretched_.of(family,
                        [&] { return read(families_[static_cast<std::size_t>(family)], true); });
}

const std::optional<RepeatedOrder>& BoundTables::repeated(const Entry& entry,
                                                          const Setup& setup) const {
  const Candidate& candidate = entry.candidate;
  const ScheduleKey key{candidate.pp, candidate.microbatches, candidate.schedule, candidate.chunks,
                        candidate.recompute};
  return repeated_.of(key, [&] { return repeated_order(setup); });
}

BoundTables::OrderKey BoundTables::order_key_of(const Entry& entry) {
  const Candidate& candidate = entry.candidate;
  return {entry.footing.family, candidate.pp,     candidate.microbatches,
          candidate.schedule,   candidate.chunks, candidate.layers};
}

}  // namespace parallelarium
