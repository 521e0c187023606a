// SPDX-License-Identifier: Apache-2.0
// What the bounds of a search are computed from. Candidates that compute alike share a family of
// stages. Those whose stages have equally many layers share a layout. Those that end the step alike
// share an end.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/passes/build.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/planner/entry.h"
#include "engine/planner/space/space.h"

namespace parallelarium {

// A value for each key that is worked out once, on any thread.
template <class Key, class Value>
class Known {
 public:
  // `make` makes the value if it is not known. Two threads that ask at once may both make it.
  template <class Make>
  const Value& of(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = values_.find(key); known != values_.end()) return known->second;
    }
    Value value = make();
    const std::lock_guard lock(mutex_);
    return values_.try_emplace(key, std::move(value)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> values_;
};

class BoundTables {
 public:
  // Both arguments must outlive this.
  BoundTables(const Space& space, const Machine& machine) : space_(space), machine_(machine) {}

  // The numbers of the candidate's family and layout, and of its end; make() makes these. `setup`
  // is the candidate's.
  Footing footing_of(const Candidate& candidate, const Setup& setup);
  std::int32_t end_of(const Candidate& candidate, const Setup& setup);
  // Makes all of them on all cores. It stops early if `cancelled` says so. `made` hears on the
  // calling thread how many families are made, and of how many.
  void make(const std::function<bool()>& cancelled,
            const std::function<void(std::size_t, std::size_t)>& made);

  // Why there cannot be stages like the entry's, or nothing.
  const std::optional<Message>& refusal(const Entry& entry) const {
    return families_[static_cast<std::size_t>(entry.footing.family)].refusal;
  }
  StageTable table(const Footing& footing) const;
  // The bounds of bound.h, from the cheapest to the most expensive. `known` belongs to the entry's
  // candidate, or to one that differs from it only in ZeRO.
  Bound quick(const Entry& entry, const Setup& setup, const QuickBound& known) const;
  Result<Bound> walked(const Entry& entry, const Setup& setup) const;
  Result<Bound> alone(const Entry& entry, const Setup& setup) const;
  Result<Bound> laned(const Entry& entry, const Setup& setup) const;

 private:
  struct Family {
    Candidate example;
    std::set<std::int32_t> layouts;  // of its candidates
    std::optional<StageFamily> stages;
    std::optional<Message> refusal;
  };
  Result<StageFamily> read(const Family& family, bool with_stretches) const;
  const StageFamily& with_stretches(std::int32_t family) const;
  const StepEnd& end(const Entry& entry) const {
    return ends_[static_cast<std::size_t>(entry.end)];
  }
  const std::vector<StageShape>& layout(const Footing& footing) const {
    return layouts_[static_cast<std::size_t>(footing.layout)];
  }
  // What candidates have in common that differ only in DP, ZeRO and rank order: family, PP,
  // micro-batches, schedule, chunks, cut.
  using OrderKey = std::tuple<std::int32_t, std::int32_t, std::int32_t, int, int, int>;
  static OrderKey order_key_of(const Entry& entry);
  // What those have in common that have one Order: PP, micro-batches, schedule, chunks, and
  // recomputing, by which some schedules weigh actions.
  using ScheduleKey = std::tuple<std::int32_t, std::int32_t, int, int, int>;
  const std::optional<RepeatedOrder>& repeated(const Entry& entry, const Setup& setup) const;

  const Space& space_;
  const Machine& machine_;
  std::map<StageKey, std::int32_t> family_numbers_;
  std::vector<Family> families_;
  std::map<std::pair<int, std::uint8_t>, std::int32_t> layout_numbers_;  // by stages and cut
  std::vector<std::vector<StageShape>> layouts_;
  std::map<EndKey, std::int32_t> end_numbers_;
  std::vector<Candidate> end_examples_;  // one for each end
  std::vector<StepEnd> ends_;
  // Values that some candidate has needed.
  mutable Known<std::int32_t, Result<StageFamily>> stretched_;  // by family
  mutable Known<OrderKey, Result<OrderWalk>> walks_;
  mutable Known<ScheduleKey, std::optional<RepeatedOrder>> repeated_;
  mutable Known<OrderKey, std::vector<NominalRank>> nominal_ranks_;
};

}  // namespace parallelarium
