// SPDX-License-Identifier: Apache-2.0
// Whether a text gives the answer of a question away. `lesson check` asks it of what the engine
// knows, and the window's tests of all that the window shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/text/durations.h"

namespace parallelarium {

// Those of "share", "seconds", "bytes" or "bytes_per_second", that of the field first; else none.
const std::vector<TypedUnit>& typed_units(std::string_view unit);

// Whether the text has the answer, in any unit that it may be typed in, with three digits or more:
// shorter numbers stand there by chance, though no times in parts such as "2 h 5 min". A whole
// plain number counts only with what it counts behind it ("layers"), which is empty for none.
// Decimals and groups may be written in any language.
bool tells_number(std::string_view text, double answer, std::string_view unit,
                  std::string_view counted);

// Whether the text has the formula, whatever its spaces and signs of × and ÷ are: "(p − 1) ÷ m" is
// "(p - 1) / m". An answer of one symbol or number is no formula.
bool tells_formula(std::string_view text, std::string_view expression);

// Whether a step that hides `keys` hides formulas of that kind ("bubble", "memory"): both
// definitions of a quantity are hidden with either, since one gives the other away.
bool hides_formulas(const std::vector<std::string>& keys, std::string_view kind);

}  // namespace parallelarium
