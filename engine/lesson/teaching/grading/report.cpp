// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/grading/report.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/files.h"
#include "engine/lesson/teaching/grading/class_seed.h"
#include "engine/lesson/teaching/grading/rerun.h"
#include "engine/lesson/teaching/grading/rubric.h"

namespace parallelarium {

namespace {

using nlohmann::json;

constexpr int kMostMarks = 10'000;
constexpr double kMostCount = 1e6;  // of attempts, hints and minutes that a file claims

// A member of the type that `fallback` has, else `fallback`: files come from anywhere.
template <class Value>
Value member(const json& object, const char* key, Value fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  try {
    return found->template get<Value>();
  } catch (const json::exception&) {
    return fallback;
  }
}

// A whole number that fits; what is none counts as `fallback`.
template <class Value>
Value whole(const json& object, const char* key, Value fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->template get<Value>()
                                                             : fallback;
}

int count_of(double claimed) { return static_cast<int>(std::clamp(claimed, 0.0, kMostCount)); }

Answer answer_of(const json& step) {
  Answer answer;
  if (step.contains("number") && step["number"].is_number())
    answer.number = step["number"].get<double>();
  answer.option = member<std::string>(step, "option", "");
  answer.parts = parts_from_json(step.value("parts", json::object()));
  answer.order = member<std::vector<std::string>>(step, "order", {});
  const auto marks = member<std::vector<std::pair<int, int>>>(step, "marks", {});
  if (marks.size() <= kMostMarks) answer.marks = {marks.begin(), marks.end()};
  return answer;
}

std::string words_of(const Answer& answer, const Fields& settings) {
  std::string words = answer.number ? fmt::format("{:.6g}", *answer.number) : answer.option;
  for (const auto& [id, part] : answer.parts)
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", id,
                         part.number ? fmt::format("{:.6g}", *part.number) : part.option);
  for (const std::string& line : answer.order) words += (words.empty() ? "" : " | ") + line;
  for (const auto& [stage, slot] : answer.marks)
    words += fmt::format("{}{}:{}", words.empty() ? "" : " ", stage, slot);
  for (const auto& [key, value] : settings)
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", key, value);
  return words;
}

// Of what "run" says of a training step.
void read_run(const json& given, const std::string& file, HandInStep& step) {
  HandInRun run;
  run.source = member<std::string>(given, "source", "");
  run.backend = member<std::string>(given, "backend", "");
  run.losses = member<std::vector<double>>(given, "losses", {});
  run.sent_bytes = whole<std::int64_t>(given, "sent_bytes", -1);
  const Result<Setup> setup =
      setup_from_json(given.is_object() ? given.value("setup", json()) : json());
  if (!setup || run.losses.empty() || run.sent_bytes < 0) {
    step.run_fault =
        message("hand-in-run", "{} does not fully say what was run at \"{}\".", file, step.step);
    return;
  }
  run.setup = *setup;
  step.run = std::move(run);
}

bool runs_training(const Step& step) {
  return step.kind == StepKind::kRun && !step.runs_collective();
}

// What an exam asks once. Goals and orders show whether they are reached.
bool is_asked_once(StepKind kind) {
  return kind == StepKind::kPredict || kind == StepKind::kExplain || kind == StepKind::kFind;
}

bool is_judged(StepKind kind) { return kind != StepKind::kRead && kind != StepKind::kRun; }

// The lessons of a course that hand-ins are of, with the predictions made for them.
class Marker {
 public:
  Marker(std::string course, const Computer& computer, std::string class_code)
      : course_(std::move(course)),
        class_code_(std::move(class_code)),
        computer_(computer),
        predictions_(computer) {}

  HandIn mark(const std::string& file, const ReadHandIn& read = {}) {
    const Result<std::string> content = read ? read(file) : bounded_file(file, kMostHandInBytes);
    if (content) return mark_text(file, *content);
    HandIn hand_in;
    hand_in.file = file;
    hand_in.faults.push_back(content.error());
    return hand_in;
  }

