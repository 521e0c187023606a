// SPDX-License-Identifier: Apache-2.0
// Reads one value of a setting from JSON, and converts between JSON and the text that a person
// types. Errors name the dotted key and what it may be.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

enum class SettingKind : std::uint8_t {
  kWhole,
  kSeed,  // a whole number of 64 bits
  kNumber,
  kFlag,
  kChoice,  // one of some words
  kText,
  kWholes,  // "3,2,2,1"; an empty list is "even"
  kTexts,
  kObject,  // a name, or {...}
};

// Inclusive.
struct Range {
  double low = 0, high = 0;
};

// A choice and its word in files and on the command line.
template <class Choice>
using Word = std::pair<Choice, std::string_view>;

// Whole numbers may be written 5, 5.0 or 5e0.
Result<std::int64_t> whole_from(const nlohmann::json& json, const std::string& key, Range range);
Result<std::uint64_t> seed_from(const nlohmann::json& json, const std::string& key);
Result<double> number_from(const nlohmann::json& json, const std::string& key, Range range);
Result<bool> flag_from(const nlohmann::json& json, const std::string& key);
Result<std::string> text_from(const nlohmann::json& json, const std::string& key);
Result<std::vector<int>> wholes_from(const nlohmann::json& json, const std::string& key,
                                     Range range, std::size_t most);
Result<std::vector<std::string>> texts_from(const nlohmann::json& json, const std::string& key);

template <class Words>
Result<typename Words::value_type::first_type> choice_from(const nlohmann::json& json,
                                                           const std::string& key,
                                                           const Words& words);

// The JSON that a person means by `text`. The setting checks whether it is in range.
Result<nlohmann::json> value_of_text(SettingKind kind, const std::string& key,
                                     std::string_view text);
// The text of a value, which value_of_text() reads.
std::string text_of_value(const nlohmann::json& value);

// "out-of-range": `key` must be between low and high.
Message out_of_range(const std::string& key, double value, double low, double high);
// "unknown-choice": `key` cannot be `word`; choose one of `words`.
Message unknown_choice(const std::string& key, std::string_view word,
                       const std::vector<std::string>& words);
// "wrong-type": `key` must be `expected`, such as kValueWhole.
Message wrong_type(const std::string& key, const Message& expected);

template <class Choice, std::size_t N>
constexpr std::string_view word_of(const std::array<Word<Choice>, N>& words, Choice choice) {
  for (const auto& [value, word] : words)
    if (value == choice) return word;
  return {};
}

template <class Words>
std::vector<std::string> all_words(const Words& words) {
  std::vector<std::string> all;
  for (const auto& [value, word] : words) all.emplace_back(word);
  return all;
}

template <class Words>
Result<typename Words::value_type::first_type> choice_from(const nlohmann::json& json,
                                                           const std::string& key,
                                                           const Words& words) {
  const Result<std::string> word = text_from(json, key);
  if (!word) return word.error();
  for (const auto& [value, name] : words)
    if (name == *word) return value;
  return unknown_choice(key, *word, all_words(words));
}

}  // namespace parallelarium
