// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

constexpr int kMostLevels = 64;

struct YamlLine {
  std::size_t indent = 0;
  std::string text;  // without comment and spaces at its ends
};

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

// The text before a comment; a # inside quotes or a word is none.
std::string_view before_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t'))
      return line.substr(0, at);
  }
  return line;
}

std::vector<YamlLine> yaml_lines(std::string_view text) {
  std::vector<YamlLine> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = before_comment(text.substr(at, end - at));
    std::string content = trimmed(line);
    if (!content.empty() && content != "---")
      lines.push_back({line.find_first_not_of(' '), std::move(content)});
    at = end + 1;
  }
  return lines;
}

Message unreadable(const std::string& line) {
  return message("framework-yaml", "The line “{}” is no YAML that can be read here.", shown(line));
}

// A plain, quoted or bracketed value in one line.
Result<nlohmann::json> scalar(const std::string& text) {
  if (text == "null" || text == "~" || text.empty()) return nlohmann::json();
  if (text == "true" || text == "True") return nlohmann::json(true);
  if (text == "false" || text == "False") return nlohmann::json(false);
  if (text.front() == '[' || text.front() == '{' || text.front() == '"') {
    // Brackets hold JSON or plain words.
    nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_discarded()) return json;
    if (text.front() != '[' || text.back() != ']') return unreadable(text);
    json = nlohmann::json::array();
    const std::string inside = text.substr(1, text.size() - 2);
    for (std::size_t at = 0; at < inside.size();) {
      const std::size_t comma = std::min(inside.find(',', at), inside.size());
      const std::string word = trimmed(inside.substr(at, comma - at));
      if (word.empty() || word.find_first_of("[]{}") != std::string::npos) return unreadable(text);
      Result<nlohmann::json> value = scalar(word);
      if (!value) return value;
      json.push_back(std::move(*value));
      at = comma + 1;
    }
    return json;
  }
  if (text.front() == '\'' && text.size() > 1 && text.back() == '\'')
    return nlohmann::json(text.substr(1, text.size() - 2));
  if (text.front() == '&' || text.front() == '*' || text.front() == '|' || text.front() == '>')
    return unreadable(text);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool numeric = *end == 0 && std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  if (!numeric) return nlohmann::json(text);
  if (text.find_first_of(".eExX") == std::string::npos)
    if (const nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
        whole.is_number_integer())
      return whole;
  return nlohmann::json(number);
}

class Yaml {
 public:
  explicit Yaml(std::string_view text) : lines_(yaml_lines(text)) {}

  Result<nlohmann::json> read() {
    if (lines_.empty())
      return message("framework-empty", "The text is empty; it should say the settings.");
    Result<nlohmann::json> json = block(lines_.front().indent, 0);
    if (json && at_ < lines_.size()) return unreadable(lines_[at_].text);
    return json;
  }

 private:
  bool is_item() const {
    const std::string& text = lines_[at_].text;
    return text == "-" || text.starts_with("- ");
  }

  Result<nlohmann::json> block(std::size_t indent, int level) {
    if (level > kMostLevels) return unreadable(lines_[at_].text);
    return is_item() ? list(indent, level) : map(indent, level);
  }

  Result<nlohmann::json> list(std::size_t indent, int level) {
    nlohmann::json json = nlohmann::json::array();
    while (at_ < lines_.size() && lines_[at_].indent == indent && is_item()) {
      YamlLine& line = lines_[at_];
      const std::string rest = trimmed(std::string_view(line.text).substr(1));
      Result<nlohmann::json> value = nlohmann::json();
      if (rest.empty()) {
        ++at_;
        if (at_ < lines_.size() && lines_[at_].indent > indent)
          value = block(lines_[at_].indent, level + 1);
      } else if (colon_of(rest) != std::string::npos) {
        // The first key stands behind the dash, and the others below it.
        line.indent += line.text.size() - rest.size();
        line.text = rest;
        value = map(line.indent, level + 1);
      } else {
        ++at_;
        value = scalar(rest);
      }
      if (!value) return value;
      json.push_back(std::move(*value));
    }
    return json;
  }

  // Where the key ends; npos: there is none.
  static std::size_t colon_of(const std::string& text) {
    if (text.front() == '[' || text.front() == '{') return std::string::npos;
    if (text.back() == ':' && text.find(": ") == std::string::npos) return text.size() - 1;
    return text.find(": ");
  }

