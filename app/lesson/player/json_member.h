// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files that anybody may have changed.
#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>

namespace parallelarium {

// The member of the type that `fallback` has; else, or where `object` is none, `fallback`.
template <class Value>
Value member_or(const nlohmann::json& object, const char* key, Value fallback) {
  if (!object.is_object()) return fallback;
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>)
    if (!found->is_number_integer()) return fallback;
  try {
    return found->template get<Value>();
  } catch (const nlohmann::json::exception&) {
    return fallback;
  }
}

}  // namespace parallelarium
