// SPDX-License-Identifier: Apache-2.0
// Reads one JSON object of settings strictly: wrong types, numbers out of range and unknown keys
// are errors that name the dotted key.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/settings/setting_values.h"

namespace parallelarium {

class SettingsReader {
 public:
  // `prefix` comes before every key in sentences: "", "mesh.", "model.experts.".
  SettingsReader(const nlohmann::json& object, std::string prefix);

  // Absent keys leave `into` as it is. Whole numbers may be written 5, 5.0 or 5e0.
  void whole(const char* key, int& into, std::int64_t low, std::int64_t high);
  void whole(const char* key, std::int64_t& into, std::int64_t low, std::int64_t high);
  void number(const char* key, double& into, double low, double high);
  void flag(const char* key, bool& into);
  void text(const char* key, std::string& into);
  void texts(const char* key, std::vector<std::string>& into);

  // The value of a key, or null. The key then counts as known.
  const nlohmann::json* child(const char* key);
  bool has(const char* key) const;
  std::string dotted(std::string_view key) const { return prefix_ + std::string(key); }

  void fail(Message error);
  // Returns the first error. Unknown keys come last.
  Result<void> finish();

 private:
  template <class Into, class Value>
  void take(Into& into, Result<Value> value) {
    if (value)
      into = static_cast<Into>(std::move(*value));
    else
      fail(value.error());
  }

  const nlohmann::json& object_;
  std::string prefix_;
  std::vector<std::string> known_;
  std::optional<Message> error_;
};

// Parses text as JSON and refuses nesting deeper than 100. Errors say where the text breaks.
Result<nlohmann::json> parse_json(std::string_view text);

}  // namespace parallelarium
