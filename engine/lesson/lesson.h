// SPDX-License-Identifier: Apache-2.0
// A lesson: what a student reads, guesses, runs, explains, reaches and builds, as data.
//
//   lessons/course.json            order and titles
//   lessons/rows.json              the statements that the course teaches (coverage.h)
//   lessons/schema.json            JSON Schema of every lesson.json
//   lessons/<id>/lesson.json       steps, answers, checks: no sentence for people
//   lessons/<id>/text.<xx>.md      all sentences by step id (text.h says how); en is required
//   lessons/<id>/*.svg, *.png      pictures
//
// A lesson is data: it names settings and figures and has small expressions (expression.h). It runs
// no code, reads nothing outside its folder, and every size is bounded.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/lesson/assign/assignment.h"
#include "engine/lesson/problem/problem.h"
#include "engine/lesson/text/expression.h"
#include "engine/lesson/text/text.h"
#include "engine/plan/result.h"
#include "engine/schedules/drawing.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

enum class StepKind : std::uint8_t { kRead, kPredict, kRun, kExplain, kGoal, kBuild, kFind };
// "read" "predict" "run" "explain" "goal" "build" "find"
std::string_view name_of(StepKind kind);

// Fields (problem.h) are settings by dotted key. They are sorted, but "model" is first, since the
// others change what it brings. They are fields of the Setup or, with "collective." in front, of a
// CollectiveChoice ("collective.name", "collective.bytes"). A value that begins with "=" is an
// expression over the drawn parameters; "=expression | a | b" is one of the alternatives: see
// picked().

// How far a number may be from the right one. If both are 0, it must be exact (to 1e-9).
struct Tolerance {
  double absolute = 0, relative = 0;
  double around(double right) const;  // the larger of both at `right`
};

// One condition on what was set, predicted, observed or written.
struct Check {
  // Whose figure `key` names: "setup", "predicted", "run", "order", "collective" (predicted for the
  // chosen collective), "collective-run" (observed in its run), or "assignment" (see
  // engine/lesson/assign/assignment.h).
  std::string of = "predicted";
  // Dotted key of predict, run, schedule or collective --json, or of the settings:
  // "bubble.of_total", "memory.ranks.0.peak_bytes". A part "*" takes the largest. In a table, a
  // word selects the rows that contain it, and the name of a column adds up that column:
  // "traffic.dp.sent_bytes", "traffic.gradients.sent_bytes", "traffic.sent_bytes". There are
  // further keys. "held.peak" and "held.ranks.0" are the micro-batches whose activations a stage
  // holds at once. "experts.fullest" and others (see expert_facts()) are, for a run, those of its
  // last training step. A run also has "ranks.copies" (ranks that must hold the weights of
  // another), "ranks.differing" (how many of these do not) and "ranks.loss_spread" (between the own
  // losses of ranks). If a run step asks for a proof, there are "proof.holds" (1 or 0),
  // "proof.largest_difference" and others: see proof_facts(). The "steps" of a collective are their
  // number.
  std::string key;
  std::string op;  // < <= > >= == !=
  // An expression over symbols, parameters, "predicted" (the predicted figure of the same key) and,
  // with `than`, "kept" (the figure of the same key in that run). For a setting that is a word, it
  // is the word.
  std::string value;
  std::string than;  // for "run": the name of an earlier run, see Step::keep
  Tolerance tolerance;
  bool limit = false;  // the limit that binds: see Step::tempting

  bool of_collective() const { return of == "collective" || of == "collective-run"; }
  bool of_run() const { return of == "run" || of == "collective-run"; }
  bool of_proof() const { return of == "run" && key.starts_with("proof."); }
  // The key as the name of a metric: those of a collective begin with "collective.".
  std::string metric() const { return of_collective() ? "collective." + key : key; }
};

// One card of a choice, or one foreseen wrong answer of a numeric question.
struct Option {
  std::string id;
  bool correct = false;
  std::string value;          // an expression if the option is a number
  std::string misconception;  // name of a wrong option's mistake: "bubble-over-ideal"
};

// A numeric answer. For a choice only metric and unit count.
struct Ask {
  std::string metric;  // dotted key the guess is about, shown as third mark; or empty
  std::string unit;    // as in Formula: "share" (typed in per cent), "1", "bytes", "seconds", ...
  // An expression that is evaluated at the revealed Setup; empty for a choice. In a part it may
  // name "predicted", the predicted figure of `metric`.
  std::string answer;
  Tolerance tolerance;
  bool few = false;  // the answer has few values whatever is drawn, such as 16 bytes
};

// One of several parts of a question: it asks for a number, or for the option of the step that
// belongs to it. "What comes first, second and third?" is such a question too.
struct QuestionPart {
  std::string id;
  // The id of the right option, or one of several alternatives (see picked()). It may name
  // first_axis, second_axis and third_axis, the axes by the bytes that rank 0 sends (0: none, 1:
  // TP, 2: PP, 3: DP). Empty: the part asks for a number.
  std::string option;
  Ask ask;
};

// The order that a build step asks for.
struct OrderToBuild {
  std::vector<std::string> start, solution;  // lines (order.h); the start may be unfinished
  Durations durations;                       // in forwards
  std::vector<double> lengths;               // by stage: factor on the time of its work; empty: 1
  bool split = false;                        // backwards are placed in two parts
  bool ghosts = true;                        // what may come next is shown
  std::vector<Durations> by_stage(int stages) const;
};

// The points that a step gives in a hand-in.
struct RubricRow {
  std::string id;
  int points = 1;
  // The QuestionPart::ids that it is for; each gives the same. Empty: it is for the step's checks,
  // or for all of the step.
  std::vector<std::string> parts;
  bool teacher = false;  // the engine does not mark it
};

