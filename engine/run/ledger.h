// SPDX-License-Identifier: Apache-2.0
// Counts what a rank's transport calls really moved, in the rows of a predicted traffic table.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/plan/program/report.h"

namespace parallelarium {

// Not thread-safe: each lane keeps its own, and the executor adds them up after the step.
class Ledger {
 public:
  // Adds one call. The transport counted its bytes, or `counted` is false and the formula gives
  // them. A group of one rank moves nothing and is no call.
  void count(Axis axis, std::string_view operation, Purpose purpose, std::int64_t sent,
             std::int64_t received, bool counted = true);
  void add(const Ledger& other);
  void clear() { rows_.clear(); }
  // Sorted by group, operation and purpose.
  std::vector<TrafficRow> rows() const;

 private:
  struct Amounts {
    std::int64_t calls = 0, sent = 0, received = 0;
    bool counted = true;
  };
  using Key = std::tuple<Axis, std::string_view, Purpose>;  // names are literals
  Amounts& row(const Key& key);

  // A cleared ledger keeps its rows, so that count() allocates nothing.
  std::vector<std::pair<Key, Amounts>> rows_;
};

}  // namespace parallelarium
