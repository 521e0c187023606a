// SPDX-License-Identifier: Apache-2.0
// Counts what a rank's transport calls really moved, row by row as traffic is predicted.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/plan/program/report.h"

namespace parallelarium {

// Not thread-safe: each lane keeps its own, and they are added up after the step.
class Ledger {
 public:
  // One call: bytes as the transport counted them, or by the formula where it could not. A group of
  // one rank moves nothing and is no call.
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

  // Few, and kept when cleared: a call counts without allocating.
  std::vector<std::pair<Key, Amounts>> rows_;
};

}  // namespace parallelarium
