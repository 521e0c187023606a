// SPDX-License-Identifier: GPL-3.0-or-later
// Plays a lesson on the Session: sets what each step wants, hides and locks until an answer is
// committed, judges answers, predictions and runs, and keeps the guesses. It knows no widget.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/lesson/player/lesson_progress.h"
#include "app/state/collective/collective_session.h"
#include "app/state/session.h"
#include "app/state/step/order_edit.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/record_setup.h"

namespace parallelarium {

class LessonPlayer : public QObject {
  Q_OBJECT

 public:
  // What happened at one step.
  struct StepState {
    bool visited = false;
    bool passed = false;  // a document was opened behind it: solved, but by nobody
    bool solved = false;  // the student may go on
    int attempts = 0, hints = 0;
    int misses = 0;      // runs that did not pass the check
    bool unmet = false;  // went on with such a run
    Answer answer;       // the latest
    Answer first;        // of a prediction: the one that counts
    std::optional<Judgement> judgement;
    std::optional<bool> right;                     // what it said, also before a play was resumed
    std::optional<double> guess;                   // that the first prediction stands for
    std::optional<double> observed;                // by a run, of what the prediction was asked
    Settings left_with;                            // when the student last left the step
    std::optional<Settings> committed;             // with the answer, where the step sets a plan
    std::shared_ptr<const CollectivePlan> judged;  // of the collective's run that was judged
    nlohmann::json run;                            // that was judged, as it is handed in
    std::string date;                              // of it
    OrderTries tries;                              // of a build, when the student last left it
  };

  // A lesson that was played to its end.
  struct Finished {
    QString title, folder, summary;  // the summary: Markdown
    nlohmann::json answers;
  };

  explicit LessonPlayer(Session& session, QObject* parent = nullptr);

  // Starts the lesson in that folder at its first step. `seed` draws its values; none: those of the
  // student's class, else by chance.
  // Error: the lesson cannot be read, or this computer cannot play it.
  Result<void> open(const QString& folder, std::optional<std::uint64_t> seed = std::nullopt);
  // Goes on where the student left it, with the same values and answers; from the beginning where
  // nothing is known. Errors: as open().
  Result<void> resume(const QString& folder);
  // Stays where it is if that lesson is open, resumes it if it was begun, else opens it.
  // Errors: as open().
  Result<void> go_on(const QString& folder);
  // Asks one question of each of these lessons with new values, one after another; next() ends one
  // and keeps how it went. There must be a folder or more. Errors: as open(), or the first lesson
  // asks for no number.
  Result<void> review(const QStringList& folders);
  // The same with the last number of each; who has it right may skip the lesson.
  Result<void> place(const QStringList& folders);
  // Which question of review() or place() this is, from 1, and how many there are; 0 of 0
  // otherwise.
  std::pair<int, int> asking() const {
    return asked_.isEmpty() ? std::pair(0, 0)
                            : std::pair(asked_at_ + 1, static_cast<int>(asked_.size()));
  }
  bool reviews() const { return reviews_; }  // also while it places
  bool places() const { return places_; }
  // Whether the lesson that is open is taken as an exam, or the next will be: each question is
  // answered once, nothing is said about it, there are no hints, and the numbers stay.
  bool exam() const;
  // Not while a question of an exam is open: leaving shows what it hides.
  bool may_leave() const;
  // What was answered, and whether it was played to its end: of the class's exam in one, else of
  // practice. The record is null if there is none.
  nlohmann::json record(const Lesson& lesson) const;
  bool is_done(const Lesson& lesson) const;
  // How the lesson was answered when it was played to its end; none of exams, see LessonProgress.
  std::optional<Mastery> mastery(const Lesson& lesson) const;
  std::size_t reached(const Lesson& lesson) const;  // steps entered, from the first on
  // Whether there is something to go on with. Who looks at the first step of a lesson that is done
  // has not begun it anew.
  bool is_begun(const Lesson& lesson) const;
  // Whether the verdict on the step's answer is told.
  bool tells_verdict() const;
  // Leaves the lesson and keeps the Setup; hidden figures and locked settings come back.
  void close();
  // Also forgets the lesson that was finished last: somebody else plays now.
  void clear();
  // Starts the open lesson again, with new values.
  void reset();
  // Reads the open lesson again, which somebody writes: its step and numbers stay. `anew`: the step
  // is set up and asked again; else only texts have changed, and answers stay. Error: it cannot be
  // read or played, and what was read last stays. Not in an exam or a review.
  Result<void> read_again(bool anew);
  // Writes what is set into the lesson's file, see record_setup(). A lesson must be open.
  Result<std::vector<std::string>> record_as(RecordAs as) const;

