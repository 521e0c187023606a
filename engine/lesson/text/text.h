// SPDX-License-Identifier: Apache-2.0
// All sentences of a lesson in one language, by step id:
//
//   # Title of the lesson
//   One paragraph for the index.
//   - what a student can do afterwards, a line each: "tell the bubble of any p and m"
//   ## step-id: Title of the step
//   Markdown that the student reads.
//   ### option some-id        the words on a card
//   ### part some-id          the words beside the field of one part of a question
//   ### unit                  what a plain number counts: "layers"; ### unit some-id  of one part
//   ### feedback some-id      after choosing it (or, in a numeric question, after that mistake)
//   ### right                 after a right answer, a good run, a reached goal
//   ### wrong                 after another wrong answer;  ### again   after a run that missed
//   ### hint 1, 2, 3          a nudge, the idea, the worked way
//   ### answer                the model answer, shown after success
//   ### notes                 of a read step: where notes are often wrong, folded away
//   ### rubric some-id        what a row of the rubric gives points for
//
// {{expression}} and {{share: expression}} are replaced by a number; units are those of Formula.
// {{expression | one | two}} is replaced by one of several words, as in picked() (problem.h).
// {{schedule: expression}} is replaced by the title of schedule_at().
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/text/expression.h"
#include "engine/plan/result.h"

namespace parallelarium {

struct StepText {
  std::string title;
  std::string body;                          // Markdown
  std::map<std::string, std::string> parts;  // "option stays" -> Markdown, "hint 1", "answer", ...
  // The part, or an empty text.
  const std::string& part(const std::string& name) const;
};

struct LessonText {
  std::string title;
  std::string summary;
  std::vector<std::string> afterwards;  // "tell the bubble of any p and m"
  std::vector<std::string> order;       // step ids as they come
  std::map<std::string, StepText> steps;
};

inline constexpr std::size_t kMostTextBytes = 256 * 1024;

// Errors name the line: a heading has another form, a part is there twice, or text comes before the
// title.
Result<LessonText> lesson_text_from(std::string_view markdown);

// Writes a number in its unit. That of the app follows the user's locale.
using NumberWriter = std::function<std::string(double value, std::string_view unit)>;
// Three significant digits, C locale; "share" in per cent, bytes in MiB, bandwidths in GB/s.
std::string write_number(double value, std::string_view unit);

// Returns `markdown` with every {{...}} replaced. Error: an expression cannot be evaluated.
Result<std::string> fill_in(std::string_view markdown, const Symbols& symbols,
                            const NumberWriter& write = write_number);

// Sentences, with their lines, about what Qt 6.4's QTextDocument would not show as written.
std::vector<Message> markdown_faults(std::string_view markdown);
// The targets of links and pictures.
struct MarkdownLinks {
  std::vector<std::string> links, pictures;
  bool picture_without_words = false;  // one has no alternative text
};
MarkdownLinks links_of(std::string_view markdown);

}  // namespace parallelarium
