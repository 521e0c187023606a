// SPDX-License-Identifier: Apache-2.0
// Reads keys of JSON objects into plain data without exceptions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// Reads one object key by key and keeps the first fault, so that a caller reads all keys and asks
// once. A key that is absent or null leaves `into` as it is.
class ObjectReader {
 public:
  // `where` names the object in sentences: "observation", "observation.memory".
  ObjectReader(const nlohmann::json& object, std::string where);

  void read(const char* key, bool& into);
  void read(const char* key, int& into);
  void read(const char* key, std::int64_t& into);
  void read(const char* key, double& into);  // null changes nothing
  void read(const char* key, std::string& into);
  void read(const char* key, std::vector<double>& into);  // null entries become NaN

  // The value of a key that must be there and have that type. If not, it returns null and keeps an
  // error.
  const nlohmann::json* object(const char* key);
  const nlohmann::json* array(const char* key);

  void fail(const char* key, const Message& expected);
  const std::optional<Message>& error() const { return error_; }

 private:
  const nlohmann::json* find(const char* key) const;
  const nlohmann::json* object_;
  std::string where_;
  std::optional<Message> error_;
};

// The objects of a list, each read by read(reader, row). `where` names one of them in sentences.
template <class Row, class Read>
Result<std::vector<Row>> rows_from_json(const nlohmann::json& list, const std::string& where,
                                        const Read& read) {
  std::vector<Row> rows;
  for (const nlohmann::json& entry : list) {
    ObjectReader reader(entry, where);
    read(reader, rows.emplace_back());
    if (reader.error()) return *reader.error();
  }
  return rows;
}

}  // namespace parallelarium
