// SPDX-License-Identifier: Apache-2.0
// While a step asks, nothing that the engine knows of its screen has the answer: the text, the
// hints, the figures of the strip, formulas, and what the glossary says of words. What views draw,
// the window's own test reads (tests/app/lesson/answers_hidden_test.cpp), by the same rule.
#include <algorithm>
#include <map>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/leak.h"
#include "engine/lesson/text/glossary.h"
#include "engine/plan/text/units.h"
#include "engine/planner/sweep.h"

namespace parallelarium {

namespace {

// One draw may give a figure of the screen the answer's value by chance; two do not.
constexpr std::size_t kChance = 1;

std::vector<AskedNumber> questions_of(const Step& step) {
  if (step.kind != StepKind::kPredict && step.kind != StepKind::kExplain) return {};
  if (step.sets_plan()) return {};  // the figures of a plan are the student's own
  return asked_numbers(step);
}

// A text of the screen while a step asks.
struct Shown {
  std::string where, key;  // LessonFault::field and key
  Message what;            // "The text", "### hint 2", "The formula …"
  std::string text;
  bool may_have_formula = false;  // a hint may say how the answer is found
};

std::string percent_or(double value, const std::string& unit) {
  return in_unit(value, unit) + (unit == "1" ? " or " + percent_text(value) : "");
}

class LeakCheck {
 public:
  LeakCheck(const Lesson& lesson, std::size_t index, Predictions& predictions, Faults& faults)
      : lesson_(lesson), index_(index), predictions_(predictions), faults_(faults) {
    for (std::size_t at = 0; at <= index; ++at)
      if (!lesson.steps[at].tab.empty()) collective_ = lesson.steps[at].tab == "collectives";
  }

  void check(const std::vector<Symbols>& samples) {
    const std::vector<AskedNumber> questions = questions_of(step_);
    if (questions.empty() || samples.empty()) return;
    std::map<std::string, std::size_t> draws;  // in which a place told an answer
    for (const Symbols& drawn : samples) {
      const Result<Settings> before = settings_at(lesson_, index_, drawn);
      const Result<Settings> after = settings_at(lesson_, index_, drawn, true);
      if (!before || !after) return;  // check_step tells
      Context revealed;
      revealed.settings = *after;
      revealed.drawn = drawn;
      std::vector<Shown> shown;
      texts(*before, drawn, shown);
      figures(*before, shown);
      const bool first = &drawn == &samples.front();
      if (first) words(shown);
      for (const AskedNumber& question : questions) {
        const Result<double> answer = evaluate(question.ask->answer, revealed.symbols());
        if (!answer) continue;
        for (const Shown& one : shown) {
          if (first && !one.may_have_formula && tells_formula(one.text, question.ask->answer))
            faults_.add(
                message("answer-told.formula", "{} has the formula of what is asked for, {}.",
                        one.what, question.ask->answer),
                one.where, one.key);
          if (has_number(one.text, question, *answer) &&
              ++draws[question.key + one.where + one.key + one.what.text] ==
                  std::min(samples.size(), kChance + 1))
            faults_.add(message("answer-told", "{} has the answer, {}, while it is asked for.",
                                one.what, figure(write_number(*answer, question.ask->unit))),
                        one.where, one.key);
        }
      }
    }
  }

 private:
  bool has_number(const std::string& text, const AskedNumber& question, double answer) const {
    const std::string part = question.part.empty() ? "unit" : "unit " + question.part;
    return std::any_of(lesson_.texts.begin(), lesson_.texts.end(), [&](const auto& language) {
      const auto words = language.second.steps.find(step_.id);
      return tells_number(text, answer, question.ask->unit,
                          words == language.second.steps.end() ? "" : words->second.part(part));
    });
  }

  void texts(const Settings& settings, const Symbols& drawn, std::vector<Shown>& shown) const {
    Context context;
    context.settings = settings;
    context.drawn = drawn;
    context.guess = 0;  // of an earlier step, which texts may name
    const Symbols symbols = context.symbols();
    for (const auto& [language, text] : lesson_.texts) {
      const auto words = text.steps.find(step_.id);
      if (words == text.steps.end()) continue;
      const std::string where = fmt::format("text.{}.md: {}", language, step_.id);
      const auto add = [&](const std::string& part, const std::string& markdown, bool hint) {
        if (const Result<std::string> filled = fill_in(markdown, symbols))  // check_texts tells
          shown.push_back({where, part,
                           part.empty() ? message("text-body", "The text") : plain("### " + part),
                           *filled, hint});
      };
      add("", words->second.title + "\n" + words->second.body, false);
      for (const auto& [part, markdown] : words->second.parts)
        if (part.starts_with("hint ") || part.starts_with("part ") ||
            (part.starts_with("option ") && !step_.parts.empty()))
          add(part, markdown, part.starts_with("hint "));
    }
  }

  // Of the view that is open: its strip, and what a click on it says.
  void figures(const Settings& settings, std::vector<Shown>& shown) {
    const Result<Facts>& facts =
        collective_ ? predictions_.of(settings.collective) : predictions_.of(settings.setup);
    if (!facts) return;
    Context context;
    (collective_ ? context.collective_predicted : context.predicted) = *facts;
    for (const Metric& metric : metrics())
      if (const auto value = context.predicted_figure(metric.key);
          value && !covers(step_.hide, metric.key))
        shown.push_back({step_.id, "hide",
                         message("told-figure", "The figure \"{}\" of the strip", metric.key),
                         percent_or(*value, metric.unit)});
    for (const nlohmann::json& formula : facts->json().at("formulas"))
      if (!hides_formulas(step_.hide, formula.at("kind").get<std::string>()))
        shown.push_back({step_.id, "hide",
                         message("told-formula", "The formula of \"{}\" that a click shows",
                                 formula.at("name").get<std::string>()),
                         formula.at("expression").get<std::string>() + " = " +
                             formula.at("values").get<std::string>() + " = " +
                             percent_or(formula.at("value"), formula.at("unit"))});
  }

  std::vector<Metric> metrics() const {
    if (collective_)
      return {{"", "collective.seconds", "seconds"},
              {"", "collective.algorithm_bandwidth", "bytes_per_second"},
              {"", "collective.bus_bandwidth", "bytes_per_second"}};
    std::vector<Metric> all;
    for (const std::string& name : short_metric_names()) all.push_back(metric_from(name));
    return all;
  }

  // Words of this lesson say nothing while it asks.
  void words(std::vector<Shown>& shown) const {
    for (const auto& [language, text] : lesson_.texts) {
      const auto here = text.steps.find(step_.id);
      if (here == text.steps.end()) continue;
      LessonText alone;
      alone.order = {step_.id};
      alone.steps[step_.id].body = here->second.body;
      const std::map<std::string, WordPlaces> places = word_places(alone, language);
      for (const GlossaryWord& word : glossary_words())
        if (word.lesson != lesson_.id && places.count(word.id))
          shown.push_back({fmt::format("text.{}.md: {}", language, step_.id), "",
                           message("told-word", "What is said of the word \"{}\"", word.id),
                           word.formula(language)});
    }
  }

  const Lesson& lesson_;
  std::size_t index_;
  const Step& step_ = lesson_.steps[index_];
  bool collective_ = false;  // the view of collectives is open
  Predictions& predictions_;
  Faults& faults_;
};

}  // namespace

void check_leaks(const Lesson& lesson, const std::vector<Symbols>& samples,
                 Predictions& predictions, Faults& faults) {
  for (std::size_t step = 0; step < lesson.steps.size(); ++step)
    LeakCheck(lesson, step, predictions, faults).check(samples);
}

}  // namespace parallelarium
