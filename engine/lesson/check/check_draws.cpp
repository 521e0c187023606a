// SPDX-License-Identifier: Apache-2.0
// What must hold of all draws together: a question has many answers, and no text names one of them.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/play.h"

namespace parallelarium {

namespace {

// A class that plays the same lesson side by side has other numbers.
constexpr std::size_t kLeastAnswers = 8;

// The text without what is filled in, spaces plain and with decimal points.
std::string literal_text(std::string_view markdown) {
  std::string plain;
  for (std::size_t at = 0; at < markdown.size(); ++at) {
    const std::string_view rest = markdown.substr(at);
    if (rest.starts_with("{{")) {
      at = std::min(markdown.find("}}", at), markdown.size() - 2) + 1;
      plain += '|';
    } else if (rest.starts_with("\u00a0")) {
      at += 1;
      plain += ' ';
    } else {
      const bool decimal = markdown[at] == ',' && at > 0 && at + 1 < markdown.size() &&
                           std::isdigit(static_cast<unsigned char>(markdown[at - 1])) &&
                           std::isdigit(static_cast<unsigned char>(markdown[at + 1]));
      plain += decimal ? '.' : markdown[at];
    }
  }
  return plain;
}

bool stands_in(const std::string& text, const std::string& number) {
  const auto goes_on = [&](std::size_t at) {
    return at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) ||
                                (text[at] == '.' && at + 1 < text.size() &&
                                 std::isdigit(static_cast<unsigned char>(text[at + 1]))));
  };
  for (std::size_t at = text.find(number); at != std::string::npos; at = text.find(number, at + 1))
    if ((at == 0 ||
         !(std::isdigit(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '.')) &&
        !goes_on(at + number.size()))
      return true;
  return false;
}

// A value with its unit as texts write it. A plain number may stand for anything, unless the word
// that the step counts in follows it.
std::string written(double value, const std::string& unit, const std::string& word) {
  if (unit != "1") return literal_text(write_number(value, unit));
  return word.empty() ? std::string() : literal_text(write_number(value, unit) + " " + word);
}

// The word after the field of a question, such as "layers"; empty: the step has none.
std::string word_of_unit(const StepText& words, const std::string& part) {
  const auto found = words.parts.find(part.empty() ? "unit" : "unit " + part);
  if (found == words.parts.end()) return {};
  const std::string& text = found->second;
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

class DrawCheck {
 public:
  DrawCheck(const Lesson& lesson, const std::vector<Symbols>& samples, Faults& faults)
      : lesson_(lesson), samples_(samples), faults_(faults) {}

  void step(std::size_t index) {
    const Step& step = lesson_.steps[index];
    std::vector<Symbols> known;
    for (const Symbols& drawn : samples_) {
      const Result<Settings> settings = settings_at(lesson_, index, drawn, true);
      if (!settings) return;  // check_step tells
      Context context;
      context.settings = *settings;
      context.drawn = drawn;
      known.push_back(context.symbols());
    }
    for (const auto& [ask, part, key] : asked_numbers(step)) {
      const std::set<double> answers = values(ask->answer, known);
      if (answers.size() < kLeastAnswers && !ask->few)
        faults_.add(
            message("question-draws",
                    "The answer {} takes {} over all draws. Draw numbers, so that it takes {} or "
                    "more; if the subject has no more, say \"few\": true.",
                    ask->answer,
                    answers.size() == 1 ? message("values-one", "1 value")
                                        : message("values-many", "{} values", answers.size()),
                    kLeastAnswers),
            step.id, key + ".answer");
      if (answers.size() > 1) literals(step, answers, *ask, part);
    }
    Ask size;
    size.unit = "bytes";
    size.answer = "S";
    if (const auto sizes = values(size.answer, known); sizes.size() > 1)
      literals(step, sizes, size, {});
  }

 private:
  static std::set<double> values(const std::string& expression, const std::vector<Symbols>& known) {
    std::set<double> found;
    for (const Symbols& symbols : known) {
      const Result<double> value = evaluate(expression, symbols);
      if (!value) continue;  // check_step tells
      const auto near = found.lower_bound(*value - std::abs(*value) * 1e-9);
      if (near == found.end() || *near > *value + std::abs(*value) * 1e-9) found.insert(*value);
    }
    return found;
  }

  void literals(const Step& step, const std::set<double>& values, const Ask& ask,
                const std::string& question) {
    for (const auto& [language, text] : lesson_.texts) {
      const auto words = text.steps.find(step.id);
      if (words == text.steps.end()) continue;
      const std::string where = fmt::format("text.{}.md: {}", language, step.id);
      const std::string word = word_of_unit(words->second, question);
      const auto look = [&](const std::string& markdown, const std::string& part) {
        const std::string literal = literal_text(markdown);
        // What is told after the answer may count the same of something else.
        const bool tells_more = part == "answer";
        for (const double value : values)
          if (const std::string number =
                  written(value, ask.unit, tells_more ? std::string() : word);
              !number.empty() && stands_in(literal, number)) {
            faults_.add(
                message("text-literal",
                        "{} names {}, which is {} in some plays alone: write it as {}.",
                        part.empty() ? message("text-body", "The text") : plain("### " + part),
                        number, ask.answer, "{{" + ask.answer + "}}"),
                where, part);
            return;  // other draws would tell it again
          }
      };
      look(words->second.body, "");
      for (const auto& [part, markdown] : words->second.parts) look(markdown, part);
    }
  }

  const Lesson& lesson_;
  const std::vector<Symbols>& samples_;
  Faults& faults_;
};

}  // namespace

std::vector<AskedNumber> asked_numbers(const Step& step) {
  std::vector<AskedNumber> all;
  if (step.ask && !step.ask->answer.empty()) all.push_back({&*step.ask, {}, "ask"});
  for (std::size_t at = 0; at < step.parts.size(); ++at)
    if (const QuestionPart& part = step.parts[at];
        part.option.empty() && part.ask.answer.find("predicted") == std::string::npos)
      all.push_back({&part.ask, part.id, fmt::format("parts.{}", at)});
  return all;
}

void check_draws(const Lesson& lesson, const std::vector<Symbols>& samples, Faults& faults) {
  DrawCheck check(lesson, samples, faults);
  for (std::size_t step = 0; step < lesson.steps.size(); ++step) check.step(step);
}

}  // namespace parallelarium