  HandIn mark_text(const std::string& file, const std::string& content) {
    HandIn hand_in;
    hand_in.file = file;
    const auto fault = [&](Message message) { hand_in.faults.push_back(std::move(message)); };
    const Result<json> object = lesson_json(file, content);
    if (!object) {
      fault(object.error());
      return hand_in;
    }
    if (!object->is_object() ||
        member<std::string>(*object, "format", "") != "parallelarium-answers/1") {
      fault(
          message("hand-in-format", "{} holds no answers that were exported from a lesson.", file));
      return hand_in;
    }
    hand_in.name = member<std::string>(*object, "name", "");
    hand_in.lesson = member<std::string>(*object, "lesson", "");
    hand_in.version = count_of(member<double>(*object, "version", 0));
    hand_in.seed = whole<std::uint64_t>(*object, "seed", 0);
    hand_in.exam = member<bool>(*object, "exam", false);
    hand_in.minutes = count_of(member<double>(*object, "seconds", 0) / 60 + 0.5);
    const Result<Lesson>& lesson = lesson_of(hand_in.lesson);
    if (!lesson) {
      fault(lesson.error());
      return hand_in;
    }
    if (lesson->version != hand_in.version)
      fault(message("hand-in-version",
                    "{} is of version {} of the lesson \"{}\", and this is version {}: answers may "
                    "be of other questions.",
                    file, hand_in.version, hand_in.lesson, lesson->version));
    if (says_exam(class_code_) && !hand_in.exam)
      fault(message("hand-in-no-exam", "{} was not taken as an exam.", file));
    check_numbers(hand_in);
    const json steps = object->value("steps", json());
    if (steps.is_array())
      for (const json& step : steps) mark_step(*lesson, step, hand_in);
    else
      fault(message("hand-in-steps", "{} has no list of steps.", file));
    add_unanswered(*lesson, hand_in);
    for (const HandInStep& step : hand_in.steps)  // a run may go on from another step's answer
      if (step.run)
        if (auto wrong = fault_of_run(*lesson, hand_in, step, computer_)) fault(std::move(*wrong));
    hand_in.points = points_of(*lesson, hand_in.steps);
    return hand_in;
  }

 private:
  const Result<Lesson>& lesson_of(const std::string& id) {
    const auto known = lessons_.find(id);
    if (known != lessons_.end()) return known->second;
    const bool plain =
        !id.empty() &&
        id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (!plain)
      return lessons_.emplace(id, message("hand-in-lesson", "\"{}\" is no lesson.", id))
          .first->second;
    return lessons_.emplace(id, read_lesson(lesson_folder(course_, id))).first->second;
  }

  void check_numbers(HandIn& hand_in) const {
    if (class_code_.empty()) return;
    const auto has_numbers_of = [&](const std::string& code) {
      return hand_in.seed == class_seed(code, hand_in.name, hand_in.lesson);
    };
    if (has_numbers_of(hand_in.exam ? exam_code(class_code_) : class_code_)) return;
    hand_in.faults.push_back(
        hand_in.exam && has_numbers_of(practice_code(class_code_))
            ? message("hand-in-practice-numbers",
                      "{} says that it is an exam, and has the numbers of practice.", hand_in.file)
            : message("hand-in-numbers",
                      "{} does not have the numbers that \"{}\" meets in this class: it was played "
                      "without the class code, or under another name.",
                      hand_in.file, hand_in.name));
  }

  // What the lesson asks or runs and the file does without.
  static void add_unanswered(const Lesson& lesson, HandIn& hand_in) {
    std::vector<HandInStep> all;
    for (const Step& step : lesson.steps) {
      const auto given = std::find_if(hand_in.steps.begin(), hand_in.steps.end(),
                                      [&](const auto& one) { return one.step == step.id; });
      if (given != hand_in.steps.end()) {
        all.push_back(std::move(*given));
      } else if (step.kind != StepKind::kRead) {
        HandInStep missing;
        missing.step = step.id;
        missing.kind = step.kind;
        missing.judged = is_judged(step.kind);
        all.push_back(std::move(missing));
      }
    }
    hand_in.steps = std::move(all);
  }