  bool is_open() const { return lesson_.has_value(); }
  // The following require is_open().
  const Lesson& lesson() const { return *lesson_; }
  std::size_t step_index() const { return at_; }
  const Step& step() const { return lesson_->steps[at_]; }
  const StepState& state() const { return states_[at_]; }
  const StepState& state(std::size_t step) const { return states_[step]; }
  const Symbols& drawn() const { return drawn_; }
  bool at_end() const {
    return reviews_ ? asked_at_ + 1 >= asked_.size() : at_ + 1 == lesson_->steps.size();
  }

  QString lesson_title() const;
  // Titles and Markdown of the step with its numbers put in, in the user's language.
  QString title() const { return title(at_); }
  QString title(std::size_t step) const;
  QString body() const;
  // The step's options, in the order that they are shown in.
  std::vector<Option> options() const { return options_drawn(step(), seed_); }
  QString option_text(const std::string& option) const;
  QString part_text(const std::string& part) const;
  // What the plain number that the step or one part of it asks for counts: "layers"; empty where it
  // has a unit.
  QString counted(const std::string& part = {}) const;
  QString hint(int number) const;  // 1 to 3
  // Of a read step where notes are often wrong, else the model answer; empty if there is none.
  QString model_answer() const;
  // What is said about the latest answer: the lesson's words, the limit that a run missed, then the
  // engine's sentences.
  QString feedback() const;

  // What a goal or an order must fulfil, each with whether it does now.
  struct Condition {
    QString text, state;  // "At most 30 forwards long", "✓", "✗ 33", "not yet known"
    QString heard;        // "Data must be 4, is 1: not yet."
    bool holds = false;
  };
  std::vector<Condition> conditions() const;
  // Whether what was judged wrong has been mended since: every condition holds now.
  bool mended() const;

  // Why what is set cannot be committed with the answer, as a sentence; empty if it can.
  QString plan_problem() const;
  // Judges an answer (predict, explain), or what is set and predicted (goal), or an order (build).
  void commit(const Answer& answer);
  // A question was answered wrongly and its answer is not shown yet: it may be tried again, or the
  // answer be shown, which solves the step. Only the first answer counts.
  bool may_show_answer() const;
  void show_answer();
  // What kept the run from its times that was judged last and missed a check, or none.
  std::optional<Message> disturbance() const;
  // Whether a run step may be left with a run that missed its check: after one that was disturbed,
  // or two, since a busy computer may never pass it. The answers say so.
  // A goal or an order of an exam may be left once it was checked.
  bool may_continue() const;
  void continue_unmet();
  void run();  // of a run step: starts it; the result is judged when it comes
  void show_hint();
  void next();  // at the end: finishes the lesson and closes it
  // The lesson finished last, until another is opened; else null.
  const Finished* finished_lesson() const { return finished_ ? &*finished_ : nullptr; }
  void back();
  // In front of a class: steps may be shown without their answers, and nothing is kept. At its end
  // the lesson stands where it stood before.
  void set_presents(bool presents);
  // So many steps on or back, as for one who has done all before it. Nothing beyond the ends.
  void show_step(int by);

  // The whole play as JSON: version, seed, answers, attempts, hints, source and machine of runs,
  // and the seconds it has taken.
  nlohmann::json answers() const;
  // The devices that predictions of lessons are of.
  const Computer& computer() const { return session_.placer().computer(); }
  LessonProgress& progress() { return progress_; }
  const LessonProgress& progress() const { return progress_; }
  // "de" of de_DE: the language of texts where the lesson has it.
  static std::string language();
  // What a lesson of this computer can have.

 Q_SIGNALS:
  void read_anew();         // the lesson of the open step has other texts
  void changed();           // another step, an answer, a hint; nothing is open any more
  void judged(bool right);  // for an alert
  void tab_wanted(const QString& tab);
  void guess_changed(const QString& metric, double value);
  void failed(const QString& sentence);
  void not_kept(const QString& sentence);  // progress could not be written
  void finished();                         // the last step was left
  void solving(bool begins);               // the planner, what is drawn: the window waits for it
  void reviewed();                         // the question of a review was left

