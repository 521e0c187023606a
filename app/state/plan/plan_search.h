// SPDX-License-Identifier: GPL-3.0-or-later
// The search of the room Plan: what is asked for, whether it is under way, and what came of it.
// Each Session has one.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <map>
#include <optional>

#include "app/state/plan/plan_answer.h"

namespace parallelarium {

class Session;

struct PlanWish {
  // A preset's name, or the model's shape as JSON.
  QString model = QStringLiteral("llama3-8b");
  // A preset's name, or {"based_on": one, changes} as JSON.
  QString machine = QStringLiteral("dgx-h100");
  QString gpus = QStringLiteral("8");  // or a range
  std::int64_t global_batch = 128;
  std::int64_t sequence = 0;         // 0: the model's
  std::int64_t memory_bytes = 0;     // of a device that may be used; 0: all that the Machine says
  std::map<QString, QString> fixed;  // axis and its value; what is not here is free
  std::optional<Setup> today;        // what is trained today, for comparison
  bool operator==(const PlanWish&) const = default;
};

class PlanSearch : public QObject {
  Q_OBJECT

 public:
  static PlanSearch& of(Session& session);

  const PlanWish& wish() const { return wish_; }
  // Sets what is asked for next; an answer stays, and is_stale() then.
  void set_wish(const PlanWish& wish);
  // Asks about the Setup's model, machine, ranks and batch, unless something else was asked for or
  // its machine is no preset of a cluster.
  void begin_with(const Setup& setup);
  // Asks about model, ranks and batch of what is trained today, and how far it is from the best.
  void compare_with(const Setup& today);
  void start();   // not while the engine does something else
  void cancel();  // what was found until then is the answer, where something was
  bool searching() const { return searching_; }
  double progress() const;
  QString progress_text() const;
  // Why nothing can be searched now; empty: it can.
  QString refusal() const;
  // Why the last search has no answer, or empty.
  const QString& error() const { return error_; }

  const std::optional<PlanAnswer>& answer() const { return answer_; }
  const PlanWish& answered() const { return answered_; }  // the wish that the answer is of
  bool is_stale() const { return answer_ && answered_ != wish_; }

  // The plan that is looked at, or null.
  const FoundPlan* selected() const;
  void select(const Setup& setup);
  // Moves among the best, from the one that is selected.
  void select_next(int direction);
  // Tells what one change of the selected plan would do. An answer brings that of the best plan;
  // try_neighbours() asks for that of another. Null where it is not known.
  const std::vector<PlanWhy>* neighbours() const;
  bool can_try_neighbours() const;
  void try_neighbours();
  // Puts its Setup into the Session, as one undo step. A plan must be selected.
  void use();

  // What the wish leads to, for words: the model, tokens of a sequence, and bytes of a device.
  Result<Model> model() const;
  Result<Machine> machine() const;
  std::int64_t sequence() const;
  std::int64_t device_bytes() const;

 Q_SIGNALS:
  void changed();
  void used();

 private:
  explicit PlanSearch(Session& session);
  void keep(PlanAnswer answer, const PlanWish& wish);
  bool is_best(const FoundPlan& plan) const;
  void hear();
  Session& session_;
  PlanWish wish_, answered_;
  std::optional<PlanAnswer> answer_;
  std::optional<Setup> selected_;
  std::vector<std::pair<Setup, std::vector<PlanWhy>>> neighbours_;  // that were asked for
  bool searching_ = false, trying_ = false;
  QString error_;
};

// How a wish names that model or machine: a preset by its name, another by what it is.
QString wish_of(const Model& model);
QString wish_of(const MachineChoice& machine);
// The Setup that a search of this wish begins with. Error: there is no such model or machine.
Result<Setup> base_of(const PlanWish& wish);

}  // namespace parallelarium
