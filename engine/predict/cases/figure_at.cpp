// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cases/figure_at.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/plan/program/mesh.h"

namespace parallelarium {

namespace {

using nlohmann::json;

void add_sum(const json& rows, const std::string& part, std::string_view rest,
             std::optional<double>& largest);

void add_largest(const json& facts, std::string_view key, std::optional<double>& largest) {
  if (key.empty()) {
    std::optional<double> value;
    if (facts.is_number()) value = facts.get<double>();
    if (facts.is_boolean()) value = facts.get<bool>() ? 1 : 0;
    if (value && (!largest || *value > *largest)) largest = value;
    return;
  }
  const auto dot = key.find('.');
  const std::string part(key.substr(0, dot));
  const std::string_view rest = dot == std::string_view::npos ? "" : key.substr(dot + 1);
  if (part == "*") {
    if (facts.is_structured())
      for (const json& member : facts) add_largest(member, rest, largest);
  } else if (facts.is_object()) {
    const auto member = facts.find(part);
    if (member != facts.end()) add_largest(*member, rest, largest);
  } else if (facts.is_array() && part.size() <= 6 &&
             part.find_first_not_of("0123456789") == std::string::npos) {
    const auto index = static_cast<std::size_t>(std::stoul(part));
    if (index < facts.size()) add_largest(facts[index], rest, largest);
  } else if (facts.is_array()) {
    add_sum(facts, part, rest, largest);
  }
}

// Of a table of rows: a word that stands in some of them takes those, the name of a column adds it
// up.
void add_sum(const json& rows, const std::string& part, std::string_view rest,
             std::optional<double>& largest) {
  json chosen = json::array();
  std::optional<double> sum;
  for (const json& row : rows) {
    if (!row.is_object()) continue;
    for (const json& cell : row)
      if (cell.is_string() && cell.get_ref<const std::string&>() == part) {
        chosen.push_back(row);
        break;
      }
    const auto cell = row.find(part);
    if (cell != row.end() && cell->is_number()) sum = sum.value_or(0) + cell->get<double>();
  }
  if (!chosen.empty())
    add_largest(chosen, rest, largest);
  else if (sum && rest.empty())
    add_largest(*sum, rest, largest);
}

// "traffic.dp.sent_bytes" and the like: an answer has no row of a group that sends nothing.
bool is_sum_of_group(std::string_view key) {
  for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kPp, Axis::kDp, Axis::kEp, Axis::kWorld})
    for (const std::string_view column : {"calls", "sent_bytes", "received_bytes"})
      if (key == std::string("traffic.").append(name_of(axis)).append(".").append(column))
        return true;
  return false;
}

}  // namespace

std::optional<double> figure_at(const json& facts, const std::string& key) {
  std::optional<double> largest;
  add_largest(facts, key, largest);
  if (!largest && facts.contains("traffic") && is_sum_of_group(key)) return 0;
  return largest;
}

}  // namespace parallelarium
