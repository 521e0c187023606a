// SPDX-License-Identifier: Apache-2.0
// The parts of a sentence about a wrong value: the value as it may be shown, and values that would
// do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

// Divisors of `number` up to `most`, ascending. At most `count` are returned: those nearest to
// `wanted`. Both numbers must be 1 or more. Cost: the square root of number.
std::vector<std::int64_t> divisors_near(std::int64_t number, std::int64_t wanted,
                                        std::int64_t most = INT64_MAX, std::size_t count = 3);

std::vector<std::string> as_text(const std::vector<std::int64_t>& values);

// Returns `why` as a Message about `field`, with values that would do there.
Message refuse(Message why, std::string field, std::vector<std::string> alternatives);

// The name that differs from `word` in the fewest letters; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

// A word from outside in a form that fits into a sentence: at most 60 bytes, printable, valid
// UTF-8.
std::string shown(std::string_view word);
bool is_utf8(std::string_view text);

}  // namespace parallelarium
