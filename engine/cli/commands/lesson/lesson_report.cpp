// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/commands/lesson/lesson_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/lesson/lesson_runs.h"
#include "engine/cli/text/table.h"
#include "engine/lesson/teaching/grading/report.h"
#include "engine/lesson/teaching/grading/rerun.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {
namespace {

// A line for each file, then what a teacher looks at: equal files, and what many got wrong.
std::string class_text(const ClassReport& report, bool reruns) {
  const bool exams = std::any_of(report.hand_ins.begin(), report.hand_ins.end(),
                                 [](const HandIn& hand_in) { return hand_in.exam; });
  std::vector<std::string> heads{"file",        "name",   "lesson",  ">right",
                                 ">unanswered", ">hints", ">minutes"};
  const bool marks = std::any_of(report.hand_ins.begin(), report.hand_ins.end(),
                                 [](const HandIn& hand_in) { return !hand_in.points.empty(); });
  if (exams) heads.push_back("exam");
  if (marks) heads.push_back(">points");
  if (reruns) heads.push_back("run again");
  Table table(heads);
  std::string faults;
  for (const HandIn& hand_in : report.hand_ins) {
    int hints = 0;
    for (const HandInStep& step : hand_in.steps) hints += step.hints;
    std::vector<std::string> row{hand_in.file,
                                 hand_in.name,
                                 hand_in.lesson,
                                 fmt::format("{} of {}", hand_in.right(), hand_in.asked()),
                                 fmt::format("{}", hand_in.unanswered()),
                                 fmt::format("{}", hints),
                                 fmt::format("{}", hand_in.minutes)};
    if (exams) row.push_back(hand_in.exam ? "yes" : "no");
    if (marks)
      row.push_back(hand_in.points.empty()
                        ? ""
                        : fmt::format("{:.3g} of {}, {} to give", hand_in.points_given(),
                                      hand_in.points_most(false), hand_in.points_most(true)));
    if (reruns) row.emplace_back(hand_in.rerun() ? name_of(*hand_in.rerun()) : "");
    table.add(std::move(row));
    for (const Message& fault : hand_in.faults) faults += wrapped(fault.text, 100, 4) + "\n";
  }
  std::string text = table.text(), reran;
  for (const HandIn& hand_in : report.hand_ins)
    for (const HandInStep& step : hand_in.steps)
      if (step.rerun && !step.run_fault)
        reran += wrapped(fmt::format("{}, {}: {}. {}", hand_in.file, step.step,
                                     name_of(step.rerun->verdict), step.rerun->words.text),
                         100, 4) +
                 "\n";
  if (!reran.empty()) text += "\n" + reran;
  if (!report.common.empty()) {
    Table common({"wrong answer", "lesson", "step", ">files"});
    for (const WrongAnswer& answer : report.common)
      common.add({answer.answer, answer.lesson, answer.step, fmt::format("{}", answer.count)});
    text += "\n" + common.text();
  }
  for (const auto& [first, second] : report.equal)
    text += fmt::format("\n{} has the numbers and the answers of {}.", second, first);
  if (!report.equal.empty()) text += "\n";
  return text + (faults.empty() ? "" : "\n" + faults);
}

}  // namespace

Outcome report_class(const LessonReportOptions& options, bool json, Progress& progress) {
  const std::string course = options.course.empty() ? lessons_folder() : options.course;
  if (course.empty()) return Outcome::invalid(lesson_schema().error());
  if (const Result<Course> read = read_course(course); !read) return Outcome::invalid(read.error());
  if (options.rerun < 0 || options.rerun > 100)
    return Outcome::invalid(message("report-rerun", "--rerun must be a number from 0 to 100."));
  ClassReport report = report_on(
      options.files, course, computer_here(RunSettings(), kMostLessonRanks), options.class_code,
      [](const std::string& file) { return read_file(file, kMostHandInBytes); });
  const std::uint64_t draw = options.draw.value_or(std::random_device()() % 1'000'000);
  const RerunCount again =
      rerun_hand_ins(report, options.rerun, draw, course, [&progress](const Setup& setup) {
        progress.report(0.5, "running a hand-in again");
        return run_for_check(setup, progress);
      });
  if (options.rerun > 0 && cancelled_by_signal())
    return Outcome::failed(message("cancelled.report", "The report was cancelled."));
  nlohmann::json object = to_json(report);
  if (options.rerun > 0)
    object["rerun"] = {{"drawn", again.drawn}, {"run", again.run}, {"seed", draw}};
  std::string text = class_text(report, options.rerun > 0);
  const std::string reruns = again.drawn == 0
                                 ? "No hand-in has a run."
                                 : fmt::format("{} drawn, {} run again; --seed {} draws the same.",
                                               again.drawn, again.run, draw);
  if (options.rerun > 0) text += reruns + '\n';
  if (options.csv) {  // what has no column, or is easily overlooked there
    for (const HandIn& hand_in : report.hand_ins)
      for (const Message& fault : hand_in.faults) progress.say(fault.text);
    if (options.rerun > 0) progress.say(reruns);
  }
  Outcome outcome = Outcome::done(json ? json_text(object) : options.csv ? to_csv(report) : text);
  if (!report.ok()) {
    outcome.status = kFailed;
    outcome.error = message("hand-ins-faulty", "Not every file could be taken as it is.");
  }
  return outcome;
}

}  // namespace parallelarium
