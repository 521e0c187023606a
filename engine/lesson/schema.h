// SPDX-License-Identifier: Apache-2.0
// Validates JSON against the part of JSON Schema (draft 2020-12) that lessons/schema.json uses:
// type, const, enum, properties, required, additionalProperties, propertyNames, minProperties,
// maxProperties, items, minItems, maxItems, minimum, maximum, minLength, maxLength, pattern, anyOf,
// allOf, if/then, and $ref into "#/$defs/". Debian 12 has no maintained C++ library for it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

// Success, or one sentence that names the place by its dotted path ("steps.2.options.0.id"). Every
// key is checked before what is below it, so a hostile document costs no more than its size. A
// schema keyword that is not in the list above is an error too.
Result<void> validate_json(const nlohmann::json& document, const nlohmann::json& schema);

}  // namespace parallelarium
