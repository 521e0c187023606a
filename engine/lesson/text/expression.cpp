// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/text/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {

namespace {

constexpr int kMostNesting = 32;

struct Function {
  std::string_view name;
  int arguments;
  double (*apply)(double, double);
};

constexpr std::array<Function, 8> kFunctions{{
    {"min", 2, [](double x, double y) { return std::min(x, y); }},
    {"max", 2, [](double x, double y) { return std::max(x, y); }},
    {"abs", 1, [](double x, double) { return std::abs(x); }},
    {"sqrt", 1, [](double x, double) { return std::sqrt(x); }},
    {"ceil", 1, [](double x, double) { return std::ceil(x); }},
    {"floor", 1, [](double x, double) { return std::floor(x); }},
    {"round", 1, [](double x, double) { return std::round(x); }},
    {"log2", 1, [](double x, double) { return std::log2(x); }},
}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Recursive descent, loosest first: || && comparison + - * / % unary - ^.
class Parser {
 public:
  Parser(std::string_view text, const Symbols& symbols) : text_(text), symbols_(symbols) {}

  Result<double> whole() {
    const double value = either(0);
    skip_spaces();
    if (!error_ && at_ < text_.size()) fail(Sentence{"expression.read", "cannot be read"});
    if (error_) return *error_;
    return value;
  }

 private:
  double either(int depth) {
    double value = both(depth);
    while (take("||")) {
      const double other = both(depth);
      value = (value != 0 || other != 0) ? 1 : 0;
    }
    return value;
  }
  double both(int depth) {
    double value = comparison(depth);
    while (take("&&")) {
      const double other = comparison(depth);
      value = (value != 0 && other != 0) ? 1 : 0;
    }
    return value;
  }
  double comparison(int depth) {
    const double left = sum(depth);
    if (take("<=")) return left <= sum(depth);
    if (take(">=")) return left >= sum(depth);
    if (take("==")) return left == sum(depth);
    if (take("!=")) return left != sum(depth);
    if (take("<")) return left < sum(depth);
    if (take(">")) return left > sum(depth);
    return left;
  }
  double sum(int depth) {
    double value = product(depth);
    for (;;) {
      if (take("+")) {
        value += product(depth);
      } else if (take("-")) {
        value -= product(depth);
      } else {
        return value;
      }
    }
  }
  double product(int depth) {
    double value = power(depth);
    for (;;) {
      if (take("*")) {
        value *= power(depth);
      } else if (take("/")) {
        value /= power(depth);
      } else if (take("%")) {
        value = std::fmod(value, power(depth));
      } else {
        return value;
      }
    }
  }
  double power(int depth) {
    if (depth > kMostNesting) return fail(Sentence{"expression.deep", "is nested too deeply"});
    if (take("-")) return -power(depth + 1);
    const double base = atom(depth);
    return take("^") ? std::pow(base, power(depth + 1)) : base;
  }

  double atom(int depth) {
    skip_spaces();
    if (error_ || at_ >= text_.size()) return fail(Sentence{"expression.end", "ends too early"});
    if (take("(")) {
      const double value = either(depth + 1);
      if (!take(")")) return fail(Sentence{"expression.bracket", "lacks a closing bracket"});
      return value;
    }
    if (is_digit(text_[at_]) || text_[at_] == '.') {
      double value = 0;
      const auto [end, code] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (code != std::errc())
        return fail(Sentence{"expression.number", "has a number that cannot be read"});
      at_ = static_cast<std::size_t>(end - text_.data());
      return value;
    }
    if (!is_letter(text_[at_])) return fail(Sentence{"expression.read", "cannot be read"});
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (take("(")) return call(name, depth);
    const auto found = symbols_.find(name);
    if (found != symbols_.end()) return found->second;
    std::string known;
    for (const auto& [symbol, value] : symbols_) known += (known.empty() ? "" : ", ") + symbol;
    if (!error_)
      error_ = message("expression-name", "\"{}\" names {}; known are {}.", text_, name, known);
    return 0;
  }

  double call(std::string_view name, int depth) {
    const auto function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                       [&](const Function& f) { return f.name == name; });
    if (function == kFunctions.end())
      return fail(Sentence{"expression.function", "calls a function that does not exist"});
    const double first = either(depth + 1);
    double second = 0;
    if (function->arguments == 2) {
      if (!take(",")) return fail(Sentence{"expression.comma", "lacks a comma"});
      second = either(depth + 1);
    }
    if (!take(")")) return fail(Sentence{"expression.bracket", "lacks a closing bracket"});
    return function->apply(first, second);
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view word) {
    if (error_) return false;
    skip_spaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  double fail(const Sentence& what) {
    if (!error_)
      error_ = message("expression", "The expression \"{}\" {} at character {}.", text_,
                       message(what), at_ + 1);
    return 0;
  }

  std::string_view text_;
  const Symbols& symbols_;
  std::size_t at_ = 0;
  std::optional<Message> error_;
};

}  // namespace

Result<double> evaluate(std::string_view expression, const Symbols& symbols) {
  if (expression.size() > kMostExpressionBytes)
    return message("expression-long", "An expression has {} characters; at most {} are read.",
                   expression.size(), kMostExpressionBytes);
  Result<double> value = Parser(expression, symbols).whole();
  if (value && !std::isfinite(*value))
    return message("expression-finite", "The expression \"{}\" has no finite value.", expression);
  return value;
}

Symbols symbols_of(const Setup& setup) {
  const Model& model = setup.model;
  return {{"p", setup.mesh.pp},
          {"m", setup.microbatches},
          {"v", chunks_of(setup)},
          {"d", setup.mesh.dp},
          {"t", setup.mesh.tp},
          {"c", setup.mesh.cp},
          {"e", setup.mesh.ep},
          {"b", setup.micro_batch},
          {"z", setup.zero},
          {"a", model.heads},
          {"k", model.kv_heads},
          {"L", model.layers},
          {"s", static_cast<double>(model.sequence)},
          {"h", static_cast<double>(model.hidden)},
          {"V", static_cast<double>(model.vocab)},
          {"f", static_cast<double>(model.ffn)},
          {"E", model.experts.count},
          {"top_k", model.experts.top_k},
          {"factor", model.experts.capacity},
          {"skew", setup.skew}};
}

Symbols symbols_of(const CollectiveChoice& collective) {
  const Machine local =
      collective.topology == Topology::kMemory ? this_computer(collective.gpus) : Machine();
  const Network links = network_for(collective, 0, local);
  return {{"n", collective.spec.ranks},
          {"S", static_cast<double>(collective.spec.bytes)},
          {"alpha", links.latency_seconds},
          {"beta", 1 / links.bytes_per_second}};
}

const std::vector<std::string>& symbol_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Symbols& symbols : {symbols_of(Setup()), symbols_of(CollectiveChoice())})
      for (const auto& [name, value] : symbols) result.push_back(name);
    return result;
  }();
  return names;
}

}  // namespace parallelarium
