// SPDX-License-Identifier: Apache-2.0
// What the bounds of a search stand on: a table of stages for those candidates that compute alike,
// and an end of the step for those that end it alike.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/passes/build.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/entry.h"
#include "engine/planner/space.h"

namespace parallelarium {

class BoundTables {
 public:
  // All that is given must outlive this.
  BoundTables(const Space& space, const Machine& machine) : space_(space), machine_(machine) {}

  // The numbers of the candidate's table and end, which make() makes. `setup`: the candidate's.
  std::int32_t table_of(const Candidate& candidate, const Setup& setup);
  std::int32_t end_of(const Candidate& candidate, const Setup& setup);
  // On all cores; stops early where `cancelled` says so. `made` hears on the calling thread how
  // many tables are made, and of how many.
  void make(const std::function<bool()>& cancelled,
            const std::function<void(std::size_t, std::size_t)>& made);

  // Why stages such as the entry's cannot be, or nothing.
  const std::optional<Message>& refusal(const Entry& entry) const {
    return refusals_[static_cast<std::size_t>(entry.table)];
  }
  // The bounds of bound.h, from the least work to the most.
  Bound quick(const Entry& entry, const Setup& setup) const;
  Result<Bound> walked(const Entry& entry, const Setup& setup) const;
  Result<Bound> laned(const Entry& entry, const Setup& setup) const;

 private:
  const StageTable& table(const Entry& entry) const {
    return tables_[static_cast<std::size_t>(entry.table)];
  }
  const StepEnd& end(const Entry& entry) const {
    return ends_[static_cast<std::size_t>(entry.end)];
  }
  const std::vector<NominalRank>& nominal_ranks_of(const Entry& entry, const Setup& setup,
                                                   const Order& order) const;

  const Space& space_;
  const Machine& machine_;
  std::map<StageKey, std::int32_t> numbers_;  // in examples_
  std::map<EndKey, std::int32_t> end_numbers_;
  std::vector<Candidate> examples_, end_examples_;  // one for each table, and for each end
  std::vector<StageTable> tables_;
  std::vector<std::optional<Message>> refusals_;
  std::vector<StepEnd> ends_;
  // Table, PP, micro-batches, schedule, chunks, layers.
  using NominalKey = std::tuple<std::int32_t, std::int32_t, std::int32_t, int, int, int>;
  mutable std::mutex nominal_;
  mutable std::map<NominalKey, std::vector<NominalRank>> nominal_ranks_;
};

}  // namespace parallelarium
