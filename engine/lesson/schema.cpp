// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>

namespace parallelarium {

namespace {

using nlohmann::json;

constexpr int kMostSchemaDepth = 40;
constexpr std::array kAnnotations = {"$schema", "$comment", "$defs", "title", "description"};

// Characters, not bytes, as JSON Schema counts them.
std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

const char* article_of(const std::string& type) {
  if (type == "object") return "an object";
  if (type == "array") return "a list";
  if (type == "string") return "a text";
  if (type == "integer") return "a whole number";
  if (type == "number") return "a number";
  return "true or false";
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") {
    if (value.is_number_integer()) return true;
    return value.is_number_float() &&
           value.get<double>() ==
               static_cast<double>(static_cast<long>(std::clamp(value.get<double>(), -1e15, 1e15)));
  }
  return false;
}

std::string shown(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 40) + "…";
  return text;
}

// Compiled once a thread: a course has some fifty files of one schema, and to compile its patterns
// takes twice as long as to read a file.
const std::regex& compiled(const std::string& form) {
  thread_local std::map<std::string, std::regex> patterns;
  const auto known = patterns.find(form);
  return known != patterns.end() ? known->second
                                 : patterns.emplace(form, std::regex(form)).first->second;
}

class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  Result<void> check(const json& value, const json& schema, const std::string& path, int depth) {
    if (depth > kMostSchemaDepth) return wrong(path, "is nested too deeply");
    if (schema.is_boolean()) {
      return schema.get<bool>() ? Result<void>() : wrong(path, "is not known here");
    }
    for (const auto& [keyword, rule] : schema.items()) {
      Result<void> result = one(keyword, rule, value, schema, path, depth);
      if (!result) return result;
    }
    return {};
  }

 private:
  static Result<void> wrong(const std::string& path, const std::string& what) {
    Message fault =
        message("lesson-schema", "{} {}.", path.empty() ? "The lesson" : "\"" + path + "\"", what);
    fault.field = path;
    return fault;
  }

  static std::string below(const std::string& path, const std::string& key) {
    const std::string shown_key = key.size() > 60 ? key.substr(0, 60) + "…" : key;
    return path.empty() ? shown_key : path + "." + shown_key;
  }

  // The keywords that look at the value itself.
  static std::optional<Result<void>> plain(const std::string& keyword, const json& rule,
                                           const json& value, const std::string& path) {
    const auto at_least = [&](double found, const char* what) -> Result<void> {
      if (found >= rule.get<double>()) return {};
      return wrong(path, fmt::format("{} at least {}", what, shown(rule)));
    };
    const auto at_most = [&](double found, const char* what) -> Result<void> {
      if (found <= rule.get<double>()) return {};
      return wrong(path, fmt::format("{} at most {}", what, shown(rule)));
    };
    const Result<void> fine;
    if (keyword == "type")
      return has_type(value, rule.get<std::string>())
                 ? fine
                 : wrong(path, fmt::format("must be {}", article_of(rule.get<std::string>())));
    if (keyword == "const")
      return value == rule ? fine : wrong(path, fmt::format("must be {}", shown(rule)));
    if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) != rule.end()) return fine;
      std::string words;
      for (const json& word : rule) words += (words.empty() ? "" : ", ") + shown(word);
      return wrong(path, fmt::format("must be one of {}", words));
    }
    if (keyword == "minimum")
      return value.is_number() ? at_least(value.get<double>(), "must be") : fine;
    if (keyword == "maximum")
      return value.is_number() ? at_most(value.get<double>(), "must be") : fine;
    const auto size = static_cast<double>(
        value.is_string() ? length_of(value.get_ref<const std::string&>()) : value.size());
    if (keyword == "minLength")
      return value.is_string() ? at_least(size, "must have characters:") : fine;
    if (keyword == "maxLength")
      return value.is_string() ? at_most(size, "must have characters:") : fine;
    if (keyword == "minItems")
      return value.is_array() ? at_least(size, "must have entries:") : fine;
    if (keyword == "maxItems") return value.is_array() ? at_most(size, "must have entries:") : fine;
    if (keyword == "minProperties")
      return value.is_object() ? at_least(size, "must have keys:") : fine;
    if (keyword == "maxProperties")
      return value.is_object() ? at_most(size, "must have keys:") : fine;
    return std::nullopt;
  }

  Result<void> one(const std::string& keyword, const json& rule, const json& value,
                   const json& schema, const std::string& path, int depth) {
    if (auto result = plain(keyword, rule, value, path)) return *result;
    if (keyword == "$ref") {
      const json::json_pointer target(rule.get<std::string>().substr(1));
      return check(value, root_.at(target), path, depth + 1);
    }
    if (keyword == "required") {
      for (const json& key : rule)
        if (value.is_object() && !value.contains(key.get<std::string>()))
          return wrong(path, fmt::format("lacks the key \"{}\"", key.get<std::string>()));
      return {};
    }
    if (keyword == "properties" || keyword == "additionalProperties")
      return members(keyword, rule, value, schema, path, depth);
    if (keyword == "propertyNames") {
      if (value.is_object())
        for (const auto& member : value.items()) {
          const Result<void> result =
              check(member.key(), rule, below(path, member.key()), depth + 1);
          if (!result) return wrong(below(path, member.key()), "is not a name that can stand here");
        }
      return {};
    }
    if (keyword == "items") {
      if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i) {
          Result<void> result = check(value[i], rule, below(path, std::to_string(i)), depth + 1);
          if (!result) return result;
        }
      return {};
    }
    if (keyword == "pattern") return pattern(rule, value, schema, path);
    if (keyword == "anyOf") {
      Result<void> result;
      for (const json& choice : rule) {
        result = check(value, choice, path, depth + 1);
        if (result) return {};
      }
      return result;
    }
    if (keyword == "allOf") {
      for (const json& part : rule) {
        Result<void> result = check(value, part, path, depth + 1);
        if (!result) return result;
      }
      return {};
    }
    if (keyword == "if") {
      const bool applies = check(value, rule, path, depth + 1).ok();
      return applies && schema.contains("then") ? check(value, schema["then"], path, depth + 1)
                                                : Result<void>();
    }
    const bool known = keyword == "then" || std::find(kAnnotations.begin(), kAnnotations.end(),
                                                      keyword) != kAnnotations.end();
    return known ? Result<void>()
                 : message("schema-keyword", "The schema uses \"{}\", which is not understood.",
                           keyword);
  }

  Result<void> members(const std::string& keyword, const json& rule, const json& value,
                       const json& schema, const std::string& path, int depth) {
    if (!value.is_object()) return {};
    for (const auto& member : value.items()) {
      const auto named = schema.find("properties");
      const bool is_named = named != schema.end() && named->contains(member.key());
      if (is_named != (keyword == "properties")) continue;
      Result<void> result = check(member.value(), is_named ? rule[member.key()] : rule,
                                  below(path, member.key()), depth + 1);
      if (!result) return result;
    }
    return {};
  }

  // std::regex recurses per character, so only texts bounded by maxLength are given to it.
  Result<void> pattern(const json& rule, const json& value, const json& schema,
                       const std::string& path) {
    if (!value.is_string()) return {};
    const std::string& text = value.get_ref<const std::string&>();
    const json bound = schema.value("maxLength", json(80));
    if (static_cast<double>(text.size()) > bound.get<double>())
      return wrong(path, fmt::format("must have characters: at most {}", shown(bound)));
    const std::string& form = rule.get_ref<const std::string&>();
    const bool matches = std::regex_search(text, compiled(form));
    return matches ? Result<void>()
                   : wrong(path, fmt::format("has the form {}, not {}", rule.get<std::string>(),
                                             shown(value)));
  }

  const json& root_;
};

}  // namespace

Result<void> validate_json(const nlohmann::json& document, const nlohmann::json& schema) {
  try {  // a schema with keywords of another form than JSON Schema's
    return Validator(schema).check(document, schema, "", 0);
  } catch (const std::exception& error) {
    return message("schema-form", "The schema itself is wrong: {}.", error.what());
  }
}

}  // namespace parallelarium
