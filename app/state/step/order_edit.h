// SPDX-License-Identifier: GPL-3.0-or-later
// The order that the user builds. It is the one in the Setup, may be unfinished, and comes with
// what the engine says about it. Every change is an undo step, so documents and undo keep it like
// any setting.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <memory>
#include <optional>
#include <vector>

#include "engine/plan/order/order_faults.h"
#include "engine/plan/setup/setup.h"
#include "engine/schedules/draft.h"
#include "engine/schedules/floor.h"

namespace parallelarium {

class Session;

// Whole orders that were tried, and the length of the shortest, in forwards.
struct OrderTries {
  int count = 0;
  std::optional<double> best;
};

// What a lesson asks of an order. Times are in units of one forward.
struct OrderTask {
  std::vector<Durations> durations;  // by stage
  HeldLimits limits;                 // micro-batches held by each rank; empty: none
  std::optional<double> par;         // length that the order may have
  bool split = false;                // whether backwards are placed in parts at first
  bool ghosts = true;                // what may come next is shown
  bool solved = false;               // the order can no longer be changed
  Order start;                       // the order with which the student began
  // The times at which each rank works in an order that solves the task. What it does then is not
  // shown.
  std::vector<std::vector<TimedAction>> goal;
  OrderTries tries;  // of earlier visits
};

inline constexpr int kHangSeconds = 5;

class OrderEdit : public QObject {
  Q_OBJECT

 public:
  // `session` must outlive it.
  explicit OrderEdit(Session& session);
  ~OrderEdit() override;

  // Whether the Pipeline view shows the editor.
  bool open() const { return open_; }
  void set_open(bool open);
  // Sets a lesson's task, opens the editor and begins again. None: the user builds freely.
  void set_task(std::optional<OrderTask> task);
  // Says whether the task is solved now. There must be a task.
  void set_solved(bool solved);
  const std::optional<OrderTask>& task() const { return task_; }

  // --- what there is ---

  const Order& draft() const { return draft_; }
  bool split() const { return split_; }  // backwards are placed in two parts
  const std::vector<Durations>& durations() const { return durations_; }
  const DraftTimes& times() const { return times_; }
  const std::vector<OrderFault>& faults() const { return faults_; }  // of what is placed so far
  const std::vector<DraftPlace>& path() const { return path_; }      // the critical one
  const std::vector<ChosenWait>& chosen_waits() const { return chosen_; }
  const HeldLimits& limits() const { return limits_; }
  // The average length of a forward, which is the unit of all times that people read. Times are in
  // seconds; for a lesson they are in forwards.
  double unit() const { return unit_; }
  double in_forwards(double seconds) const { return seconds / unit_; }
  // The bound once it is found; and whether it is still being sought.
  const std::optional<Floor>& floor() const { return floor_; }
  bool looks_for_floor() const { return looking_; }
  // The idle share of a step that is as long as floor(), with all work. Requires a floor.
  double floor_bubble() const { return floor_bubble_; }
  std::optional<double> par() const { return task_ ? task_->par : std::nullopt; }
  // The rank that holds more than it may, or -1.
  int over_limit() const;
  // Of the user's complete orders of this work that keep the limits: the length of the shortest,
  // and how many there were.
  const OrderTries& tries() const { return tries_; }
  const QString& recognised() const { return recognised_; }  // title of a schedule, or empty
  // Whether it may be changed.
  bool editable() const;
  // Why nothing can be built here. Empty: an order can be built.
  const QString& problem() const { return problem_; }

  // --- changing it ---

  void place(std::size_t rank, const Action& action);  // at the end of its line
  void insert(std::size_t rank, std::size_t index, std::vector<Action> actions);
  void replace(std::size_t rank, std::size_t index, const Action& action);
  void erase(std::size_t rank, std::size_t first, std::size_t count);
  void move(std::size_t rank, std::size_t from, std::size_t to);  // `to`: its index afterwards
  // Sets a line from typed text. If the text cannot be read, it returns why and changes nothing.
  QString set_line(std::size_t rank, const QString& text);
  void clear(std::size_t rank);
  void clear_all();
  void repeat_to_the_end();
  // Restores the begin of the lesson's step. There must be a task.
  void reset();
  void set_split(bool split);
  // Sets the whole order, such as that of a file. Returns why it cannot be taken, or an empty text.
  QString set_order(const Order& order);

  // --- an order that waits for ever ---

  // Whether ranks can run it nevertheless, to show that they wait: nothing else is wrong with it.
  bool can_hang() const;
  // Runs it on cores until no rank has moved for `seconds`. can_hang() must hold, and no job
  // may be under way.
  void let_it_hang(double seconds = kHangSeconds);
  // What each rank waited for when the order hung; empty for another order.
  const QStringList& hang_report() const { return hang_report_; }

  // "F3 on stage 2", "F3.1 on rank 2".
  QString words_of(std::size_t rank, const Action& action) const;
  // Waits for the floor (for tests and pictures).
  void wait();

 Q_SIGNALS:
  void changed();        // the draft and what follows from it, or open()
  void floor_changed();  // floor(), recognised()

 private:
  void begin();
  void follow();
  void read_setup();
  void forget_attempts();
  bool keeps_all() const;  // the order is complete, runs, and keeps the limits
  void refresh_durations();
  void judge();
  void look_for_floor(bool new_work);
  void change(Order draft, const QString& what);

  Session& session_;
  bool open_ = false, split_ = false, looking_ = false;
  std::optional<OrderTask> task_;
  Order draft_;
  std::vector<Durations> durations_;
  Setup priced_;       // the Setup of durations_, with one micro-batch
  std::string rates_;  // their Machine and placement of stages; empty: ask again
  int prices_ = 0;     // how often they were asked for
  std::string floor_key_;
  Order start_, seen_;  // the first order, and the last attempt
  DraftTimes times_;
  std::vector<OrderFault> faults_;
  std::vector<DraftPlace> path_;
  std::vector<ChosenWait> chosen_;
  HeldLimits limits_;
  double unit_ = 1;
  std::optional<Floor> floor_;
  double floor_bubble_ = 0;
  OrderTries tries_;
  QStringList hang_report_;
  QString recognised_, problem_;
  QThreadPool worker_;  // one thread
};

// The name of an order that was built here.
inline constexpr char kOwnOrderName[] = "your order";

}  // namespace parallelarium
