// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/files.h"

namespace parallelarium {

namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

constexpr std::size_t kMostUnitBytes = 16;

bool fits_beside_field(const std::string& unit) {
  return unit.size() <= kMostUnitBytes && unit.find('\n') == std::string::npos;
}

constexpr std::size_t kMostWords = 120;
constexpr std::size_t kMostAfterwards = 4;

// A right option that is longer than all others, and than one of them so much, gives itself away.
constexpr double kMostOfTheShortest = 1.5;

std::size_t letters_of(const std::string& shown) {
  return static_cast<std::size_t>(std::count_if(
      shown.begin(), shown.end(), [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

// What stands between spaces and has a letter: no number, sign, bullet or border of a table.
std::size_t words_of(const std::string& shown) {
  std::istringstream text(shown);
  std::size_t words = 0;
  for (std::string word; text >> word;)
    words += std::any_of(word.begin(), word.end(),
                         [](unsigned char byte) { return std::isalpha(byte) != 0; });
  return words;
}

// The parts that a step's text must have, and may have beside them.
struct Parts {
  std::set<std::string> needed, allowed;
};

Parts parts_of(const Step& step) {
  Parts parts;
  const bool numeric = step.ask && !step.ask->answer.empty();
  if (numeric && step.ask->unit == "1") parts.needed.insert("unit");
  for (const QuestionPart& part : step.parts) {
    parts.needed.insert("part " + part.id);
    if (part.option.empty() && part.ask.unit == "1") parts.needed.insert("unit " + part.id);
  }
  for (const Option& option : step.options) {
    if (!numeric) parts.needed.insert("option " + option.id);
    if (!option.correct && step.parts.empty()) parts.needed.insert("feedback " + option.id);
  }
  for (const RubricRow& row : step.rubric) parts.needed.insert("rubric " + row.id);
  if (step.kind != StepKind::kRead) parts.needed.insert("right");
  if (numeric || !step.parts.empty() || step.kind == StepKind::kGoal ||
      step.kind == StepKind::kBuild || step.kind == StepKind::kFind)
    parts.needed.insert("wrong");
  const bool runs = std::any_of(step.checks.begin(), step.checks.end(),
                                [](const Check& check) { return check.of_run(); });
  if (runs) parts.needed.insert("again");
  for (int hint = 1; hint <= step.hints; ++hint)
    parts.needed.insert("hint " + std::to_string(hint));
  if (step.kind != StepKind::kRead && step.kind != StepKind::kRun) parts.needed.insert("answer");
  if (step.kind == StepKind::kRun) parts.allowed.insert("answer");
  if (step.kind == StepKind::kRead) parts.allowed.insert("notes");
  return parts;
}

class TextCheck {
 public:
  TextCheck(const Lesson& lesson, const LessonText& text, const std::string& file, Faults& faults)
      : lesson_(lesson), text_(text), file_(file), faults_(faults) {}

  void whole() {
    if (text_.summary.empty())
      faults_.add(message("text-summary", "The lesson lacks its paragraph below the title."),
                  file_);
    markdown(text_.summary, file_);
    for (const std::string& ability : text_.afterwards) markdown(ability, file_);
    if (text_.afterwards.empty() || text_.afterwards.size() > kMostAfterwards)
      faults_.add(message("text-afterwards",
                          "Below the paragraph stands what a student can do afterwards: 1 to {} "
                          "lines that begin with \"- \".",
                          kMostAfterwards),
                  file_);
    std::vector<std::string> wanted;
    for (const Step& step : lesson_.steps) wanted.push_back(step.id);
    for (const std::string& id : wanted)
      if (!text_.steps.count(id))
        faults_.add(message("text-step-missing", "The text lacks the step \"{}\".", id), file_);
    for (const std::string& id : text_.order)
      if (!lesson_.find(id))
        faults_.add(message("text-step-unknown", "No step is called \"{}\".", id), file_);
    std::vector<std::string> found = text_.order;
    if (std::is_permutation(found.begin(), found.end(), wanted.begin(), wanted.end()) &&
        found != wanted)
      faults_.add(message("text-order", "The steps come in another order than in lesson.json."),
                  file_);
  }

  // `before` and `after`: what the body and the parts may name.
  void step(const Step& step, const Symbols& before, const Symbols& after) {
    const auto found = text_.steps.find(step.id);
    if (found == text_.steps.end()) return;
    const StepText& words = found->second;
    if (words.body.empty())
      faults_.add(message("text-empty", "The step has no text."), place(step.id));
    filled(words.body, before, place(step.id));
    brief(words.body, before, place(step.id));
    const Parts parts = parts_of(step);
    for (const std::string& name : parts.needed)
      if (words.part(name).empty())
        faults_.add(message("text-part-missing", "The step needs \"### {}\".", name),
                    place(step.id));
    for (const auto& [name, markdown_text] : words.parts) {
      if (!parts.needed.count(name) && !parts.allowed.count(name))
        faults_.add(message("text-part-unknown", "The step has no use for \"### {}\".", name),
                    place(step.id), name);
      filled(markdown_text, after, place(step.id), name);
      if (name.starts_with("unit") && !fits_beside_field(markdown_text))
        faults_.add(message("text-unit-long",
                            "What a number counts stands beside its field: at most {} bytes.",
                            kMostUnitBytes),
                    place(step.id), name);
    }
    check_hint(step, words, after, place(step.id), faults_);
    alike(step, words, after);
  }

 private:
  void alike(const Step& step, const StepText& words, const Symbols& symbols) {
    std::size_t right = 0, longest_wrong = 0, shortest = std::string::npos;
    for (const Option& option : step.options) {
      const Result<std::string> shown = fill_in(words.part("option " + option.id), symbols);
      if (!shown) return;  // filled() tells
      const std::size_t letters = letters_of(*shown);
      std::size_t& longest = option.correct ? right : longest_wrong;
      longest = std::max(longest, letters);
      shortest = std::min(shortest, letters);
    }
    if (right > longest_wrong &&
        static_cast<double>(right) > kMostOfTheShortest * static_cast<double>(shortest))
      faults_.add(message("text-options",
                          "The right option alone is the longest, {} letters, and the shortest has "
                          "{}: its length gives it away.",
                          right, shortest),
                  place(step.id));
  }

  std::string place(const std::string& what) const { return file_ + ": " + what; }

  void filled(const std::string& markdown_text, const Symbols& symbols, const std::string& where,
              const std::string& part = {}) {
    const Result<std::string> shown = fill_in(markdown_text, symbols);
    if (!shown)
      faults_.add("text-expression", shown.error(), where, part);
    else
      markdown(*shown, where, part);
  }

  void brief(const std::string& body, const Symbols& symbols, const std::string& where) {
    const Result<std::string> shown = fill_in(body, symbols);
    if (!shown) return;  // filled() tells
    if (const std::size_t words = words_of(*shown); words > kMostWords)
      faults_.add(
          message("text-long", "The text has {} words, and {} are the most.", words, kMostWords),
          where);
  }

  void markdown(const std::string& shown, const std::string& where, const std::string& part = {}) {
    for (const Message& fault : markdown_faults(shown)) faults_.add(fault, where, part);
    const MarkdownLinks links = links_of(shown);
    for (const std::string& link : links.links)
      if (link.rfind("https://", 0) != 0 || link.size() < 12)
        faults_.add(message("text-link", "\"{}\" is not an https:// address.", link), where, part);
    for (const std::string& picture : links.pictures) {
      const Result<void> inside = file_inside(lesson_.folder, picture);
      if (!inside) faults_.add("text-picture", inside.error(), where, part);
      if (!ends_with(picture, ".svg") && !ends_with(picture, ".png"))
        faults_.add(message("text-picture-kind", "A picture is an .svg or a .png file."), where,
                    part);
    }
    if (links.picture_without_words)
      faults_.add(message("text-picture-words", "A picture lacks its description in words."), where,
                  part);
  }

  const Lesson& lesson_;
  const LessonText& text_;
  std::string file_;
  Faults& faults_;
};

}  // namespace

Symbols names_after(const Step& step, const Context& context, bool guessed) {
  Context known = context;
  if (guessed) known.guess = 1;
  known.observed = known.predicted.json();  // a run gives the same figures
  known.observed["source"] = "paced";
  // What a run alone tells.
  const RunSettings& run = context.settings.setup.run;
  known.observed["noise_scale"] = {{"sequences", 1}, {"tokens", 1}};
  known.observed["losses"] = std::vector<double>(static_cast<std::size_t>(run.warmup + run.steps));
  known.collective_observed = known.collective_predicted.json();
  known.collective_observed["source"] = "measured";
  known.collective_observed["correct"] = 1;
  Answer answer;
  if (step.ask && !step.ask->answer.empty()) {
    const Result<double> right = evaluate(step.ask->answer, context.symbols());
    if (right) answer.number = *right;
  }
  for (const Option& option : step.options)
    if (option.correct) answer.option = option.id;
  for (const QuestionPart& part : step.parts) answer.parts[part.id].option = part.option;
  answer.order = step.order.solution;
  for (const Check& check : step.checks)
    if (!check.than.empty()) known.kept[check.than] = known.observed;
  const Result<Judgement> judged = judge(step, answer, known);
  Symbols names = judged ? judged->symbols : known.symbols();
  // Feedback of a question is shown before anything ran.
  if (step.kind == StepKind::kPredict || step.kind == StepKind::kExplain) names.erase("observed");
  return names;
}

bool commits_a_number(const Step& step) {
  const bool valued = std::any_of(step.options.begin(), step.options.end(),
                                  [](const Option& option) { return !option.value.empty(); });
  return step.kind == StepKind::kPredict && step.ask && (!step.ask->answer.empty() || valued);
}

void check_texts(const Lesson& lesson, const Symbols& drawn, Predictions& predictions,
                 Faults& faults) {
  for (const auto& [language, text] : lesson.texts) {
    TextCheck check(lesson, text, "text." + language + ".md", faults);
    check.whole();
    bool guessed = false;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      const Step& step = lesson.steps[i];
      const Result<Settings> before = settings_at(lesson, i, drawn);
      const Result<Context> after = context_at(lesson, i, drawn, predictions);
      if (!before || !after) continue;  // check_step tells
      Context entering;
      entering.settings = *before;
      entering.drawn = drawn;
      if (guessed) entering.guess = 1;
      check.step(step, entering.symbols(), names_after(step, *after, guessed));
      guessed = guessed || commits_a_number(step);
    }
  }
}

}  // namespace parallelarium
