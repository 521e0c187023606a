// SPDX-License-Identifier: Apache-2.0
// Judges what a class hands in. A hand-in says which numbers were drawn (the seed) and what was
// answered; whether that is right is found out again here, whatever the file claims.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/lesson/lesson.h"

namespace parallelarium {

// A run of the training step that the student made, as the file tells of it.
struct HandInRun {
  std::string source, backend;  // "measured", "paced", ...; "cpu", "paced" or "cuda"
  std::vector<double> losses;   // of every training step
  std::int64_t sent_bytes = 0;  // of all ranks, in the step shown
  Setup setup;                  // exactly what was run
};

// What running it again showed.
enum class RerunVerdict : std::uint8_t {
  kEqual,      // losses to the last bit, and bytes
  kClose,      // losses within kCloseLosses: another processor rounds otherwise
  kDifferent,  // losses or bytes are others
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
// Each part of the answer beside what is right. `judgement`: of that answer in that context.
std::vector<HandInPart> judged_parts(const Step& step, const Answer& answer, const Context& context,
                                     const Judgement& judgement);
struct HandInPoints {
  std::string step, id;  // of the RubricRow
  int most = 0;
  std::optional<double> points;  // none: the teacher gives them
};

struct HandInStep {
  std::string step;
  StepKind kind = StepKind::kRead;
  bool judged = false;  // questions, drawings, orders and goals; a run leaves nothing to judge
  bool right = false;
  bool answered = false;  // questions and the like, and runs; else the file does without it
  bool claimed = false;   // what the file says
  std::string answer;     // as it was given: a number, an option's id, an order
  std::string mistake;    // of a wrong answer that the lesson foresees: the option's id
  int attempts = 0, hints = 0;
  std::vector<HandInPart> parts;     // in the order of the lesson
  std::vector<CheckOutcome> checks;  // but those of runs
  std::optional<Settings> set;       // what a plan or a goal was answered with
  std::optional<HandInRun> run;
  std::optional<Message> run_fault;  // why what the file says of a run cannot be read
  std::optional<Rerun> rerun;        // see rerun.h
};

struct HandIn {
  std::string file, name;  // as given; who the file says it is of
  std::string lesson;
  int version = 0;
  std::uint64_t seed = 0;
  int minutes = 0;
  bool exam = false;   // taken without hints and answers, as the file says
  bool drawn = false;  // to be run again
  // In the order of the lesson. What it asks or runs is there even where the file does without it.
  std::vector<HandInStep> steps;
  std::vector<Message> faults;  // why it cannot be judged, or what it claims wrongly
  int asked() const;            // by the lesson, whatever the file has
  int right() const;
  int unanswered() const;               // questions and runs
  std::vector<HandInPoints> points;     // of a lesson with a rubric
  double points_given() const;          // by the engine
  int points_most(bool teacher) const;  // that the teacher, or the engine, may give
  bool has_runs() const;
  std::optional<RerunVerdict> rerun() const;  // the worst of its steps; none: nothing ran again
};

struct WrongAnswer {
  std::string lesson, step;
  std::string answer;  // as given; the foreseen mistake where the lesson knows it
  int count = 0;
};

struct ClassReport {
  std::vector<HandIn> hand_ins;
  // Files with the same drawn numbers and the same answers, each after the one it equals.
  std::vector<std::pair<std::string, std::string>> equal;
  std::vector<WrongAnswer> common;  // wrong answers of two hand-ins or more, most frequent first
  bool ok() const;                  // nothing was wrong with any file
};

inline constexpr std::size_t kMostHandInBytes = 4 * 1024 * 1024;
using ReadHandIn = std::function<Result<std::string>(const std::string& file)>;

// `files`: paths of what "Export my answers" wrote. Lessons are those of `course`. Predictions are
// of the devices of `computer`. With a class code, numbers that are not those of the name in the
// file (class_seed) are a fault; those of an exam follow from exam_code(). With a code that says
// exam, so is a file that is not of one. `read` gives a file's text; without it, plain files are
// read.
ClassReport report_on(const std::vector<std::string>& files, const std::string& course,
                      const Computer& computer, const std::string& class_code = "",
                      const ReadHandIn& read = {});

// One of them; of the second, what stands in the file.
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
