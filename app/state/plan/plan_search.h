// SPDX-License-Identifier: GPL-3.0-or-later
// The search of the room Plan: what is asked for, whether it is under way, and what came of it.
// Each Session has one.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <optional>

#include "app/state/plan/plan_answer.h"
#include "app/state/plan/plan_predictions.h"
#include "app/state/plan/plan_wish.h"

namespace parallelarium {

class Session;

class PlanSearch : public QObject {
  Q_OBJECT

 public:
  struct AxisValue {
    QString axis, value;  // "tp", "8"
  };
  static PlanSearch& of(Session& session);

  const PlanWish& wish() const { return wish_; }
  // Sets what is asked for next; an answer stays, and is_stale() then. What is trained today takes
  // the model that is set: its layout stays.
  void set_wish(const PlanWish& wish);
  // Asks about the Setup's model, machine, ranks and batch, unless something else was asked for or
  // its machine is no preset of a cluster.
  void begin_with(const Setup& setup);
  // Asks how far what is trained today is from the best: at once of the answer, where that is of
  // its model, ranks and batch; else of a search of these and of its framework. `text`: from which
  // it was read.
  void compare_with(const Setup& today, const QString& text);
  // Today's is being predicted, to be compared with the answer.
  bool comparing() const { return comparing_; }
  // Compares with nothing. Where that leaves no answer of what is asked for, it puts back what
  // compare_with() has set: model, GPUs, batch and axes, except for what was set since then.
  void forget_today();
  void start();   // not while the engine does something else
  void cancel();  // what was found until then is the answer, where something was
  bool searching() const { return searching_; }
  double progress() const;
  QString progress_text() const;
  // Why nothing can be searched now; empty: it can.
  QString refusal() const;
  // Why the last search has no answer, or empty.
  const QString& error() const { return error_; }

  // The last search's, or what it says of less memory where the wish allows less and is the same
  // otherwise.
  const std::optional<PlanAnswer>& answer() const { return answer_; }
  const PlanWish& answered() const { return answered_; }  // the wish that was searched
  // What the view is about: what was searched, or else what is being searched, or else the wish.
  const PlanWish& subject() const;
  // The wish differs from what was searched. The layout that is trained today changes no plan.
  bool is_stale() const { return answer_ && !is_limited() && !asks_the_same(answered_, wish_); }
  // Its plans are of other settings, and not of other memory alone: they cannot be used.
  bool is_outdated() const { return is_stale() && !differs_in_limit_alone(); }
  // The search under way is of other settings than the wish.
  bool searches_other() const;
  bool is_limited() const { return answer_ && answer_->capacity_bytes < answer_->searched_bytes; }
  // Bytes of a device that the wish allows, and whether it differs in nothing else from what was
  // searched.
  std::int64_t limit_bytes() const;
  bool differs_in_limit_alone() const;

