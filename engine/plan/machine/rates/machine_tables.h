// SPDX-License-Identifier: Apache-2.0
// The tables of a Machine file: shares by size of products, attention and experts, and seconds of
// collectives by bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {

// The line "origin" of the reader's object.
void read_origin(SettingsReader& reader, Origin& origin);

// {"value", "origin"}, both needed.
Result<Sourced> read_sourced(const nlohmann::json& json, const std::string& prefix);
nlohmann::json to_json(const Sourced& number);

// Reads the object under `key` with `read`. If there is none, `into` stays as it is.
template <class Value, class Read>
void read_dotted(SettingsReader& reader, const char* key, Value& into, const Read& read) {
  const nlohmann::json* json = reader.child(key);
  if (json == nullptr) return;
  Result<Value> value = read(*json, reader.dotted(key) + ".");
  if (value)
    into = std::move(*value);
  else
    reader.fail(value.error());
}

// The same for a list of objects.
template <class Value, class Read>
void read_list(SettingsReader& reader, const char* key, std::vector<Value>& into,
               const Read& read) {
  const nlohmann::json* json = reader.child(key);
  if (json == nullptr) return;
  if (!json->is_array()) {
    reader.fail(message("wrong-type.list", "{} must be a list.", reader.dotted(key)));
    return;
  }
  for (const nlohmann::json& entry : *json) {
    Result<Value> value = read(entry, reader.dotted(key) + ".");
    if (!value) return reader.fail(value.error());
    into.push_back(std::move(*value));
  }
}

// Errors: "products-sizes", "shares-count", "seconds-count".
void read_tables(SettingsReader& reader, Machine& machine);
// Leaves out empty tables.
void put_tables(nlohmann::json& json, const Machine& machine);

}  // namespace parallelarium