  void mark_step(const Lesson& lesson, const json& given, HandIn& hand_in) {
    const auto id = member<std::string>(given, "step", "");
    const Step* step = lesson.find(id);
    if (step == nullptr) {
      hand_in.faults.push_back(message("hand-in-step",
                                       "{} answers \"{}\", which is no step of \"{}\".",
                                       hand_in.file, id, lesson.id));
      return;
    }
    const auto fault = [&](Message message) { hand_in.faults.push_back(std::move(message)); };
    if (std::any_of(hand_in.steps.begin(), hand_in.steps.end(),
                    [&](const auto& one) { return one.step == id; })) {
      Message repeated = message(
          "hand-in-repeated", "{} has \"{}\" more than once; the first counts.", hand_in.file, id);
      if (std::find(hand_in.faults.begin(), hand_in.faults.end(), repeated) == hand_in.faults.end())
        fault(std::move(repeated));
      return;
    }
    HandInStep marked;
    marked.step = id;
    marked.kind = step->kind;
    marked.claimed = member<bool>(given, "right", false);
    marked.attempts = count_of(member<double>(given, "attempts", 0));
    marked.hints = count_of(member<double>(given, "hints", 0));
    marked.judged = is_judged(step->kind);
    marked.answered = step->kind != StepKind::kRead && marked.attempts > 0;
    if (runs_training(*step) && (marked.answered || given.contains("run"))) {
      marked.answered = true;
      read_run(given.value("run", json()), hand_in.file, marked);
      if (marked.run_fault) fault(*marked.run_fault);
    }
    if (hand_in.exam && marked.hints > 0)
      fault(message("hand-in-exam-hints", "{} took a hint at \"{}\", and an exam has none.",
                    hand_in.file, id));
    if (hand_in.exam && is_asked_once(step->kind) && marked.attempts > 1)
      fault(message("hand-in-exam-attempts",
                    "{} answered \"{}\" {} times, and an exam lets it be answered once.",
                    hand_in.file, id, marked.attempts));
    if (marked.judged && marked.answered)
      if (Result<void> done = judge_step(lesson, *step, given, hand_in.seed, marked); !done)
        fault(done.error());
    if (marked.judged && marked.claimed && !marked.right)
      fault(message("hand-in-claim", "{} claims that \"{}\" is right, and it is not.", hand_in.file,
                    id));
    hand_in.steps.push_back(std::move(marked));
  }

  Result<void> judge_step(const Lesson& lesson, const Step& step, const json& given,
                          std::uint64_t seed, HandInStep& marked) {
    const auto index = static_cast<std::size_t>(&step - lesson.steps.data());
    const Symbols drawn = draw(lesson, seed);
    Fields settings;
    // What the student set to reach a goal; no more than the lesson lets be set.
    const auto set = member<std::map<std::string, std::string>>(given, "settings", {});
    for (const auto& [key, value] : set)
      if (std::find(step.allow.begin(), step.allow.end(), key) != step.allow.end() &&
          !value.starts_with('='))
        settings.emplace_back(key, value);
    const Answer answer = answer_of(given);
    marked.answer = words_of(answer, settings);
    const bool reveals = step.kind != StepKind::kGoal;
    Result<Settings> at = settings_at(lesson, index, drawn, reveals);
    if (at) at = with_fields(std::move(*at), settings, drawn);
    if (!at) return at.error();
    const Result<Context> context = context_of(std::move(*at), drawn, predictions_);
    if (!context) return context.error();
    Step known = step;  // whether a run showed it cannot be told from a file
    std::erase_if(known.checks, [](const Check& check) { return check.of_run(); });
    const Result<Judgement> judgement = judge(known, answer, *context);
    if (!judgement) return judgement.error();
    marked.right = judgement->verdict == Verdict::kRight;
    marked.parts = judged_parts(step, answer, *context, *judgement);
    marked.checks = judgement->checks;
    if (step.kind == StepKind::kGoal || step.sets_plan()) marked.set = context->settings;
    const auto is_feedback = [&](const Option& option) {
      return option.id == judgement->feedback && !option.correct;
    };
    if (std::any_of(step.options.begin(), step.options.end(), is_feedback))
      marked.mistake = judgement->feedback;
    return {};
  }