  // The plan that is looked at, or null: one of selectable(). In the place of one that was chosen
  // and does not fit a smaller limit the fastest is looked at; displaced() is that one.
  const FoundPlan* selected() const;
  const FoundPlan* displaced() const;
  void select(const Setup& setup);
  const FoundPlan* best() const;  // the fastest, or null
  // The plan that is selected after a search: the simplest of those that cannot be told apart from
  // the fastest, or the fastest, or null.
  const FoundPlan* first_choice() const;
  // Whether the views beside Search are about the selected plan. They are once there is one, until
  // something else is set in Explore.
  bool shows_plan() const { return shows_plan_ && selected() != nullptr; }
  // They are, and it is of other settings.
  bool shows_outdated() const { return shows_plan() && is_outdated(); }
  void show_plan(bool plan);
  // A Setup of the search op by op; null while it is predicted, of which changed() tells, and where
  // it cannot be.
  std::shared_ptr<const Prediction> prediction_of(const Setup& setup);
  PlanPredictions& predictions() { return predictions_; }
  // Pins the prediction of a Setup of the search, as soon as there is one.
  void pin(const Setup& setup);
  // The best as they are shown, the rest of the front by time, those that are recommended, those
  // that keep to a rule of thumb, what is trained today where it fits, the change that serves it
  // best, the plan of value_answer(), and that of an answer before it which was selected. Of a
  // smaller limit those that fit it.
  std::vector<const FoundPlan*> selectable() const;
  bool is_today(const FoundPlan& plan) const;
  // What the answer says of what is trained today; null: it was not asked about this.
  const ExplainedPlan* today() const;
  // Moves among them, from the one that is selected.
  void select_next(int direction);
  // Why the selected plan is not the fastest; empty where neighbours() says more.
  std::vector<PlanWhy> why_selected() const;
  // Asks why the best plan has not this value of an axis. What is selected stays so; the answer's
  // plan is one of selectable().
  // An answer that is known is not searched for again.
  bool can_ask_value() const;
  void ask_value(const QString& axis, const QString& value);
  // The axis and value that are asked about now; none: a search is under way, or nothing.
  const std::optional<AxisValue>& asking() const { return asking_; }
  // What was answered last; null: nothing was asked of this answer.
  const ValueAnswer* value_answer() const { return value_ ? &*value_ : nullptr; }
  // Tells what each change of one axis that the search tries would do to the selected plan, the
  // fastest first. An answer brings that of the best plan with those next to it;
  // try_neighbours() asks for that of another. Null where it is not known.
  const std::vector<PlanWhy>* neighbours() const;
  bool can_try_neighbours() const;
  void try_neighbours();
  // Puts a Setup into the Session, as one undo step: that of the selected plan, which must be
  // there, or the example of a class of candidates, which may be one that is refused.
  void use();
  void open_example(const Setup& example);

  // What the wish leads to, for words: the model, tokens of a sequence, and bytes of a device.
  Result<Model> model() const;
  Result<Machine> machine() const;
  std::int64_t sequence() const;
  std::int64_t device_bytes() const;
  bool has_experts() const;  // else EP is no axis of it
  // What of a device's memory the wish lets a plan fill, and what is not counted.
  QString memory_text() const;

 Q_SIGNALS:
  void changed();
  void used();
  void published_wanted(const QString& model);  // published runs of the model of this title

 private:
  explicit PlanSearch(Session& session);
  void keep(PlanAnswer answer, const PlanWish& wish);
  // The search that was answered, within the memory limit of now; none where it is no Setup.
  std::optional<nlohmann::json> answered_parameters() const;
  void keep_value(ValueAnswer answer);
  void forget_asked();  // neighbours and values: they are about an answer that is gone
  std::vector<const FoundPlan*> all_plans() const;  // also those that do not fit a smaller limit
  void put_today_on_model();
  bool is_best(const FoundPlan& plan) const;
  void hear();
  Session& session_;
  PlanWish wish_, answered_;
  // The wish before compare_with(), and what that made of it.
  struct Compared {
    PlanWish before, with;
  };
  std::optional<Compared> compared_;
  PlanWish without_today() const;
  void predict_today();
  void limit_answer();
  std::optional<PlanAnswer> answer_, searched_;  // the latter as the engine told it
  std::optional<Setup> selected_;
  // Neighbours and values that were asked for, of the search with so many bytes.
  struct TriedChanges {
    std::int64_t limit = 0;
    Setup setup;
    std::vector<PlanWhy> why;
  };
  struct KnownValue {
    std::int64_t limit = 0;
    ValueAnswer answer;
  };
  std::vector<TriedChanges> neighbours_;
  PlanPredictions predictions_;
  std::optional<ValueAnswer> value_;
  std::optional<FoundPlan> asked_before_;  // of an earlier answer, which was selected
  bool searching_ = false, trying_ = false, comparing_ = false, shows_plan_ = false;
  std::optional<Setup> to_pin_;  // once it is predicted
  QString error_;
  PlanWish asked_;  // of the search under way
  std::vector<KnownValue> known_values_;
  std::optional<AxisValue> asking_;
};

}  // namespace parallelarium
