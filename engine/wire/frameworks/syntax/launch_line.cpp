// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>

#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

bool is_name_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Cuts a shell's text into words, and puts in what variables stand for.
class LineWords {
 public:
  explicit LineWords(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> words() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (quote_ == 0 && (std::isspace(static_cast<unsigned char>(c)) || c == ';' || c == '&' ||
                          c == '(' || c == ')')) {
        end_word();
        ++at_;
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
  void take_escaped() {
    const char next = text_[at_ + 1];
    const bool windows = next == '\r' && at_ + 2 < text_.size() && text_[at_ + 2] == '\n';
    if (next == '\n' || windows) {
      end_word();
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
    words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  // $NAME, ${NAME}, ${NAME:-value}; the words of an array were read where they stand.
  Result<void> put_variable() {
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
    if (rest.starts_with("[") || name.empty() || (!braced && name.ends_with("ARGS"))) return {};
    if (const auto found = variables_.find(name); found != variables_.end())
      word_ += found->second;
    else if (rest.starts_with(":-"))
      word_ += rest.substr(2);
    else
      word_ += "$" + name;
    in_word_ = true;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  char quote_ = 0;
  bool in_word_ = false;
  std::string word_;
  std::vector<std::string> words_;
  std::map<std::string, std::string> variables_;
};

bool is_flag_word(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") &&
         std::isalpha(static_cast<unsigned char>(word[2]));
}

bool is_value_word(const std::string& word) {
  if (word.ends_with(".py")) return false;
  return word.empty() || word[0] != '-' || word.size() == 1 ||
         std::isdigit(static_cast<unsigned char>(word[1])) || word[1] == '.';
}

nlohmann::json value_of_words(const std::vector<std::string>& values) {
  if (values.empty()) return nlohmann::json(true);
  if (values.size() == 1) return nlohmann::json(values.front());
  return nlohmann::json(values);
}

}  // namespace

Result<Entries> parse_launch_line(std::string_view text) {
  Result<std::vector<std::string>> read = LineWords(text).words();
  if (!read) return read.error();
  const std::vector<std::string>& words = *read;
  Entries entries;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.starts_with("WORLD_SIZE="))
      entries.emplace_back("WORLD_SIZE", word.substr(word.find('=') + 1));
    if (!is_flag_word(word)) continue;
    std::string flag = word.substr(2);
    std::vector<std::string> values;
    if (const std::size_t equals = flag.find('='); equals != std::string::npos) {
      values.push_back(flag.substr(equals + 1));
      flag.resize(equals);
    } else {
      while (at + 1 < words.size() && is_value_word(words[at + 1])) values.push_back(words[++at]);
    }
    if (flag == "nproc_per_node") flag = "nproc-per-node";
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
