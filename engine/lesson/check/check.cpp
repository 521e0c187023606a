// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/files.h"
#include "engine/lesson/teaching/json_place.h"
#include "engine/plan/placement/parallel.h"
#include "engine/plan/placement/resolve.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {

namespace {
constexpr int kMostRanksOneByOne = 64;
constexpr int kMostOfARule = 3;  // at one place
}  // namespace

void Faults::add(Message fault, const std::string& where, const std::string& key) {
  fault.field = where;
  const auto same = [&](const LessonFault& other) {
    return other.kind == fault.kind && other.field == where && other.key == key;
  };
  const auto of_a_draw = [](const Message& one) { return one.id == "fault-drawn"; };
  const bool told = std::any_of(into_.begin(), into_.end(), [&](const LessonFault& other) {
    if (!same(other)) return false;
    return other.text == fault.text ||
           (of_a_draw(fault) && of_a_draw(other) && other.arguments[0].id == fault.arguments[0].id);
  });
  if (!told && std::count_if(into_.begin(), into_.end(), same) < kMostOfARule)
    into_.push_back({std::move(fault), key, {}, 0});
}

void Faults::add(std::string rule, Message error, const std::string& where,
                 const std::string& key) {
  error.kind = std::move(rule);
  add(std::move(error), where, key);
}

const Result<Facts>& Predictions::of(const Setup& setup) {
  const std::string key = to_json(setup).dump();
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  const auto facts = [&]() -> Result<Facts> {
    const Result<Situation> here = situation_of(setup, computer_);
    if (!here) return here.error();
    // Of many ranks representatives stand for all, as in the window.
    const bool all = here->setup.mesh.ranks() <= kMostRanksOneByOne;
    const Result<Prediction> prediction = predict(here->setup, here->machine, all);
    if (!prediction) return prediction.error();
    return Facts(facts_of(*prediction));
  };
  return made_.emplace(key, facts()).first->second;
}

const Result<Facts>& Predictions::of(const CollectiveChoice& collective) {
  const std::string key = to_json(collective).dump();
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  const auto facts = [&]() -> Result<Facts> {
    const Result<CollectivePlan> plan = plan_collective(collective, this_computer(collective.gpus));
    if (!plan) return plan.error();
    return Facts(facts_of(*plan));
  };
  return made_.emplace(key, facts()).first->second;
}

Message with_drawn(Message fault, const Lesson& lesson, const Symbols& drawn) {
  std::string words;
  for (const Drawn& parameter : lesson.parameters)
    if (const auto value = drawn.find(parameter.name); value != drawn.end())
      words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", value->first, value->second);
  if (words.empty()) return fault;
  std::string rule = fault.kind;
  fault = message("fault-drawn", "{} ({})", std::move(fault), words);
  fault.kind = std::move(rule);
  return fault;
}

Result<Context> context_of(Settings settings, const Symbols& drawn, Predictions& predictions) {
  Context context;
  context.settings = std::move(settings);
  context.drawn = drawn;
  const Result<Facts>& predicted = predictions.of(context.settings.setup);
  if (!predicted) return predicted.error();
  const Result<Facts>& collective = predictions.of(context.settings.collective);
  if (!collective) return collective.error();
  context.predicted = *predicted;
  context.collective_predicted = *collective;
  return context;
}

Result<Context> context_at(const Lesson& lesson, std::size_t step, const Symbols& drawn,
                           Predictions& predictions) {
  Result<Settings> settings = settings_at(lesson, step, drawn, true);
  if (!settings) return settings.error();
  return context_of(std::move(*settings), drawn, predictions);
}

