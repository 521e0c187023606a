// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

constexpr std::size_t kMostItems = 100'000;  // of a list that is multiplied
constexpr int kMostDepth = 64;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool goes_on_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Reads the expressions and assignments that recipes are made of, and passes over the rest.
class Recipe {
 public:
  explicit Recipe(std::string_view text) : text_(text) {}

  Result<Entries> read() {
    Entries entries;
    while (at_ < text_.size()) {
      skip_lines();
      if (at_ >= text_.size()) break;
      const std::size_t begin = at_;
      if (!read_statement(entries) || failed_) {
        if (failed_) return error_at(begin);
        skip_line();
      }
    }
    return entries;
  }

  Result<nlohmann::json> whole_expression() {
    nlohmann::json value = expression(0);
    skip_spaces(true);
    if (failed_ || at_ < text_.size()) return error_at(0);
    return value;
  }

 private:
  Message error_at(std::size_t begin) const {
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    return message("framework-expression", "“{}” is no expression that can be read here.",
                   shown(text_.substr(begin, end - begin)));
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  void skip_comment() {
    if (at_ < text_.size() && text_[at_] == '#') skip_line();
  }
  // Spaces; with `lines`, also ends of lines and comments, as inside brackets.
  void skip_spaces(bool lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n')
        at_ += 2;
      else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'))
        ++at_;
      else if (lines && c == '#')
        skip_comment();
      else
        return;
    }
  }
  void skip_lines() {
    skip_spaces(true);
    // A text that stands alone says what a function does.
    for (const char* quotes : {"\"\"\"", "'''"})
      if (text_.substr(at_).starts_with(quotes)) {
        const std::size_t end = text_.find(quotes, at_ + 3);
        at_ = end == std::string_view::npos ? text_.size() : end + 3;
        skip_spaces(true);
      }
  }
  bool take(std::string_view token, bool lines = true) {
    skip_spaces(lines);
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  std::string dotted_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (goes_on_name(text_[at_]) ||
            (text_[at_] == '.' && at_ + 1 < text_.size() && starts_name(text_[at_ + 1]))))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool read_statement(Entries& entries) {
    if (!starts_name(text_[at_])) return false;
    std::string name = dotted_name();
    if (name == "from") return read_import(entries);
    if (name == "return") {
      skip_spaces(false);
      if (at_ >= text_.size() || !starts_name(text_[at_])) return true;
      const nlohmann::json value = expression(0);
      if (is_call(value)) add("", value, entries);
      return true;
    }
    skip_spaces(false);
    if (at_ < text_.size() && text_[at_] == ':') {  // a type stands behind the name
      const std::size_t equals = text_.find('=', at_), end = text_.find('\n', at_);
      if (equals == std::string_view::npos || equals > end) return false;
      at_ = equals;
    }
    if (at_ + 1 >= text_.size() || text_[at_] != '=' || text_[at_ + 1] == '=') return false;
    const std::size_t begin = ++at_;
    const nlohmann::json value = expression(0);
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) {
      if (is_call(value)) add("", value, entries);
      return true;
    }
    if (failed_ || !ends_statement()) {  // its row says that this is no value
      failed_ = false;
      at_ = begin;
      skip_line();
      entries.emplace_back(name.substr(dot + 1),
                           identifier(std::string(text_.substr(begin, at_ - begin))));
      return true;
    }
    add(name.substr(dot + 1), value, entries);
    return true;
  }

  bool ends_statement() {
    skip_spaces(false);
    return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '#' || text_[at_] == ';';
  }

  bool read_import(Entries& entries) {
    skip_spaces(false);
    const std::string module = dotted_name();
    if (!take("import", false)) return false;
    const bool in_brackets = take("(", false);
    do {
      skip_spaces(in_brackets);
      const std::string name = dotted_name();
      if (name.empty()) break;
      entries.emplace_back("import " + name, module);
      skip_spaces(in_brackets);
      if (text_.substr(at_).starts_with("as ")) {
        at_ += 3;
        dotted_name();
      }
    } while (take(",", in_brackets));
    if (in_brackets && !take(")")) failed_ = true;
    return true;
  }

  // An object of a call becomes entries: its name at `path`, its arguments below.
  static void add(const std::string& path, const nlohmann::json& value, Entries& entries) {
    if (!is_call(value)) {
      entries.emplace_back(path, value);
      return;
    }
    entries.emplace_back(path.empty() ? "()" : path, call(word_of(value)));
    for (const auto& argument : value.at("arguments")) {
      const std::string name = argument.at(0);
      add(path.empty() ? name : path + "." + name, argument.at(1), entries);
    }
  }

  nlohmann::json fail() {
    failed_ = true;
    return nullptr;
  }

  nlohmann::json expression(int depth) {
    if (depth > kMostDepth) return fail();
    nlohmann::json sum = product(depth);
    while (!failed_) {
      const bool plus = take("+", depth > 0);
      if (!plus && !take("-", depth > 0)) return sum;
      const nlohmann::json other = product(depth);
      if (plus && sum.is_array() && other.is_array())
        sum.insert(sum.end(), other.begin(), other.end());
      else if (sum.is_number() && other.is_number())
        sum = number(sum.get<double>() + (plus ? 1 : -1) * other.get<double>());
      else
        return fail();
    }
    return sum;
  }

  nlohmann::json product(int depth) {
    nlohmann::json left = operand(depth);
    while (!failed_) {
      skip_spaces(depth > 0);
      if (text_.substr(at_).starts_with("**")) return fail();
      const bool times = take("*", depth > 0), whole = !times && take("//", depth > 0);
      if (!times && !whole && !take("/", depth > 0)) return left;
      nlohmann::json right = operand(depth);
      if (times && right.is_array()) std::swap(left, right);
      if (times && left.is_array() && right.is_number_integer() && right.get<std::int64_t>() >= 0) {
        const auto count = right.get<std::size_t>();
        if (left.size() * count > kMostItems) return fail();
        nlohmann::json list = nlohmann::json::array();
        for (std::size_t n = 0; n < count; ++n) list.insert(list.end(), left.begin(), left.end());
        left = std::move(list);
      } else if (left.is_number() && right.is_number() && (times || right.get<double>() != 0)) {
        const double quotient = times ? left.get<double>() * right.get<double>()
                                      : left.get<double>() / right.get<double>();
        left = number(whole ? std::floor(quotient) : quotient);
      } else {
        return fail();
      }
    }
    return left;
  }

  static nlohmann::json number(double value) {
    if (value == std::floor(value) && std::abs(value) < 9e15)
      return static_cast<std::int64_t>(value);
    return value;
  }

  nlohmann::json operand(int depth) {
    skip_spaces(depth > 0);
    if (at_ >= text_.size()) return fail();
    const char c = text_[at_];
    if (c == '-') {
      ++at_;
      const nlohmann::json value = operand(depth + 1);
      return value.is_number() ? number(-value.get<double>()) : fail();
    }
    if (c == '"' || c == '\'') return quoted(c);
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return numeral();
    if (c == '[' || c == '(') return sequence(c, depth);
    if (c == '{') return dictionary(depth);
    if (!starts_name(c)) return fail();
    std::string name = dotted_name();
    if ((name == "r" || name == "f") && at_ < text_.size() &&
        (text_[at_] == '"' || text_[at_] == '\''))
      return quoted(text_[at_]);
    if (name == "True") return true;
    if (name == "False") return false;
    if (name == "None") return nullptr;
    if (at_ < text_.size() && text_[at_] == '(') return arguments(name, depth);
    return identifier(name);
  }

  nlohmann::json quoted(char quote) {
    std::string text;
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_];
    }
    if (at_ >= text_.size() || text_[at_] != quote) return fail();
    ++at_;
    return text;
  }

  nlohmann::json numeral() {
    std::string digits;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool sign = (c == '-' || c == '+') && !digits.empty() && digits.back() == 'e';
      if (!sign && !std::isdigit(static_cast<unsigned char>(c)) && c != '.' && c != '_' &&
          c != 'e' && c != 'E')
        break;
      if (c != '_') digits += c == 'E' ? 'e' : c;
      ++at_;
    }
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (end == digits.c_str() || *end != 0) return fail();
    return number(value);
  }

  // A list, a tuple, or a bracketed expression.
  nlohmann::json sequence(char open, int depth) {
    const std::string_view close = open == '[' ? "]" : ")";
    ++at_;
    nlohmann::json list = nlohmann::json::array();
    bool comma = false;
    while (!take(close)) {
      if (failed_ || list.size() > kMostItems) return fail();
      list.push_back(expression(depth + 1));
      if (take(",")) {
        comma = true;
        continue;
      }
      if (!take(close)) return fail();
      break;
    }
    if (open == '(' && !comma && list.size() == 1) return list.front();
    return list;
  }

  nlohmann::json dictionary(int depth) {
    ++at_;
    nlohmann::json object = nlohmann::json::object();
    while (!take("}")) {
      const nlohmann::json key = expression(depth + 1);
      if (failed_ || !take(":")) return fail();
      object[word_of(key)] = expression(depth + 1);
      if (take(",")) continue;
      if (!take("}")) return fail();
      break;
    }
    return object;
  }

  nlohmann::json arguments(const std::string& name, int depth) {
    ++at_;
    nlohmann::json made = call(name);
    made["arguments"] = nlohmann::json::array();
    int place = 0;
    while (!take(")")) {
      if (failed_) return fail();
      skip_spaces(true);
      const std::size_t begin = at_;
      std::string keyword = at_ < text_.size() && starts_name(text_[at_]) ? dotted_name() : "";
      skip_spaces(true);
      const bool named = !keyword.empty() && text_.substr(at_).starts_with("=") &&
                         !text_.substr(at_).starts_with("==");
      if (named)
        ++at_;
      else
        at_ = begin;
      made["arguments"].push_back(
          {named ? keyword : std::to_string(place++), expression(depth + 1)});
      if (take(",")) continue;
      if (!take(")")) return fail();
      break;
    }
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

Result<Entries> parse_recipe(std::string_view text) {
  Result<Entries> entries = Recipe(text).read();
  if (entries && entries->empty())
    return message("framework-no-settings",
                   "The text has no assignment such as config.parallelism.degree = 8.");
  return entries;
}

Result<nlohmann::json> parse_expression(std::string_view text) {
  return Recipe(text).whole_expression();
}

std::string python_of(const nlohmann::json& value) {
  if (is_identifier(value)) return word_of(value);
  if (is_call(value)) return word_of(value) + "()";
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (!value.is_array()) return value.dump();
  std::string list;
  for (const nlohmann::json& entry : value) list += (list.empty() ? "" : ", ") + python_of(entry);
  return "[" + list + "]";
}

}  // namespace parallelarium::frameworks