  Result<nlohmann::json> map(std::size_t indent, int level) {
    nlohmann::json json = nlohmann::json::object();
    while (at_ < lines_.size() && lines_[at_].indent == indent && !is_item()) {
      const std::string text = lines_[at_].text;
      const std::size_t colon = colon_of(text);
      if (colon == std::string::npos) return unreadable(text);
      std::string key = trimmed(text.substr(0, colon));
      if (key.size() > 1 && (key.front() == '"' || key.front() == '\''))
        key = key.substr(1, key.size() - 2);
      const std::string rest = trimmed(std::string_view(text).substr(colon + 1));
      ++at_;
      Result<nlohmann::json> value = scalar(rest);
      const bool below = at_ < lines_.size() && (lines_[at_].indent > indent ||
                                                 (lines_[at_].indent == indent && is_item()));
      if (value && rest.empty() && below) value = block(lines_[at_].indent, level + 1);
      if (!value) return value;
      json[key] = std::move(*value);
    }
    if (at_ < lines_.size() && lines_[at_].indent > indent) return unreadable(lines_[at_].text);
    return json;
  }

  std::vector<YamlLine> lines_;
  std::size_t at_ = 0;
};

// Words that YAML 1.1, which PyYAML reads, takes for true or false.
bool is_yaml_flag(std::string text) {
  constexpr std::string_view kWords[] = {"y", "n", "yes", "no", "on", "off", "true", "false"};
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords);
}

std::string yaml_scalar(const nlohmann::ordered_json& value) {
  if (value.is_number_float()) {  // YAML 1.1 takes 1e-08 for a text, and 1.0e-08 for a number
    std::string number = value.dump();
    const std::size_t exponent = number.find('e');
    if (exponent != std::string::npos && number.find('.') == std::string::npos)
      number.insert(exponent, ".0");
    return number;
  }
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  const Result<nlohmann::json> again = scalar(text);
  const bool plain = again && again->is_string() && text.find(": ") == std::string::npos &&
                     text.find('#') == std::string::npos && !is_yaml_flag(text);
  return plain ? text : value.dump();
}

void write_yaml(const nlohmann::ordered_json& json, std::size_t indent, std::string& text) {
  for (const auto& [key, value] : json.items()) {
    text += std::string(indent, ' ') + key + ":";
    const bool of_objects = value.is_array() && !value.empty() && value.front().is_object();
    if (value.is_object() && !value.empty()) {
      text += "\n";
      write_yaml(value, indent + 2, text);
    } else if (of_objects) {
      text += "\n";
      for (const auto& entry : value) {
        std::string item;
        write_yaml(entry, indent + 2, item);
        item[indent] = '-';
        text += item;
      }
    } else {
      text += " " + yaml_scalar(value) + "\n";
    }
  }
}

}  // namespace

Result<Entries> parse_yaml(std::string_view text) {
  const Result<nlohmann::json> json = Yaml(text).read();
  if (!json) return json.error();
  if (!json->is_object())
    return message("framework-not-object", "The text should be a map of settings and values.");
  Entries entries;
  flatten(*json, "", entries);
  return entries;
}

std::string yaml_of(const nlohmann::ordered_json& json) {
  std::string text;
  write_yaml(json, 0, text);
  return text;
}

Result<Entries> parse_json_entries(std::string_view text) {
  const Result<nlohmann::json> json = parse_json(text);
  if (!json) return json.error();
  if (!json->is_object())
    return message("framework-not-object", "The text should be a map of settings and values.");
  Entries entries;
  flatten(*json, "", entries);
  return entries;
}

void flatten(const nlohmann::json& json, const std::string& prefix, Entries& entries) {
  for (const auto& [key, value] : json.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object())
      flatten(value, name, entries);
    else
      entries.emplace_back(name, value);
  }
}

nlohmann::ordered_json nested(const Entries& entries) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : entries) {
    nlohmann::ordered_json* at = &json;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = name.find('.', begin)) != std::string::npos; begin = dot + 1)
      at = &(*at)[name.substr(begin, dot - begin)];
    (*at)[name.substr(begin)] = nlohmann::ordered_json::parse(value.dump());
  }
  return json;
}

std::string heading(const FrameworkTable& table, const std::vector<Message>& not_expressible,
                    const std::string& mark) {
  const FrameworkInfo& info = table.info;
  std::string text = fmt::format("{}{}, commit {} of {}: https://github.com/{}\n", mark, info.title,
                                 info.commit, info.date, info.repository);
  for (const Message& sentence : not_expressible) text += mark + sentence.text + "\n";
  return text;
}

}  // namespace parallelarium::frameworks