  std::string course_, class_code_;
  Computer computer_;
  Predictions predictions_;
  std::map<std::string, Result<Lesson>> lessons_;
};

}  // namespace

int HandIn::asked() const {
  return static_cast<int>(
      std::count_if(steps.begin(), steps.end(), [](const auto& step) { return step.judged; }));
}

int HandIn::right() const {
  return static_cast<int>(
      std::count_if(steps.begin(), steps.end(), [](const auto& step) { return step.right; }));
}

int HandIn::unanswered() const {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const auto& step) {
    return step.kind != StepKind::kRead && !step.answered;
  }));
}

bool HandIn::has_runs() const {
  return std::any_of(steps.begin(), steps.end(),
                     [](const auto& step) { return step.run || step.run_fault; });
}

std::optional<RerunVerdict> HandIn::rerun() const {
  std::optional<RerunVerdict> worst;
  for (const HandInStep& step : steps)
    if (step.rerun) {
      // What differs is worse than what could not be compared.
      const auto rank = [](RerunVerdict verdict) {
        return verdict == RerunVerdict::kDifferent ? 9 : static_cast<int>(verdict);
      };
      if (!worst || rank(step.rerun->verdict) > rank(*worst)) worst = step.rerun->verdict;
    }
  return worst;
}

bool ClassReport::ok() const {
  return std::all_of(hand_ins.begin(), hand_ins.end(), [](const HandIn& hand_in) {
    return hand_in.faults.empty() && hand_in.rerun() != RerunVerdict::kDifferent;
  });
}

std::string lesson_folder(const std::string& folder, const std::string& id) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path own = fs::path(folder) / id;
  return (fs::exists(own / "lesson.json", ignored) ? own : fs::path(lessons_folder()) / id)
      .string();
}

HandIn hand_in_of(const std::string& file, const std::string& course, const Computer& computer) {
  return Marker(course, computer, "").mark(file);
}

HandIn hand_in_of_text(const std::string& content, const std::string& course,
                       const Computer& computer) {
  return Marker(course, computer, "").mark_text("answers", content);
}

ClassReport report_on(const std::vector<std::string>& files, const std::string& course,
                      const Computer& computer, const std::string& class_code,
                      const ReadHandIn& read) {
  ClassReport report;
  Marker marker(course, computer, class_code);
  std::map<std::string, std::string> same;  // answers -> first file
  std::map<std::tuple<std::string, std::string, std::string>, int> wrong;
  for (const std::string& file : files) {
    HandIn hand_in = marker.mark(file, read);
    std::string answers = fmt::format("{} {}", hand_in.lesson, hand_in.seed);
    for (const HandInStep& step : hand_in.steps) {
      answers += '\n' + step.step + ' ' + step.answer;
      if (step.judged && !step.right && !step.answer.empty())
        ++wrong[{hand_in.lesson, step.step, step.mistake.empty() ? step.answer : step.mistake}];
    }
    if (std::any_of(hand_in.steps.begin(), hand_in.steps.end(),
                    [](const auto& step) { return step.judged && step.answered; }))
      if (const auto [first, added] = same.emplace(answers, file); !added)
        report.equal.emplace_back(first->second, file);
    report.hand_ins.push_back(std::move(hand_in));
  }
  for (const auto& [what, count] : wrong)
    if (count > 1)
      report.common.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what), count});
  std::stable_sort(report.common.begin(), report.common.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  return report;
}

}  // namespace parallelarium