// The assignment that a build step asks for instead of an order. Step::parts are its slots, and
// their options are one solution of many. `tempting` changes that solution into one that is refused
// with a reason.
struct ToAssign {
  std::string of;  // of assignment_kinds(); empty: the step asks for none
  Assignment tempting;
};

struct Step {
  std::string id;
  StepKind kind = StepKind::kRead;
  Fields setup;     // set when it begins, on top of the lesson's start and earlier steps
  Fields reveal;    // set when the answer is committed
  std::string tab;  // one of view_ids(); empty: the view stays
  std::optional<std::pair<double, double>> view_range;  // shares of the step, 0 to 1
  std::vector<std::string> highlight;                   // keys: "bubble", "strip.bubble.of_total"
  std::vector<std::string> allow;  // settings (dotted keys) unlocked until committed or reached
  std::vector<std::string> hide;   // metrics and lanes that read "?" until committed
  std::optional<Ask> ask;          // for predict and explain
  std::vector<Option> options;
  // For predict and explain: several questions instead of `ask`. For a build that assigns: the
  // slots.
  std::vector<QuestionPart> parts;
  std::vector<Check> checks;  // for run, goal and build
  int hints = 0;              // 0 or 3, graded
  Fields solution;            // for goal
  // For goal: it reaches everything except the checks marked as limit, which it breaks.
  Fields tempting;
  OrderToBuild order;  // for build
  ToAssign assign;     // for build, instead of `order`
  Drawing drawing;     // for find: the student marks the actions that come too early
  std::string keep;    // for run: the name under which later checks compare with it
  // The id of an earlier step. This step then begins with what was set there, not with what the
  // step before left.
  std::string from;
  // Whether it begins with a small copy of that, which runs on cores. The copy has four
  // micro-batches, or the fewest above four that its schedule allows. Then `setup` is applied.
  bool small_copy = false;
  std::vector<RubricRow> rubric;

  bool assigns() const { return !assign.of.empty(); }
  bool builds_order() const { return kind == StepKind::kBuild && !assigns(); }
  // Whether it runs the collective: one of its checks is on "collective-run".
  bool runs_collective() const;
  // Whether its run must be repeated on one rank and compared: one of its checks is on the proof.
  bool wants_proof() const;
  // Whether the student sets a plan, which the checks are about, and answers for that plan.
  bool sets_plan() const { return kind == StepKind::kPredict && !checks.empty(); }
};

struct Drawn {
  std::string name;
  std::vector<double> values;  // a range is written out
};

struct Requirements {
  int ranks = 1;
  // Sources that its runs may have: "measured", "paced"; empty: any.
  std::vector<std::string> sources;
  bool gpu = false;
};

struct Lesson {
  std::string folder;  // absolute
  std::string id;
  int version = 1;
  int minutes = 5;
  Requirements requirements;
  Fields start;
  std::vector<Drawn> parameters;
  std::string constraint;  // expression over the parameters, or empty
  std::vector<PlanProblem> problems;
  std::vector<Step> steps;
  std::map<std::string, std::string> covers;  // row of rows.json -> id of the step that teaches it
  std::map<std::string, LessonText> texts;    // by language: "en"

  // The text in that language, or else in English.
  const LessonText& text(const std::string& language) const;
  const Step* find(const std::string& step_id) const;
  bool begins_with_collectives() const;  // its first part opens the view of collectives alone
};

// Reads a lesson, bounds its size and validates it against the schema. It checks nothing that needs
// a prediction. Errors name the file and the place in it.
Result<Lesson> read_lesson(const std::string& folder);
// The same from texts (file name -> content), for tests and fuzzing, without pictures.
Result<Lesson> lesson_from_files(const std::map<std::string, std::string>& files,
                                 const nlohmann::json& schema);

struct CourseEntry {
  std::string id;
  std::map<std::string, std::string> titles;  // by language
};
struct CourseUnit {
  std::string id;
  std::map<std::string, std::string> titles;  // by language
  std::vector<std::string> needs;    // ids of the units that it builds on; all come before it
  std::size_t first = 0, count = 0;  // its lessons in Course::lessons
};
struct Course {
  std::string folder;
  std::map<std::string, std::string> titles;
  std::vector<CourseUnit> units;
  std::vector<CourseEntry> lessons;  // of all units, in their order
  // Lessons whose last number tests who knows the basics. A student who answers it right may skip
  // the lesson and those before it in its unit.
  std::vector<std::string> basics;
  // Rows of rows.json that no lesson teaches because a part of the room Learn answers them: row ->
  // one of course_places().
  std::map<std::string, std::string> covers;
};
// Error: course.json cannot be read, a unit needs one that does not come before it, "basics" names
// no lesson of the course, or "covers" names no part of the room.
Result<Course> read_course(const std::string& folder);
// The parts of the room Learn beside lessons: "map" of the course, index of "concepts",
// "bibliography", and "take-away", the sheet of what students take from the lessons.
const std::vector<std::string>& course_places();
// The lessons that a lesson builds on, by index: those before it in its unit, and all of the units
// that its unit needs, directly or through others.
std::vector<std::size_t> ancestors_of(const Course& course, std::size_t lesson);

// The folder of the lessons that came with the program: $PARALLELARIUM_LESSONS, else
// ../share/parallelarium/lessons beside the running program's folder, else lessons/ of the source
// tree above it. Empty if there are none.
std::string lessons_folder();
// lessons_folder()/schema.json. Error: it is missing or not JSON.
Result<nlohmann::json> lesson_schema();

}  // namespace parallelarium
