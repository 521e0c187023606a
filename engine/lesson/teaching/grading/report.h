// SPDX-License-Identifier: Apache-2.0
// Judges what a class hands in. A hand-in says which numbers were drawn (the seed) and what was
// answered. Here the answers are judged again, whatever the file claims.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"

namespace parallelarium {

// A run of the training step that the student made, as the file reports it.
struct HandInRun {
  std::string source, backend;  // "measured", "paced", ...; "cpu", "paced" or "cuda"
  std::vector<double> losses;   // of every training step
  std::int64_t sent_bytes = 0;  // by all ranks, in the step shown
  Setup setup;                  // exactly what was run
};

// The result of running it again.
enum class RerunVerdict : std::uint8_t {
  kEqual,      // losses are equal to the last bit, and bytes are equal
  kClose,      // losses are within kCloseLosses: another processor rounds otherwise
  kDifferent,  // losses or bytes differ
  kNotRun      // there is nothing to compare, or it cannot run here
};
// "equal", "close", "different", "not run"
std::string_view name_of(RerunVerdict verdict);
constexpr double kCloseLosses = 1e-3;  // relative

struct Rerun {
  RerunVerdict verdict = RerunVerdict::kNotRun;
  double difference = 0;  // the largest between two losses, relative
  Message words;          // one sentence
};

// One part of a question, or a row of the rubric; see lesson.h.
struct HandInPart {
  std::string id;
  PartAnswer given, wanted;
  bool right = false;
};
// Each part of the answer beside the right one. `judgement` is that of the answer in that context.
std::vector<HandInPart> judged_parts(const Step& step, const Answer& answer, const Context& context,
                                     const Judgement& judgement);
struct HandInPoints {
  std::string step, id;  // `id`: that of the RubricRow
  int most = 0;
  std::optional<double> points;  // none: the teacher gives them
};

struct HandInStep {
  std::string step;
  StepKind kind = StepKind::kRead;
  bool judged = false;  // true for questions, drawings, orders and goals; false for runs
  bool right = false;
  bool answered = false;  // the file has the answer or the run
  bool claimed = false;   // what the file says
  std::string answer;     // as given: a number, an option's id, an order
  std::string mistake;    // for a foreseen wrong answer: the option's id
  int attempts = 0, hints = 0;
  std::vector<HandInPart> parts;     // in the order of the lesson
  std::vector<CheckOutcome> checks;  // without those of runs
  std::optional<Settings> set;       // the settings that answer a plan or a goal
  std::optional<HandInRun> run;
  std::optional<Message> run_fault;  // why the file's words about a run cannot be read
  std::optional<Rerun> rerun;        // see rerun.h
};

struct HandIn {
  std::string file, name;  // path as given; name that the file says
  std::string lesson;
  int version = 0;
  std::uint64_t seed = 0;
  int minutes = 0;
  bool exam = false;   // the file says that it was taken without hints and answers
  bool drawn = false;  // it was drawn to be run again
  // In the order of the lesson. Everything that the lesson asks or runs is here, even if the file
  // lacks it.
  std::vector<HandInStep> steps;
  std::vector<Message> faults;  // why it cannot be judged, or its wrong claims
  int asked() const;            // questions of the lesson, whatever the file has
  int right() const;
  int unanswered() const;               // questions and runs
  std::vector<HandInPoints> points;     // for a lesson with a rubric
  double points_given() const;          // points that the engine gives
  int points_most(bool teacher) const;  // points that the teacher, or the engine, may give
  bool has_runs() const;
  // The worst verdict of its steps; none: nothing ran again.
  std::optional<RerunVerdict> rerun() const;
};

struct WrongAnswer {
  std::string lesson, step;
  std::string answer;  // as given, or the mistake that the lesson foresees
  int count = 0;
};

struct ClassReport {
  std::vector<HandIn> hand_ins;
  // Files with the same drawn numbers and the same answers: each pair has a file and the later one
  // that equals it.
  std::vector<std::pair<std::string, std::string>> equal;
  std::vector<WrongAnswer> common;  // wrong answers of two hand-ins or more, most frequent first
  bool ok() const;                  // whether nothing was wrong with any file
};

inline constexpr std::size_t kMostHandInBytes = 4 * 1024 * 1024;
using ReadHandIn = std::function<Result<std::string>(const std::string& file)>;

// The folder of the lesson of a hand-in: `folder`/id if there is one, otherwise the program's.
std::string lesson_folder(const std::string& folder, const std::string& id);

// `files` are paths of what "Export my answers" wrote. Lessons are found by lesson_folder(course).
// Predictions are for the devices of `computer`. With a class code, it is a fault if the numbers
// are not those of the name in the file (class_seed); those of an exam follow from exam_code().
// With a code that says exam, a file that is not of an exam is a fault too. `read` gives a file's
// text; without it, plain files are read.
ClassReport report_on(const std::vector<std::string>& files, const std::string& course,
                      const Computer& computer, const std::string& class_code = "",
                      const ReadHandIn& read = {});

// Judges one hand-in: from a file, or from its content.
HandIn hand_in_of(const std::string& file, const std::string& course, const Computer& computer);
HandIn hand_in_of_text(const std::string& content, const std::string& course,
                       const Computer& computer);

nlohmann::json to_json(const ClassReport& report);
// A line for each step of each file: file, name, lesson, seed, step, kind, right, claimed,
// attempts, hints, answer, mistake, exam, rerun, equal_to (the file with the same numbers and
// answers), answered, points (of the step, by the engine), to_give (by the teacher), faults
// (of the file). A file without steps has a line of its own.
std::string to_csv(const ClassReport& report);

}  // namespace parallelarium