LessonReport check_lesson(const std::string& folder, const CheckOptions& options) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string name = fs::weakly_canonical(folder, ignored).filename().string();
  LessonReport report;
  report.id = name;
  Faults faults(report.faults);
  const Result<Lesson> lesson = read_lesson(folder);
  if (!lesson) {
    faults.add(lesson.error(), "lesson.json");
    return report;
  }
  report.id = lesson->id;
  report.steps = lesson->steps.size();
  report.languages = lesson->texts.size();
  if (lesson->id != name)
    faults.add(
        message("lesson-id", "The id \"{}\" is not the folder's name \"{}\".", lesson->id, name),
        "id");
  check_names(*lesson, faults);
  const std::vector<Symbols> samples = draws(*lesson, options.most_samples);
  report.samples = samples.size();
  if (samples.empty())
    faults.add(message("lesson-constraint", "No drawn value meets the constraint."), "constraint");
  Predictions predictions(options.computer);
  // What is wrong with one draw is told of that one: others would repeat it.
  std::set<std::size_t> faulty;  // steps
  bool unsolved = false;
  for (const Symbols& drawn : samples) {
    if (!options.goes_on()) return report;
    if (const Result<Symbols> solved = with_problems(*lesson, drawn); !solved) {
      if (!unsolved) faults.add(with_drawn(solved.error(), *lesson, drawn), "problems");
      unsolved = true;
      continue;
    }
    for (std::size_t step = 0; step < lesson->steps.size() && options.goes_on(); ++step) {
      const std::size_t before = report.faults.size();
      if (faulty.count(step) == 0) check_step(*lesson, step, drawn, predictions, faults);
      if (report.faults.size() > before) faulty.insert(step);
    }
  }
  if (!options.goes_on()) return report;
  check_draws(*lesson, draws(*lesson), faults);
  check_leaks(*lesson, samples, predictions, faults);
  if (!samples.empty()) {
    const std::size_t before = report.faults.size();
    check_texts(*lesson, samples.front(), predictions, faults);
    if (samples.size() > 1 && report.faults.size() == before)
      check_texts(*lesson, samples.back(), predictions, faults);
    if ((options.run || options.run_collective || options.prove) && report.ok())
      for (std::size_t step = 0; step < lesson->steps.size() && options.goes_on(); ++step)
        report.runs += check_run(*lesson, step, samples.front(), predictions, options, faults);
  }
  report.predictions = predictions.count();
  find_lines(report.faults, lesson->folder);
  return report;
}

std::vector<LessonReport> check_course(const std::string& folder, const CheckOptions& options) {
  namespace fs = std::filesystem;
  std::vector<LessonReport> reports(1);
  LessonReport& whole = reports.front();
  whole.id = "course.json";
  const Result<Course> course = read_course(folder);
  Faults faults(whole.faults);
  if (!course) {
    faults.add(course.error(), "course.json");
    return reports;
  }
  const auto path_of = [&](std::size_t i) {
    return (fs::path(folder) / course->lessons[i].id).string();
  };
  std::vector<LessonReport> lessons(course->lessons.size());
  const auto check = [&](std::size_t i) {
    if (options.goes_on()) lessons[i] = check_lesson(path_of(i), options);
  };
  if (options.run || options.run_collective || options.prove)
    for (std::size_t i = 0; i < lessons.size(); ++i) check(i);  // runs want the cores to themselves
  else
    in_parallel(lessons.size(), check);
  if (!options.goes_on()) return reports;
  const Result<std::string> course_text =
      bounded_file(fs::path(folder) / "course.json", kMostLessonBytes);
  // `key`: of the lesson's entry.
  const auto fault = [&](Message what, std::size_t lesson, const std::string& key) {
    const auto unit =
        std::find_if(course->units.begin(), course->units.end(),
                     [&](const CourseUnit& one) { return lesson < one.first + one.count; });
    const std::size_t told = faults.count();
    faults.add(std::move(what), course->lessons[lesson].id, key);
    if (faults.count() == told) return;
    const std::string path = fmt::format("units.{}.lessons.{}.{}", unit - course->units.begin(),
                                         lesson - unit->first, key);
    whole.faults.back().file = "course.json";
    whole.faults.back().line = json_line(*course_text, path).line;
  };
  std::set<std::string> listed;
  std::map<std::string, Lesson> read;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const CourseEntry& entry = course->lessons[i];
    if (!listed.insert(entry.id).second)
      fault(message("course-twice", "The lesson is listed twice."), i, "id");
    const Result<Lesson> lesson = read_lesson(path_of(i));
    if (!lesson) continue;
    for (const auto& [language, text] : lesson->texts) {
      const auto title = entry.titles.find(language);
      if (title == entry.titles.end() || title->second != text.title)
        fault(message("course-title",
                      "The title in {} is \"{}\" in the lesson's text and not in course.json.",
                      language, text.title),
              i, "title." + language);
    }
    read.emplace(entry.id, *lesson);
  }
  check_introduced(*course, read, [&](const std::string& id) -> std::vector<LessonFault>& {
    return std::find_if(lessons.begin(), lessons.end(),
                        [&](const LessonReport& report) { return report.id == id; })
        ->faults;
  });
  for (std::size_t i = 0; i < lessons.size(); ++i) find_lines(lessons[i].faults, path_of(i));
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (fs::is_regular_file(at->path() / "lesson.json", error) &&
        !listed.count(at->path().filename().string()))
      faults.add(message("course-unlisted", "The lesson is not listed in course.json."),
                 at->path().filename().string());
  reports.insert(reports.end(), std::make_move_iterator(lessons.begin()),
                 std::make_move_iterator(lessons.end()));
  return reports;
}

}  // namespace parallelarium
