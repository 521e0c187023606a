// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/setup/settings_reader.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/plan/setup/alternatives.h"

namespace parallelarium {
Message out_of_range(const std::string& field, double value, double low, double high) {
  Message error = message("out-of-range", "{} is {}; it must be between {} and {}.", field,
                          ten_digits(value), ten_digits(low), ten_digits(high));
  error.field = field;
  error.alternatives = {fmt::format("{:.10g}", std::clamp(value, low, high))};
  return error;
}

SettingsReader::SettingsReader(const nlohmann::json& object, std::string prefix)
    : object_(object), prefix_(std::move(prefix)) {
  if (object_.is_object()) return;
  const std::string name =
      prefix_.empty() ? "The file" : prefix_.substr(0, prefix_.size() - 1);  // drop the dot
  fail(message("not-an-object", "{} must be an object in braces.", name));
}

bool SettingsReader::has(const char* key) const {
  return object_.is_object() && object_.contains(key);
}

const nlohmann::json* SettingsReader::child(const char* key) {
  known_.emplace_back(key);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void SettingsReader::fail(Message error) {
  if (!error_) error_ = std::move(error);
}

void SettingsReader::fail_type(const char* key, const Message& expected) {
  Message error = message("wrong-type", "{} must be {}.", dotted(key), expected);
  error.field = dotted(key);
  fail(std::move(error));
}

void SettingsReader::fail_choice(const char* key, const std::string& word,
                                 const std::vector<std::string>& names) {
  Message error = message("unknown-choice", "{} cannot be “{}”; choose {}.", dotted(key),
                          shown(word), join_or(names));
  error.field = dotted(key);
  error.alternatives = names;
  fail(std::move(error));
}

std::optional<std::int64_t> SettingsReader::find_whole(const char* key, std::int64_t low,
                                                       std::int64_t high) {
  const nlohmann::json* value = child(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fail_type(key, message(kValueWhole));
    return std::nullopt;
  }
  const double number = value->get<double>();
  if (number != std::floor(number)) {
    fail_type(key, message(kValueWhole));
    return std::nullopt;
  }
  if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high))) {
    fail(out_of_range(dotted(key), number, static_cast<double>(low), static_cast<double>(high)));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

void SettingsReader::whole(const char* key, int& into, std::int64_t low, std::int64_t high) {
  if (const auto value = find_whole(key, low, high)) into = static_cast<int>(*value);
}

void SettingsReader::whole(const char* key, std::int64_t& into, std::int64_t low,
                           std::int64_t high) {
  if (const auto value = find_whole(key, low, high)) into = *value;
}

void SettingsReader::seed(const char* key, std::uint64_t& into) {
  const nlohmann::json* value = child(key);
  if (value == nullptr) return;
  if (value->is_number_unsigned()) {
    into = value->get<std::uint64_t>();
  } else if (value->is_number_integer() && value->get<std::int64_t>() >= 0) {
    into = static_cast<std::uint64_t>(value->get<std::int64_t>());
  } else {
    fail_type(key, message(kValueWholeFromZero));
  }
}

void SettingsReader::number(const char* key, double& into, double low, double high) {
  const nlohmann::json* value = child(key);
  if (value == nullptr) return;
  if (!value->is_number()) return fail_type(key, message(kValueNumber));
  const double number = value->get<double>();
  if (!(number >= low && number <= high)) return fail(out_of_range(dotted(key), number, low, high));
  into = number;
}

void SettingsReader::flag(const char* key, bool& into) {
  const nlohmann::json* value = child(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return fail_type(key, message(kValueTrueOrFalse));
  into = value->get<bool>();
}

void SettingsReader::text(const char* key, std::string& into) {
  const nlohmann::json* value = child(key);
  if (value == nullptr) return;
  if (!value->is_string()) return fail_type(key, message(kValueQuoted));
  into = value->get<std::string>();
}

void SettingsReader::wholes(const char* key, std::vector<int>& into, std::int64_t low,
                            std::int64_t high, std::size_t most) {
  const nlohmann::json* value = child(key);
  if (value == nullptr) return;
  if (!value->is_array()) return fail_type(key, message(kValueWholes));
  if (value->size() > most)
    return fail_type(key, message("value-list-of", "a list of at most {}", most));
  std::vector<int> numbers;
  for (const nlohmann::json& entry : *value) {
    const double number = entry.is_number() ? entry.get<double>() : 0.5;
    if (number != std::floor(number)) return fail_type(key, message(kValueWholes));
    if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high)))
      return fail(
          out_of_range(dotted(key), number, static_cast<double>(low), static_cast<double>(high)));
    numbers.push_back(static_cast<int>(number));
  }
  into = std::move(numbers);
}

void SettingsReader::texts(const char* key, std::vector<std::string>& into) {
  const nlohmann::json* value = child(key);
  if (value == nullptr) return;
  if (!value->is_array()) return fail_type(key, message(kValueTexts));
  std::vector<std::string> words;
  for (const nlohmann::json& entry : *value) {
    if (!entry.is_string()) return fail_type(key, message(kValueTexts));
    words.push_back(entry.get<std::string>());
  }
  into = std::move(words);
}

Result<void> SettingsReader::finish() {
  if (!error_ && object_.is_object()) {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      Message error = message("unknown-key", "Unknown key “{}”; known here: {}.",
                              shown(dotted(key)), fmt::format("{}", fmt::join(known_, ", ")));
      error.field = shown(dotted(key));
      fail(std::move(error));
      break;
    }
  }
  if (error_) return *error_;
  return {};
}

Result<nlohmann::json> parse_json(std::string_view text) {
  constexpr int kMostDepth = 100;
  int depth = 0;
  bool quoted = false, escaped = false;
  for (const char c : text) {
    if (quoted) {
      if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMostDepth)
      return message("json-depth", "The text nests deeper than {} levels.", kMostDepth);
  }
  // A key that stands twice would silently win over the first.
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::string doubled;
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second &&
        doubled.empty())
      doubled = value.get<std::string>();
    return true;
  };
  try {
    nlohmann::json json = nlohmann::json::parse(text, watch);
    if (doubled.empty()) return json;
    return message("json-doubled", "The key “{}” stands twice in one object.", shown(doubled));
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t at = std::min<std::size_t>(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t start = text.rfind('\n', at > 0 ? at - 1 : 0);
    const std::size_t column = start == std::string_view::npos || start >= at ? at + 1 : at - start;
    return message("json-syntax", "The text is not JSON: it breaks at line {}, column {}.", line,
                   column);
  } catch (const nlohmann::json::exception&) {  // such as 1e999
    return message("json-number", "The text holds a number that is too large to read.");
  }
}

}  // namespace parallelarium
