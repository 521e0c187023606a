// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/settings/setting_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

Message bad_value(const std::string& key, std::string_view value, const Sentence& expected) {
  Message error = message("bad-value", "{} cannot be “{}”; it must be {}.", key, shown(value),
                          message(expected));
  error.field = key;
  return error;
}

// Reads all of the text.
template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

Result<nlohmann::json> number_of_text(const std::string& key, std::string_view text) {
  double number = 0;
  if (!parse(text, number) || !std::isfinite(number)) return bad_value(key, text, kValueNumber);
  return nlohmann::json(number);
}

// Whole numbers may be written as the app's number fields do: 1e+06.
Result<nlohmann::json> whole_of_text(const std::string& key, std::string_view text) {
  Result<nlohmann::json> number = number_of_text(key, text);
  if (number && number->get<double>() != std::floor(number->get<double>()))
    return bad_value(key, text, kValueWhole);
  return number;
}

Result<nlohmann::json> flag_of_text(const std::string& key, std::string_view text) {
  for (const bool flag : {true, false})
    for (const char* word : flag ? std::array{"true", "on", "1"} : std::array{"false", "off", "0"})
      if (text == word) return nlohmann::json(flag);
  Message error = bad_value(key, text, kValueTrueOrFalse);
  error.alternatives = {"true", "false"};
  return error;
}

Result<nlohmann::json> wholes_of_text(const std::string& key, std::string_view text) {
  nlohmann::json list = nlohmann::json::array();
  if (text == "even") return list;
  while (true) {
    const std::size_t comma = text.find(',');
    Result<nlohmann::json> number = whole_of_text(key, text.substr(0, comma));
    if (!number) return number;
    list.push_back(std::move(*number));
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Message out_of_range(const std::string& key, double value, double low, double high) {
  Message error = message("out-of-range", "{} is {}; it must be between {} and {}.", key,
                          ten_digits(value), ten_digits(low), ten_digits(high));
  error.field = key;
  error.alternatives = {fmt::format("{:.10g}", std::clamp(value, low, high))};
  return error;
}

Message unknown_choice(const std::string& key, std::string_view word,
                       const std::vector<std::string>& words) {
  Message error =
      message("unknown-choice", "{} cannot be “{}”; choose {}.", key, shown(word), join_or(words));
  error.field = key;
  error.alternatives = words;
  return error;
}

Message wrong_type(const std::string& key, const Message& expected) {
  Message error = message("wrong-type", "{} must be {}.", key, expected);
  error.field = key;
  return error;
}

Result<std::int64_t> whole_from(const nlohmann::json& json, const std::string& key, Range range) {
  const double number = json.is_number() ? json.get<double>() : 0.5;
  if (number != std::floor(number)) return wrong_type(key, message(kValueWhole));
  if (!(number >= range.low && number <= range.high))
    return out_of_range(key, number, range.low, range.high);
  return static_cast<std::int64_t>(number);
}

Result<std::uint64_t> seed_from(const nlohmann::json& json, const std::string& key) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer() && json.get<std::int64_t>() >= 0)
    return static_cast<std::uint64_t>(json.get<std::int64_t>());
  return wrong_type(key, message(kValueWholeFromZero));
}

Result<double> number_from(const nlohmann::json& json, const std::string& key, Range range) {
  if (!json.is_number()) return wrong_type(key, message(kValueNumber));
  const double number = json.get<double>();
  if (!(number >= range.low && number <= range.high))
    return out_of_range(key, number, range.low, range.high);
  return number;
}

Result<bool> flag_from(const nlohmann::json& json, const std::string& key) {
  if (!json.is_boolean()) return wrong_type(key, message(kValueTrueOrFalse));
  return json.get<bool>();
}

Result<std::string> text_from(const nlohmann::json& json, const std::string& key) {
  if (!json.is_string()) return wrong_type(key, message(kValueQuoted));
  return json.get<std::string>();
}

Result<std::vector<int>> wholes_from(const nlohmann::json& json, const std::string& key,
                                     Range range, std::size_t most) {
  if (!json.is_array()) return wrong_type(key, message(kValueWholes));
  if (json.size() > most)
    return wrong_type(key, message("value-list-of", "a list of at most {}", most));
  std::vector<int> numbers;
  for (const nlohmann::json& entry : json) {
    const double number = entry.is_number() ? entry.get<double>() : 0.5;
    if (number != std::floor(number)) return wrong_type(key, message(kValueWholes));
    if (!(number >= range.low && number <= range.high))
      return out_of_range(key, number, range.low, range.high);
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

Result<std::vector<std::string>> texts_from(const nlohmann::json& json, const std::string& key) {
  if (!json.is_array()) return wrong_type(key, message(kValueTexts));
  std::vector<std::string> texts;
  for (const nlohmann::json& entry : json) {
    if (!entry.is_string()) return wrong_type(key, message(kValueTexts));
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

Result<nlohmann::json> value_of_text(SettingKind kind, const std::string& key,
                                     std::string_view text) {
  switch (kind) {
    case SettingKind::kWhole:
      return whole_of_text(key, text);
    case SettingKind::kSeed: {
      std::uint64_t seed = 0;
      if (!parse(text, seed)) return bad_value(key, text, kValueWholeFromZero);
      return nlohmann::json(seed);
    }
    case SettingKind::kNumber:
      if (text == "auto") return nlohmann::json("auto");  // whether it means anything is its row's
      return number_of_text(key, text);
    case SettingKind::kFlag:
      return flag_of_text(key, text);
    case SettingKind::kWholes:
      return wholes_of_text(key, text);
    case SettingKind::kObject:
      if (!text.starts_with('{')) break;
      if (Result<nlohmann::json> json = parse_json(text); json)
        return json;
      else
        return message("found-in", "{}: {}", key, json.error());
    case SettingKind::kChoice:
    case SettingKind::kText:
    case SettingKind::kTexts:
      break;
  }
  if (text.empty()) {
    Message error = message("value-empty", "{} is empty; it needs a value.", key);
    error.field = key;
    return error;
  }
  if (!is_utf8(text)) return bad_value(key, text, kValueUtf8);
  return nlohmann::json(std::string(text));
}

std::string text_of_value(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.12g}", value.get<double>());
  if (!value.is_array()) return value.dump();
  if (value.empty()) return "even";
  std::string text;
  for (const nlohmann::json& entry : value)
    text += (text.empty() ? "" : ",") + text_of_value(entry);
  return text;
}

}  // namespace parallelarium
