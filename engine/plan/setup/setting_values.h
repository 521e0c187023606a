// SPDX-License-Identifier: Apache-2.0
// One value of a setting from its text: whole numbers, numbers, words, text. Errors name the key
// and what it may be.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/setup/alternatives.h"
#include "engine/plan/setup/settings_reader.h"
#include "engine/plan/setup/setup_names.h"

namespace parallelarium {

inline Message bad_value(const std::string& key, std::string_view value, const Message& expected) {
  Message error =
      message("bad-value", "{} cannot be “{}”; it must be {}.", key, shown(value), expected);
  error.field = key;
  return error;
}

inline Result<double> read_number(const std::string& key, std::string_view value, Range range) {
  double number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc() || end != value.data() + value.size() || !std::isfinite(number))
    return bad_value(key, value, message(kValueNumber));
  if (number < range.low || number > range.high)
    return out_of_range(key, number, range.low, range.high);
  return number;
}

// Whole numbers may be written as the app's number fields do: 1e+06.
template <class Whole>
Result<void> set_whole(Whole& into, const std::string& key, std::string_view value, Range range) {
  const Result<double> number = read_number(key, value, range);
  if (!number) return number.error();
  if (*number != std::floor(*number)) return bad_value(key, value, message(kValueWhole));
  into = static_cast<Whole>(*number);
  return {};
}

inline Result<void> set_number(double& into, const std::string& key, std::string_view value,
                               Range range) {
  const Result<double> number = read_number(key, value, range);
  if (!number) return number.error();
  into = *number;
  return {};
}

template <class Choice, std::size_t N>
Result<void> set_choice(Choice& into, const std::string& key, std::string_view value,
                        const std::array<Word<Choice>, N>& words) {
  std::vector<std::string> names;
  for (const auto& [choice, word] : words) {
    if (word == value) {
      into = choice;
      return {};
    }
    names.emplace_back(word);
  }
  Message error = bad_value(key, value, join_or(names));
  error.alternatives = names;
  return error;
}

inline Result<void> set_text(std::string& into, const std::string& key, std::string_view value) {
  if (value.empty() || !is_utf8(value)) return bad_value(key, value, message(kValueUtf8));
  into = value;
  return {};
}

}  // namespace parallelarium
