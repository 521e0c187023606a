// SPDX-License-Identifier: Apache-2.0
#include "engine/run/ledger.h"

#include <algorithm>

namespace parallelarium {

Ledger::Amounts& Ledger::row(const Key& key) {
  for (auto& [known, amounts] : rows_)
    if (known == key) return amounts;
  return rows_.emplace_back(key, Amounts{}).second;
}

void Ledger::count(Axis axis, std::string_view operation, Purpose purpose, std::int64_t sent,
                   std::int64_t received, bool counted) {
  Amounts& all = row({axis, operation, purpose});
  ++all.calls;
  all.sent += sent;
  all.received += received;
  all.counted = all.counted && counted;
}

void Ledger::add(const Ledger& other) {
  for (const auto& [key, amounts] : other.rows_) {
    Amounts& all = row(key);
    all.calls += amounts.calls;
    all.sent += amounts.sent;
    all.received += amounts.received;
    all.counted = all.counted && amounts.counted;
  }
}

std::vector<TrafficRow> Ledger::rows() const {
  auto sorted = rows_;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TrafficRow> rows;
  for (const auto& [key, amounts] : sorted) {
    rows.push_back({std::get<0>(key), std::string(std::get<1>(key)), std::get<2>(key),
                    amounts.calls, amounts.sent, amounts.received, amounts.counted});
  }
  return rows;
}

}  // namespace parallelarium
