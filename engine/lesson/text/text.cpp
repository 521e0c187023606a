// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/text/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "engine/lesson/problem/problem.h"
#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostTitleBytes = 120;
constexpr std::array<std::string_view, 5> kUnits = {"1", "share", "seconds", "bytes",
                                                    "bytes_per_second"};

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 48 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// The names a "###" section may have.
bool is_part(std::string_view name) {
  for (std::string_view plain :
       {"unit", "right", "wrong", "again", "answer", "notes", "hint 1", "hint 2", "hint 3"})
    if (name == plain) return true;
  for (std::string_view prefix : {"option ", "part ", "unit ", "feedback ", "rubric "})
    if (name.substr(0, prefix.size()) == prefix) return is_id(name.substr(prefix.size()));
  return false;
}

// Reads a lesson's text line by line.
class TextReader {
 public:
  Result<LessonText> read(std::string_view markdown) {
    while (!markdown.empty() && !error_) {
      const auto end = markdown.find('\n');
      ++line_;
      take(markdown.substr(0, end));
      markdown = end == std::string_view::npos ? std::string_view() : markdown.substr(end + 1);
    }
    if (!error_ && fenced_) fail(Sentence{"lesson-text.fence", "a code block is not closed"});
    if (!error_ && text_.title.empty())
      fail(Sentence{"lesson-text.no-title", "it lacks \"# Title\""});
    if (error_) return *error_;
    split_summary();
    for (auto& [id, step] : text_.steps) {
      step.body = trimmed(step.body);
      for (auto& [name, part] : step.parts) part = trimmed(part);
    }
    return std::move(text_);
  }

 private:
  void take(std::string_view line) {
    if (line_ == 1 && line.substr(0, 4) == "<!--") return;  // the licence
    if (line.substr(0, 3) == "```" || line.substr(0, 3) == "~~~") fenced_ = !fenced_;
    if (!fenced_ && line.substr(0, 2) == "# ") return title(line.substr(2));
    if (!fenced_ && line.substr(0, 3) == "## ") return step(line.substr(3));
    if (!fenced_ && line.substr(0, 4) == "### ") return part(line.substr(4));
    if (target_) {
      target_->append(line).append("\n");
    } else if (!trimmed(line).empty()) {
      fail(Sentence{"lesson-text.before-title", "text stands before \"# Title\""});
    }
  }

  void title(std::string_view words) {
    if (!text_.title.empty())
      return fail(Sentence{"lesson-text.title-twice", "\"# Title\" stands twice"});
    text_.title = trimmed(words);
    if (text_.title.empty() || text_.title.size() > kMostTitleBytes)
      return fail(Sentence{"lesson-text.title-long", "the title must have 1 to 120 bytes"});
    target_ = &text_.summary;
  }

  void step(std::string_view words) {
    const auto colon = words.find(": ");
    const std::string id = trimmed(words.substr(0, colon));
    if (text_.title.empty())
      return fail(Sentence{"lesson-text.step-before-title", "a step stands before \"# Title\""});
    if (colon == std::string_view::npos || !is_id(id))
      return fail(Sentence{"lesson-text.step-head", "a step begins with \"## step-id: Title\""});
    if (text_.steps.count(id))
      return fail(Sentence{"lesson-text.step-twice", "the step stands twice"});
    step_ = &text_.steps[id];
    step_->title = trimmed(words.substr(colon + 1));
    if (step_->title.empty() || step_->title.size() > kMostTitleBytes)
      return fail(Sentence{"lesson-text.title-long", "the title must have 1 to 120 bytes"});
    text_.order.push_back(id);
    target_ = &step_->body;
  }

  void part(std::string_view words) {
    const std::string name = trimmed(words);
    if (!step_)
      return fail(Sentence{"lesson-text.part-before-step", "a part stands before the first step"});
    if (!is_part(name))
      return fail(Sentence{"lesson-text.part-name",
                           "a part is one of option ID, part ID, unit, unit ID, feedback ID, "
                           "right, wrong, again, hint 1 "
                           "to 3, answer, notes, rubric ID"});
    if (step_->parts.count(name))
      return fail(Sentence{"lesson-text.part-twice", "the part stands twice"});
    target_ = &step_->parts[name];
  }

