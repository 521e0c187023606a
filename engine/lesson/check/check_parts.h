// SPDX-License-Identifier: Apache-2.0
// The parts of check_lesson, and other functions that look at a whole lesson as students will meet
// it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/lesson/check/check.h"
#include "engine/lesson/play.h"

namespace parallelarium {

// Collects faults. Each counts once at its place, whatever was drawn.
class Faults {
 public:
  explicit Faults(std::vector<LessonFault>& into) : into_(into) {}
  // The fault's kind is the rule. `where` and `key`: LessonFault::field and key.
  void add(Message fault, const std::string& where, const std::string& key = {});
  // The same of an error that breaks the rule.
  void add(std::string rule, Message error, const std::string& where, const std::string& key = {});
  std::size_t count() const { return into_.size(); }

 private:
  std::vector<LessonFault>& into_;
};

// Finds the file and the line of every fault that has none. What a file lacks of a key is taken
// off that key. `folder`: of the lesson, or of a course for faults of course.json.
void find_lines(std::vector<LessonFault>& faults, const std::string& folder);

// Predictions by Setup and by collective. Each is made once.
class Predictions {
 public:
  explicit Predictions(Computer computer) : computer_(std::move(computer)) {}
  // The facts of the Setup's prediction on its Machine. Error: the Setup is not valid, or the
  // prediction cannot be made.
  const Result<Facts>& of(const Setup& setup);
  const Result<Facts>& of(const CollectiveChoice& collective);
  std::size_t count() const { return made_.size(); }

 private:
  Computer computer_;
  std::map<std::string, Result<Facts>> made_;
};

// The context of those settings with their prediction. Error: the prediction cannot be made.
Result<Context> context_of(Settings settings, const Symbols& drawn, Predictions& predictions);
// The step's Context as a student meets it, with the answer revealed.
Result<Context> context_at(const Lesson& lesson, std::size_t step, const Symbols& drawn,
                           Predictions& predictions);

// A number that a step asks for.
struct AskedNumber {
  const Ask* ask = nullptr;
  std::string part;  // QuestionPart::id; empty: the step itself asks
  std::string key;   // of the ask in the step: "ask", "parts.1"
};
// Without what is predicted of a student's own plan: that is drawn by nobody.
std::vector<AskedNumber> asked_numbers(const Step& step);

// The names that the parts of a step may use after a right answer: those that judge() will give
// them. `guessed`: a number was committed before.
Symbols names_after(const Step& step, const Context& context, bool guessed);
// The fault with the drawn values behind it: "… (llm = 2, batch = 48)".
Message with_drawn(Message fault, const Lesson& lesson, const Symbols& drawn);
// Whether the step's answer is the "guess" of texts from then on.
bool commits_a_number(const Step& step);

// Checks texts: titles; every part that a step needs and no other; their lengths; that the right
// option is not the only longest one and more than half as long again as the shortest; Markdown,
// links and pictures; and a value for every {{expression}}. `drawn`: the values to try.
void check_texts(const Lesson& lesson, const Symbols& drawn, Predictions& predictions,
                 Faults& faults);

// Checks that the last hint gives the answer if it is only arithmetic ("3 × 8 + 3"). `names` come
// from names_after().
void check_hint(const Step& step, const StepText& words, const Symbols& names,
                const std::string& where, Faults& faults);
// The value of a text of numbers, + - × ÷ ^ and parentheses; none for any other text.
std::optional<double> arithmetic_of(std::string text);

// Whether `key` is one of `keys`, or begins with one and a dot.
bool covers(const std::vector<std::string>& keys, const std::string& key);

// Checks what needs no prediction: names of parameters, settings and keys, how many parts there
// are, and that the lesson asks for a number and sets a goal.
void check_names(const Lesson& lesson, Faults& faults);

// Checks all draws together: each question has many answers, and no text names one of them.
void check_draws(const Lesson& lesson, const std::vector<Symbols>& samples, Faults& faults);

// Checks that nothing that the engine knows of the screen has an answer while a step asks for it: a
// number in two draws or more, which is no chance, or its formula.
void check_leaks(const Lesson& lesson, const std::vector<Symbols>& samples,
                 Predictions& predictions, Faults& faults);

// Checks one step with one draw: valid Setups, answers, distractors, goals, orders.
void check_step(const Lesson& lesson, std::size_t step, const Symbols& drawn,
                Predictions& predictions, Faults& faults);

// Finds what lessons of a course take for known: a setting, a view or a word of the glossary that
// neither the lesson nor one that it builds on introduces before. `lessons` are by id; `faults_of`
// gives the list of one lesson.
void check_introduced(
    const Course& course, const std::map<std::string, Lesson>& lessons,
    const std::function<std::vector<LessonFault>&(const std::string&)>& faults_of);

// Checks one run step, or one goal with checks on runs: the engine runs it, and it must pass. For a
// step that builds an order, the solution is run and proved. Returns the number of runs.
std::size_t check_run(const Lesson& lesson, std::size_t step, const Symbols& drawn,
                      Predictions& predictions, const CheckOptions& options, Faults& faults);

}  // namespace parallelarium