 private:
  void draw_lesson();
  void enter(std::size_t step, bool set_up);
  void pass(std::size_t at);
  void skip(std::size_t at);
  void take_up(std::size_t at, const nlohmann::json& kept, bool is_last);
  void note_base();
  void leave();
  void apply_hidden_and_allowed();
  void set_settings(const Result<Settings>& settings);
  // What the step begins with: of a plan that the student has committed, where it goes on from one.
  Result<Settings> begun_at(std::size_t step, bool revealed = false) const;
  Settings settings() const;  // the Session's
  // The context to judge the current step in: the Session's settings, and what is known of them.
  Context context() const;
  Facts predicted_facts() const;
  // What an exam judges an answer in: what would be revealed, which is not shown.
  Result<Context> unseen_context() const;
  bool is_taken(const Lesson& lesson) const;  // as an exam of this class, to its end or not
  void judge_now(const Answer& answer);
  bool may_retry() const;  // before the answer is shown
  void reveal();           // sets what the answer is seen in
  void settle(bool solved);
  QString feedback_before_answer() const;
  void keep_guess();
  void note_run();
  void note_observed();
  std::optional<std::size_t> question_of_run(std::size_t step) const;
  bool first_right(std::size_t step) const;  // at the first commit
  const Answer& answer_told(std::size_t step) const;
  std::optional<double> guess_of(std::size_t step, const Answer& answer) const;
  std::optional<double> own_guess(std::size_t step) const;
  QString answer_words(std::size_t step) const;
  std::vector<CheckOutcome> outcomes() const;  // of every check of the step
  std::vector<Condition> order_conditions() const;
  void set_order(const std::vector<std::string>& lines);
  void set_task();
  void begin_paused();
  void end_review();
  Result<void> ask_each(const QStringList& folders, bool places);
  Result<void> ask_one(const QString& folder);
  Result<void> note_known(const std::string& id);
  void watch();  // a run is judged as soon as it is there
  void save();
  void keep(bool is_done, const nlohmann::json& answers);
  void keep_review();
  void restore();
  std::optional<std::size_t> step_of(const nlohmann::json& step) const;
  QString missed_limits() const;
  // Of a plan that is committed: its figures beside those predicted. Else empty.
  QString own_figures() const;
  // "In GB this is right": of wrong figures that are right in another unit.
  QString unit_remarks() const;
  // Of a small copy: the order of axes that was written down for its plan. Else empty.
  QString own_order() const;
  QString filled(const std::string& markdown, const Symbols& symbols) const;
  const StepText& text(std::size_t step) const;
  QString summary() const;
  QString exam_summary() const;                // how much was answered, and what to do with it
  QString summary_of(std::size_t step) const;  // one entry of it; empty: nothing was asked
  const StepState* run_after(std::size_t step) const;
  Symbols symbols_at(const Result<Settings>& at) const;  // an error: of what is set
  Symbols body_symbols() const;
  Symbols part_symbols() const;
  std::optional<double> latest_guess() const;

  nlohmann::json set_at(std::size_t index) const;

  Session& session_;
  LessonProgress progress_;
  std::optional<Lesson> lesson_;
  std::uint64_t new_seed(const Lesson& lesson) const;
  std::uint64_t seed_ = 0;
  Symbols drawn_;
  // The facts of the prediction that they were asked of last: every try asks again.
  mutable std::weak_ptr<const Prediction> told_;
  mutable Facts told_facts_;
  std::vector<StepState> states_;
  std::size_t at_ = 0;
  std::map<std::string, nlohmann::json> kept_;  // what runs showed, by Step::keep
  bool busy_ = false;                           // the player itself is changing the Session
  bool reviews_ = false;
  bool presents_ = false;
  bool resumes_ = false;  // what was answered is being read: nothing of it is written
  struct Play;            // what stood before a lesson was presented
  std::shared_ptr<const Play> before_;
  bool exam_ = false;  // of the lesson that is open or was finished last
  bool places_ = false;
  QStringList asked_;  // folders of the lessons that are asked about
  int asked_at_ = 0;   // of them
  QElapsedTimer since_start_;
  std::optional<Finished> finished_;
};

// "Step time ≤ 2.1 s" of a check.
QString condition_words(const CheckOutcome& outcome);

}  // namespace parallelarium
