// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>

#include "engine/plan/text/phrases.h"

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

Message type_words(const std::string& type) {
  return message(type == "object"    ? kValueObject
                 : type == "array"   ? kValueList
                 : type == "string"  ? kValueText
                 : type == "integer" ? kValueWhole
                 : type == "number"  ? kValueNumber
                                     : kValueTrueOrFalse);
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
    if (depth > kMostSchemaDepth)
      return wrong(path, message("lesson-schema.depth", "{} is nested too deeply.", place(path)));
    if (schema.is_boolean())
      return schema.get<bool>() ? Result<void>()
                                : wrong(path, message("lesson-schema.unknown",
                                                      "{} is not known here.", place(path)));
    for (const auto& [keyword, rule] : schema.items()) {
      Result<void> result = one(keyword, rule, value, schema, path, depth);
      if (!result) return result;
    }
    return {};
  }

 private:
  static Message place(const std::string& path) {
    return path.empty() ? message("schema-lesson", "The lesson") : plain("\"" + path + "\"");
  }
  static Result<void> wrong(const std::string& path, Message fault) {
    fault.field = path;
    return fault;
  }

  static std::string below(const std::string& path, const std::string& key) {
    const std::string shown_key = key.size() > 60 ? key.substr(0, 60) + "…" : key;
    return path.empty() ? shown_key : path + "." + shown_key;
  }

  // The keywords that look at the value itself.
  static std::optional<Result<void>> simple(const std::string& keyword, const json& rule,
                                            const json& value, const std::string& path) {
    const Result<void> fine;
    if (keyword == "type")
      return has_type(value, rule.get<std::string>())
                 ? fine
                 : wrong(path, message("lesson-schema.type", "{} must be {}.", place(path),
                                       type_words(rule.get<std::string>())));
    if (keyword == "const")
      return value == rule ? fine
                           : wrong(path, message("lesson-schema.const", "{} must be {}.",
                                                 place(path), shown(rule)));
    if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) != rule.end()) return fine;
      std::string words;
      for (const json& word : rule) words += (words.empty() ? "" : ", ") + shown(word);
      return wrong(path,
                   message("lesson-schema.enum", "{} must be one of {}.", place(path), words));
    }
    const auto bounded = [&](bool applies, double found, bool least, auto said) {
      const double bound = rule.get<double>();
      const bool holds = !applies || (least ? found >= bound : found <= bound);
      return holds ? fine : wrong(path, said());
    };
    if (keyword == "minimum")
      return bounded(value.is_number(), value.is_number() ? value.get<double>() : 0, true, [&] {
        return message("lesson-schema.least", "{} must be at least {}.", place(path), shown(rule));
      });
    if (keyword == "maximum")
      return bounded(value.is_number(), value.is_number() ? value.get<double>() : 0, false, [&] {
        return message("lesson-schema.most", "{} must be at most {}.", place(path), shown(rule));
      });
    const auto size = static_cast<double>(
        value.is_string() ? length_of(value.get_ref<const std::string&>()) : value.size());
    if (keyword == "minLength")
      return bounded(value.is_string(), size, true, [&] {
        return message("lesson-schema.characters-least", "{} must have at least {} characters.",
                       place(path), shown(rule));
      });
    if (keyword == "maxLength")
      return bounded(value.is_string(), size, false, [&] {
        return message("lesson-schema.characters-most", "{} must have at most {} characters.",
                       place(path), shown(rule));
      });
    if (keyword == "minItems")
      return bounded(value.is_array(), size, true, [&] {
        return message("lesson-schema.entries-least", "{} must have at least {} entries.",
                       place(path), shown(rule));
      });
    if (keyword == "maxItems")
      return bounded(value.is_array(), size, false, [&] {
        return message("lesson-schema.entries-most", "{} must have at most {} entries.",
                       place(path), shown(rule));
      });
    if (keyword == "minProperties")
      return bounded(value.is_object(), size, true, [&] {
        return message("lesson-schema.keys-least", "{} must have at least {} keys.", place(path),
                       shown(rule));
      });
    if (keyword == "maxProperties")
      return bounded(value.is_object(), size, false, [&] {
        return message("lesson-schema.keys-most", "{} must have at most {} keys.", place(path),
                       shown(rule));
      });
    return std::nullopt;
  }

  Result<void> one(const std::string& keyword, const json& rule, const json& value,
                   const json& schema, const std::string& path, int depth) {
    if (auto result = simple(keyword, rule, value, path)) return *result;
    if (keyword == "$ref") {
      const json::json_pointer target(rule.get<std::string>().substr(1));
      return check(value, root_.at(target), path, depth + 1);
    }
    if (keyword == "required") {
      for (const json& key : rule)
        if (value.is_object() && !value.contains(key.get<std::string>()))
          return wrong(path, message("lesson-schema.key", "{} lacks the key \"{}\".", place(path),
                                     key.get<std::string>()));
      return {};
    }
    if (keyword == "properties" || keyword == "additionalProperties")
      return members(keyword, rule, value, schema, path, depth);
    if (keyword == "propertyNames") {
      if (value.is_object())
        for (const auto& member : value.items()) {
          const Result<void> result =
              check(member.key(), rule, below(path, member.key()), depth + 1);
          if (!result)
            return wrong(below(path, member.key()),
                         message("lesson-schema.name", "{} is not a name that can stand here.",
                                 place(below(path, member.key()))));
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
      return wrong(path, message("lesson-schema.characters-most",
                                 "{} must have at most {} characters.", place(path), shown(bound)));
    const std::string& form = rule.get_ref<const std::string&>();
    const bool matches = std::regex_search(text, compiled(form));
    return matches ? Result<void>()
                   : wrong(path, message("lesson-schema.form", "{} has the form {}, not {}.",
                                         place(path), rule.get<std::string>(), shown(value)));
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
