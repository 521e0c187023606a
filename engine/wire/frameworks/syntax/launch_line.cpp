// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>

#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

bool is_name_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

struct LineWord {
  std::string text;
  bool first = false;  // of a command or an array: no value of a flag before it
};

// What stands between $(( and )): whole numbers, variables, + - * / and parentheses. None: it has
// something else, or a variable without a value.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const std::map<std::string, std::string>& variables)
      : text_(text), variables_(variables) {}

  std::optional<std::int64_t> value() {
    const std::optional<std::int64_t> whole = sum();
    skip_spaces();
    return at_ == text_.size() ? whole : std::nullopt;
  }

 private:
  static constexpr int kDeepest = 32;
  static constexpr double kLargest = 1e12;  // which a double has exactly

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  // The next letter where it is one of these.
  char take_one_of(std::string_view letters) {
    skip_spaces();
    if (at_ == text_.size() || letters.find(text_[at_]) == std::string_view::npos) return 0;
    return text_[at_++];
  }
  static std::optional<std::int64_t> within(double number) {
    if (number > kLargest || number < -kLargest) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }

  std::optional<std::int64_t> sum() {
    std::optional<std::int64_t> left = product();
    for (char sign = 0; left && (sign = take_one_of("+-")) != 0;) {
      const std::optional<std::int64_t> right = product();
      if (!right) return std::nullopt;
      left = within(static_cast<double>(sign == '+' ? *left + *right : *left - *right));
    }
    return left;
  }
  std::optional<std::int64_t> product() {
    std::optional<std::int64_t> left = factor();
    for (char sign = 0; left && (sign = take_one_of("*/")) != 0;) {
      const std::optional<std::int64_t> right = factor();
      if (!right || (sign == '/' && *right == 0)) return std::nullopt;
      left = within(sign == '*' ? static_cast<double>(*left) * static_cast<double>(*right)
                                : static_cast<double>(*left / *right));
    }
    return left;
  }
  std::optional<std::int64_t> factor() {
    if (take_one_of("(") != 0) {
      if (++depth_ > kDeepest) return std::nullopt;
      const std::optional<std::int64_t> inner = sum();
      --depth_;
      return take_one_of(")") != 0 ? inner : std::nullopt;
    }
    const bool braced = take_one_of("$") != 0 && take_one_of("{") != 0;
    skip_spaces();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_letter(text_[at_])) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    if (braced && take_one_of("}") == 0) return std::nullopt;
    if (const auto found = variables_.find(word); found != variables_.end()) word = found->second;
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (code != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return within(static_cast<double>(number));
  }

  std::string_view text_;
  const std::map<std::string, std::string>& variables_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// Cuts a shell's text into words, and puts in what variables stand for.
class LineWords {
 public:
  explicit LineWords(std::string_view text) : text_(text) {}

