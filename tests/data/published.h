// SPDX-License-Identifier: Apache-2.0
// Rows of published_figures.json: what papers print, with the inputs it follows from.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace parallelarium {

struct PublishedRow {
  std::string id, where;
  nlohmann::json inputs;
  double value = 0, bound = 0;  // bound: largest absolute difference
  double input(const char* key) const { return inputs.at(key).get<double>(); }
  int whole(const char* key) const { return inputs.at(key).get<int>(); }
};

inline void PrintTo(const PublishedRow& row, std::ostream* out) {
  *out << row.id << " " << row.where << " " << row.inputs << " = " << row.value;
}

// Rows of one table of the file. REQUIRES: the table is there.
inline std::vector<PublishedRow> published(const char* table) {
  std::ifstream file(std::string(PARALLELARIUM_SOURCE_DIR) + "/tests/data/published_figures.json");
  const nlohmann::json json = nlohmann::json::parse(file);
  std::vector<PublishedRow> rows;
  for (const nlohmann::json& entry : json.at(table)) {
    PublishedRow row;
    row.id = entry.at("id");
    row.where = entry.at("locator");
    row.inputs = entry.at("inputs");
    row.value = entry.at("value");
    const nlohmann::json& tolerance = entry.at("tolerance");
    const double size = tolerance.at("value");
    row.bound = tolerance.at("type") == "rel" ? size * std::fabs(row.value) : size;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace parallelarium
