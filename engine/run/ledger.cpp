// SPDX-License-Identifier: Apache-2.0
#include "engine/run/ledger.h"

namespace parallelarium {

void Ledger::count(Axis axis, std::string_view operation, Purpose purpose, std::int64_t sent,
                   std::int64_t received, bool counted) {
  Amounts& row = rows_[{axis, operation, purpose}];
  ++row.calls;
  row.sent += sent;
  row.received += received;
  row.counted = row.counted && counted;
}

void Ledger::add(const Ledger& other) {
  for (const auto& [key, amounts] : other.rows_) {
    Amounts& row = rows_[key];
    row.calls += amounts.calls;
    row.sent += amounts.sent;
    row.received += amounts.received;
    row.counted = row.counted && amounts.counted;
  }
}

std::vector<TrafficRow> Ledger::rows() const {
  std::vector<TrafficRow> rows;
  for (const auto& [key, amounts] : rows_) {
    rows.push_back({std::get<0>(key), std::string(std::get<1>(key)), std::get<2>(key),
                    amounts.calls, amounts.sent, amounts.received, amounts.counted});
  }
  return rows;
}

}  // namespace parallelarium