  Result<std::vector<LineWord>> words() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (quote_ == 0 && (is_space(c) || is_mark(c))) {
        take_mark(c);
      } else if (quote_ == 0 && c == '#' && !in_word_) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\\' && quote_ != '\'' && at_ + 1 < text_.size()) {
        take_escaped();
      } else if ((c == '"' || c == '\'') && (quote_ == 0 || quote_ == c)) {
        quote_ = quote_ == 0 ? c : '\0';
        in_word_ = true;
        ++at_;
      } else if (c == '$' && quote_ != '\'') {
        if (Result<void> put = put_variable(); !put) return put.error();
      } else {
        word_ += c;
        in_word_ = true;
        ++at_;
      }
    }
    if (quote_ != 0)
      return message("framework-quote", "A quote in the launch line is not closed; close it.");
    end_word();
    return std::move(words_);
  }

 private:
  static bool is_mark(char c) {
    return std::string_view(";&|()<>").find(c) != std::string_view::npos;
  }

  // Words of an array go on over its lines; else a line ends a command, as ; & | > and ) do. The 2
  // of 2> is no word.
  void take_mark(char c) {
    if ((c == '<' || c == '>') && std::all_of(word_.begin(), word_.end(), is_digit)) {
      word_.clear();
      in_word_ = false;
    }
    const bool opens_array = c == '(' && in_word_ && word_.ends_with('=');
    end_word();
    if (is_mark(c) || (c == '\n' && !in_array_)) first_ = true;
    if (is_mark(c)) in_array_ = opens_array;
    ++at_;
  }

  // A line that goes on is one within quotes, and ends a word outside of them. Lines that were
  // joined still have the backslash, with a blank behind it.
  void take_escaped() {
    const char next = text_[at_ + 1];
    const bool windows = next == '\r' && at_ + 2 < text_.size() && text_[at_ + 2] == '\n';
    const bool joined = quote_ == 0 && !in_word_ && (next == ' ' || next == '\t');
    if (next == '\n' || windows || joined) {
      if (quote_ == 0) end_word();
    } else {
      word_ += next;
      in_word_ = true;
    }
    at_ += windows ? 3 : 2;
  }

  // NAME=value becomes a variable and stays a word, since it may name the number of ranks.
  void end_word() {
    if (!in_word_) return;
    const std::size_t equals = word_.find('=');
    const bool assigns =
        equals != std::string::npos && equals > 0 &&
        std::all_of(word_.begin(), word_.begin() + static_cast<long>(equals), is_name_letter);
    if (assigns) variables_[word_.substr(0, equals)] = word_.substr(equals + 1);
    words_.push_back({std::move(word_), first_});
    word_.clear();
    in_word_ = first_ = false;
  }

  // $((A*B)) is its number; of what has none, and of $(command), the text stays.
  void put_computed() {
    int depth = 0;
    std::size_t end = at_ + 1;
    do {
      depth += text_[end] == '(' ? 1 : text_[end] == ')' ? -1 : 0;
      ++end;
    } while (end < text_.size() && depth > 0);
    const std::string_view all = text_.substr(at_, end - at_);
    std::optional<std::int64_t> number;
    if (all.starts_with("$((") && all.ends_with("))"))
      number = Arithmetic(all.substr(3, all.size() - 5), variables_).value();
    word_ += number ? std::to_string(*number) : std::string(all);
    in_word_ = true;
    at_ = end;
  }

  // Outside of quotes, the words of a value are words of their own.
  void put_value(const std::string& value) {
    for (const char c : value) {
      if (quote_ == 0 && is_space(c)) {
        end_word();
        continue;
      }
      word_ += c;
      in_word_ = true;
    }
  }

  // $NAME, ${NAME}, ${NAME:-value}; the words of an array were read where they stand.
  Result<void> put_variable() {
    if (at_ + 1 < text_.size() && text_[at_ + 1] == '(') {
      put_computed();
      return {};
    }
    const bool braced = at_ + 1 < text_.size() && text_[at_ + 1] == '{';
    std::size_t end = at_ + (braced ? 2 : 1);
    const std::size_t begin = end;
    while (end < text_.size() && is_name_letter(text_[end])) ++end;
    const std::string name(text_.substr(begin, end - begin));
    std::string rest;
    if (braced) {
      const std::size_t close = text_.find('}', end);
      if (close == std::string_view::npos)
        return message("framework-quote", "A quote in the launch line is not closed; close it.");
      rest = text_.substr(end, close - end);
      end = close + 1;
    }
    at_ = end;
    if (rest.starts_with("[") || name.empty()) return {};
    if (const auto found = variables_.find(name); found != variables_.end())
      put_value(found->second);
    else if (rest.starts_with(":-"))
      put_value(rest.substr(2));
    else if (!name.ends_with("ARGS"))  // flags that stand in another file
      put_value("$" + name);
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  char quote_ = 0;
  bool in_word_ = false, in_array_ = false;
  bool first_ = true;  // the next word is, of a command or an array
  std::string word_;
  std::vector<LineWord> words_;
  std::map<std::string, std::string> variables_;
};

bool is_flag_word(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") &&
         std::isalpha(static_cast<unsigned char>(word[2]));
}

bool is_value_word(const LineWord& of) {
  const std::string& word = of.text;
  if (of.first || word.ends_with(".py")) return false;
  return word.empty() || word[0] != '-' || word.size() == 1 ||
         std::isdigit(static_cast<unsigned char>(word[1])) || word[1] == '.';
}

// A variable that no flag uses may be anything.
constexpr std::string_view kWorldSize = "WORLD_SIZE=";
bool is_count(const std::string& word) {
  return !word.empty() && word.size() <= 7 && word[0] != '0' &&
         std::all_of(word.begin(), word.end(), is_digit);
}

// torchrun takes its own options with _ and with -.
std::string launcher_name(std::string flag) {
  std::string dashed = flag;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  for (const char* name : {"nproc-per-node", "node-rank", "master-addr", "master-port", "rdzv-id",
                           "rdzv-backend", "rdzv-endpoint"})
    if (dashed == name) return dashed;
  return flag;
}

nlohmann::json value_of_words(const std::vector<std::string>& values) {
  if (values.empty()) return nlohmann::json(true);
  if (values.size() == 1) return nlohmann::json(values.front());
  return nlohmann::json(values);
}

}  // namespace

Result<Entries> parse_launch_line(std::string_view text) {
  const Result<std::vector<LineWord>> read = LineWords(text).words();
  if (!read) return read.error();
  const std::vector<LineWord>& words = *read;
  Entries entries;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at].text;
    if (word.starts_with(kWorldSize) && is_count(word.substr(kWorldSize.size())))
      entries.emplace_back("WORLD_SIZE", word.substr(kWorldSize.size()));
    if (!is_flag_word(word)) continue;
    std::string flag = word.substr(2);
    std::vector<std::string> values;
    if (const std::size_t equals = flag.find('='); equals != std::string::npos) {
      values.push_back(flag.substr(equals + 1));
      flag.resize(equals);
    } else {
      while (at + 1 < words.size() && is_value_word(words[at + 1]))
        values.push_back(words[++at].text);
    }
    flag = launcher_name(std::move(flag));
    const bool of_launcher = flag == "nproc-per-node" || flag == "nnodes";
    if (of_launcher && values.size() > 1) values.resize(1);
    entries.emplace_back(flag, value_of_words(values));
  }
  if (entries.empty())
    return message("framework-no-flags",
                   "The text has no --flag with which a launch line says what to do.");
  return entries;
}

}  // namespace parallelarium::frameworks
