// SPDX-License-Identifier: GPL-3.0-or-later
// The search of the room Plan: what is asked for, whether it is under way, and what was found. Each
// Session has one.
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
  static const PlanSearch& of(const Session& session) { return of(const_cast<Session&>(session)); }

  const PlanWish& wish() const { return wish_; }
  // Sets what is asked for next. An answer stays, and is_stale() then. What is trained today takes
  // the new model and keeps its layout.
  void set_wish(const PlanWish& wish);
  // Makes the wish the Setup's model, machine, ranks and batch, unless something else was asked for
  // or its machine is no preset of a cluster.
  void begin_with(const Setup& setup);
  // Asks how far what is trained today is from the best. If the answer is for the same model, ranks
  // and batch, it is asked at once. Otherwise a search for these and for its framework begins.
  // `text` is what it was read from.
  void compare_with(const Setup& today, const QString& text);
  // Whether what is trained today is being predicted for the comparison with the answer.
  bool comparing() const { return comparing_; }
  // Ends the comparison. If no answer to the wish is then left, it puts back what compare_with()
  // has set (model, GPUs, batch and axes), except for what was set since then.
  void forget_today();
  void start();   // not while the engine does something else
  void cancel();  // plans found so far, if any, are the answer
  bool searching() const { return searching_; }
  double progress() const;
  QString progress_text() const;
  // Why nothing can be searched now. Empty: a search can begin.
  QString refusal() const;
  // Why the last search has no answer, or empty.
  const QString& error() const { return error_; }

  // The answer of the last search. If the wish differs only in allowing less memory, it is the
  // answer for that memory.
  const std::optional<PlanAnswer>& answer() const { return answer_; }
  const PlanWish& answered() const { return answered_; }  // the wish that was searched
  // What the view is about: what was searched; if there is nothing, what is being searched;
  // otherwise the wish.
  const PlanWish& subject() const;
  // The wish whose limits hold for the plans: what is wished, if they are plans of it, so that a
  // limit counts at once; else what was searched.
  const PlanWish& limits() const { return is_outdated() ? answered_ : wish_; }
  // Whether the wish differs from what was searched. The layout that is trained today does not
  // count, since it changes no plan.
  bool is_stale() const { return answer_ && !is_limited() && !asks_the_same(answered_, wish_); }
  // Whether its plans are for other settings, and not only for other memory. They then cannot be
  // used.
  bool is_outdated() const { return is_stale() && !differs_in_limit_alone(); }
  // Whether the search under way has other settings than the wish.
  bool searches_other() const;
  bool is_limited() const { return answer_ && answer_->capacity_bytes < answer_->searched_bytes; }
  // The bytes of a device that the wish allows, and whether the wish differs from what was searched
  // in nothing else. With another objective than time it then needs another search all the same.
  std::int64_t limit_bytes() const;
  bool differs_in_limit_alone() const;

  // The selected plan, one of selectable(), or null. If the chosen plan does not fit a smaller
  // limit, the fastest is selected instead, and displaced() is the chosen one.
  const FoundPlan* selected() const;
  const FoundPlan* displaced() const;
  void select(const Setup& setup);
  const FoundPlan* best() const;  // the fastest, or null
  // The plan that is selected after a search: the simplest of those that cannot be told apart from
  // the fastest; if there is none, the fastest, or null.
  const FoundPlan* first_choice() const;
  // Whether the views beside Search are about the selected plan. They are as soon as there is one,
  // until something else is set in Explore.
  bool shows_plan() const { return shows_plan_ && selected() != nullptr; }
  // Whether they are, and the plan is for other settings.
  bool shows_outdated() const { return shows_plan() && is_outdated(); }
  void show_plan(bool plan);
  // The prediction of a Setup of the search, op by op. Null while it is being made and if it cannot
  // be made; changed() tells when it is there.
  std::shared_ptr<const Prediction> prediction_of(const Setup& setup);
  PlanPredictions& predictions() { return predictions_; }
  // Pins the prediction of a Setup of the search as soon as there is one.
  void pin(const Setup& setup);
  // All plans that can be selected: the best as they are shown, the rest of the front by time, the
  // recommended ones, those that keep to a rule of thumb, what is trained today if it fits, the
  // change that helps it most, the plan of value_answer(), and that of an earlier value answer if
  // it is selected. With a smaller limit, only those that fit.
  std::vector<const FoundPlan*> selectable() const;
  bool is_today(const FoundPlan& plan) const;
  // What the answer says about what is trained today. Null: it was not asked about that.
  const ExplainedPlan* today() const;
  // Moves the selection among selectable().
  void select_next(int direction);
  // Why the selected plan is not the fastest. Empty if neighbours() says more.
  std::vector<PlanWhy> why_selected() const;
  // Asks why the best plan does not have this value of an axis. The selection stays. The answer's
  // plan is one of selectable(). A known answer is not searched for again.
  bool can_ask_value() const;
  void ask_value(const QString& axis, const QString& value);
  // The axis and value that are being asked about. None: a search is under way, or nothing is.
  const std::optional<AxisValue>& asking() const { return asking_; }
  // The last value answer. Null: nothing was asked about this answer.
  const ValueAnswer* value_answer() const { return value_ ? &*value_ : nullptr; }
  // What each change of one axis that the search tries would do to the selected plan, fastest
  // first. Null: not known. An answer has this for the best plan and its direct neighbours.
  // try_neighbours() asks for that of another plan.
  const std::vector<PlanWhy>* neighbours() const;
  bool can_try_neighbours() const;
  void try_neighbours();
  // Puts a Setup into the Session as one undo step: that of the selected plan, which must be there,
  // or the example of a class of candidates, which may be a refused one.
  void use();
  void open_example(const Setup& example);

  // What the wish means, for texts: the model, the tokens of a sequence, and the bytes of a device.
  Result<Model> model() const;
  Result<Machine> machine() const;
  std::int64_t sequence() const;
  std::int64_t device_bytes() const;
  bool has_experts() const;  // if not, EP is no axis
  // Says how much of a device's memory the wish lets a plan fill, and what is not counted.
  QString memory_text() const;

 Q_SIGNALS:
  void changed();
  void used();
  void published_wanted(const QString& model);  // published runs of the model with this title

 private:
  explicit PlanSearch(Session& session);
  void keep(PlanAnswer answer, const PlanWish& wish);
  // The parameters of the answered search with the present memory limit. None if it is no Setup.
  std::optional<nlohmann::json> answered_parameters() const;
  void keep_value(ValueAnswer answer);
  void forget_asked();  // forgets neighbours and values of an answer that is gone
  std::vector<const FoundPlan*> all_plans() const;  // with those that do not fit a smaller limit
  void put_today_on_model();
  bool is_best(const FoundPlan& plan) const;
  void hear();
  Session& session_;
  PlanWish wish_, answered_;
  // The wish before compare_with(), and the wish that it made.
  struct Compared {
    PlanWish before, with;
  };
  std::optional<Compared> compared_;
  PlanWish without_today() const;
  void predict_today();
  void limit_answer();
  std::optional<PlanAnswer> answer_, searched_;  // searched_: as the engine sent it
  std::optional<Setup> selected_;
  // Neighbours and values that were asked for, by the memory limit of the search.
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
  std::optional<FoundPlan> asked_before_;  // plan of an earlier answer that was selected
  bool searching_ = false, trying_ = false, comparing_ = false, shows_plan_ = false;
  std::optional<Setup> to_pin_;  // to be pinned once it is predicted
  QString error_;
  PlanWish asked_;  // the wish of the search under way
  std::vector<KnownValue> known_values_;
  std::optional<AxisValue> asking_;
};

}  // namespace parallelarium
