// SPDX-License-Identifier: Apache-2.0
// What a sentence about a wrong value says: the value as it may be shown, and those that would do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

// Divisors of `number` up to `most`, ascending: at most `count` of them, the nearest to `wanted`.
// Both must be 1 or more. Cost: the square root of number.
std::vector<std::int64_t> divisors_near(std::int64_t number, std::int64_t wanted,
                                        std::int64_t most = INT64_MAX, std::size_t count = 3);

std::vector<std::string> as_text(const std::vector<std::int64_t>& values);

// `why`, about `field`, with values that would do there.
Message refuse(Message why, std::string field, std::vector<std::string> alternatives);

// The name that is fewest letters away from `word`; empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

// A stranger's word as it may stand in a sentence: at most 60 bytes, printable, valid UTF-8.
std::string shown(std::string_view word);
bool is_utf8(std::string_view text);

}  // namespace parallelarium