  // The paragraph, and the list below it.
  void split_summary() {
    std::string paragraph;
    std::istringstream lines(text_.summary);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("- "))
        text_.afterwards.push_back(trimmed(line.substr(2)));
      else
        paragraph += line + "\n";
    text_.summary = trimmed(paragraph);
  }

  void fail(const Sentence& what) {
    if (error_) return;
    const Message why = message(what);
    error_ = message("lesson-line", "Line {}: {}.", line_, why);
    error_->kind = why.kind;
  }

  LessonText text_;
  StepText* step_ = nullptr;
  std::string* target_ = nullptr;
  int line_ = 0;
  bool fenced_ = false;
  std::optional<Message> error_;
};

}  // namespace

const std::string& StepText::part(const std::string& name) const {
  static const std::string kEmpty;
  const auto found = parts.find(name);
  return found == parts.end() ? kEmpty : found->second;
}

Result<LessonText> lesson_text_from(std::string_view markdown) {
  if (markdown.size() > kMostTextBytes)
    return message("lesson-text-long", "The text has {} bytes; at most {} are read.",
                   markdown.size(), kMostTextBytes);
  return TextReader().read(markdown);
}

std::string write_number(double value, std::string_view unit) {
  if (unit == "share") return write_number(value * 100, "digits") + "\u00a0%";
  if (unit == "bytes_per_second") return write_number(value / 1e9, "digits") + "\u00a0GB/s";
  if (unit == "bytes") return write_number(value / 1048576.0, "digits") + "\u00a0MiB";
  if (unit == "seconds" && std::abs(value) < 1)
    return write_number(value * 1000, "digits") + "\u00a0ms";
  if (unit == "seconds") return write_number(value, "digits") + "\u00a0s";
  if (unit != "digits" && value == std::round(value) && std::abs(value) < 1e6)
    return fmt::format("{:.0f}", value);
  const double size = std::abs(value);
  if (size >= 1e6 || (size != 0 && size < 0.001)) return fmt::format("{:.3g}", value);
  const int before = size > 0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 3;
  return fmt::format("{:.{}f}", value, std::clamp(3 - before, 0, 9));
}

Result<std::string> fill_in(std::string_view markdown, const Symbols& symbols,
                            const NumberWriter& write) {
  std::string result;
  for (;;) {
    const auto open = markdown.find("{{");
    result += markdown.substr(0, open);
    if (open == std::string_view::npos) return result;
    const auto close = markdown.find("}}", open);
    if (close == std::string_view::npos)
      return message("lesson-fill", "\"{}\" lacks its closing braces.", markdown.substr(open, 20));
    std::string_view inside = markdown.substr(open + 2, close - open - 2);
    if (inside.find(" | ") != std::string_view::npos) {
      const Result<std::string> word = picked("=" + std::string(inside), symbols);
      if (!word) return word.error();
      result += *word;
      markdown = markdown.substr(close + 2);
      continue;
    }
    std::string_view unit = "1";
    const auto colon = inside.find(':');
    if (inside.substr(0, colon) == "schedule" && colon != std::string_view::npos) {
      const Result<const ScheduleRule*> rule = schedule_at(inside.substr(colon + 1), symbols);
      if (!rule) return rule.error();
      result += (*rule)->title;
      markdown = markdown.substr(close + 2);
      continue;
    }
    if (colon != std::string_view::npos) {
      unit = inside.substr(0, colon);
      inside = inside.substr(colon + 1);
      if (std::find(kUnits.begin(), kUnits.end(), unit) == kUnits.end())
        return message("lesson-fill-unit",
                       "\"{}\" is not a unit; known are 1, share, seconds, bytes.",
                       unit.substr(0, 20));
    }
    const Result<double> value = evaluate(inside, symbols);
    if (!value) return value.error();
    result += write(*value, unit);
    markdown = markdown.substr(close + 2);
  }
}

}  // namespace parallelarium
