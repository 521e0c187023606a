// SPDX-License-Identifier: Apache-2.0
// Phrases that many sentences share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// "2", "2 or 4", "1, 2 or 4"; empty for no words.
Message join_or(const std::vector<std::string>& words);
// "2", "2 and 4", "1, 2 and 4"; empty for no words.
Message join_and(const std::vector<std::string>& words);

// "1 rank", "4 ranks"
Message counted_ranks(int count);
Message counted_cores(int count);
Message counted_gpus(int count);

// The kinds of value that a sentence may ask for.
inline constexpr Sentence kValueNumber{"value-number", "a number"};
inline constexpr Sentence kValueNumbers{"value-numbers", "a list of numbers"};
inline constexpr Sentence kValueWhole{"value-whole", "a whole number"};
inline constexpr Sentence kValueSmallerWhole{"value-smaller", "a smaller whole number"};
inline constexpr Sentence kValueWholeFromZero{"value-not-negative",
                                              "a whole number that is not negative"};
inline constexpr Sentence kValueWholes{"value-wholes", "a list of whole numbers"};
inline constexpr Sentence kValueTrueOrFalse{"value-flag", "true or false"};
inline constexpr Sentence kValueText{"value-text", "text"};
inline constexpr Sentence kValueQuoted{"value-quoted", "text in quotes"};
inline constexpr Sentence kValueUtf8{"value-utf8", "text in UTF-8"};
inline constexpr Sentence kValueTexts{"value-texts", "a list of texts"};
inline constexpr Sentence kValueList{"value-list", "a list"};
inline constexpr Sentence kValueObject{"value-object", "an object"};

// A sentence as a part of another one, without its full stop.
Message clause(Message sentence);

// "a, b, c" of phrases.
Message listed(const std::vector<Message>& phrases);

// Words of the table of settings, such as "Gradient clip (0: none)", without the explanation in
// brackets. The window has them in its language because it shows that table.
Message of_settings(const std::string& english);

// A number with at most ten digits.
Message ten_digits(double value);
Message seven_digits(double value);

// A text of a table. `key` is its key there, and its id is "family:key".
Message entry(std::string_view family, std::string_view key, std::string english);
// A name of the plan, such as name_of(Purpose::kActivations), as a word: the name is its own key.
// `family` is "purpose", "piece", "phase", "tensor" or "source".
Message word(std::string_view family, std::string_view name);

}  // namespace parallelarium
