// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/settings/settings_reader.h"

#include <algorithm>
#include <set>

#include "engine/plan/settings/alternatives.h"

namespace parallelarium {
SettingsReader::SettingsReader(const nlohmann::json& object, std::string prefix)
    : object_(object), prefix_(std::move(prefix)) {
  if (object_.is_object()) return;
  const Message name = prefix_.empty()
                           ? message("the-file", "The file")
                           : plain(prefix_.substr(0, prefix_.size() - 1));  // drop the dot
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

void SettingsReader::whole(const char* key, int& into, std::int64_t low, std::int64_t high) {
  const Range range{static_cast<double>(low), static_cast<double>(high)};
  if (const nlohmann::json* value = child(key)) take(into, whole_from(*value, dotted(key), range));
}

void SettingsReader::whole(const char* key, std::int64_t& into, std::int64_t low,
                           std::int64_t high) {
  const Range range{static_cast<double>(low), static_cast<double>(high)};
  if (const nlohmann::json* value = child(key)) take(into, whole_from(*value, dotted(key), range));
}

void SettingsReader::number(const char* key, double& into, double low, double high) {
  const Range range{low, high};
  if (const nlohmann::json* value = child(key)) take(into, number_from(*value, dotted(key), range));
}

void SettingsReader::flag(const char* key, bool& into) {
  if (const nlohmann::json* value = child(key)) take(into, flag_from(*value, dotted(key)));
}

void SettingsReader::text(const char* key, std::string& into) {
  if (const nlohmann::json* value = child(key)) take(into, text_from(*value, dotted(key)));
}

void SettingsReader::texts(const char* key, std::vector<std::string>& into) {
  if (const nlohmann::json* value = child(key)) take(into, texts_from(*value, dotted(key)));
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
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return message("json-empty", "The text is empty.");
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
