// SPDX-License-Identifier: GPL-3.0-or-later
// What a view is about: the training step of the Setup or something of its own, such as a
// collective. The topic of the view in front plays, runs, is explained and exported: top bar,
// panels and exports ask it, and know none by name.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/state/run/run_request.h"
#include "engine/plan/placement/placement.h"
#include "engine/plan/program/program.h"
#include "engine/predict/predict.h"

namespace parallelarium {

class Session;
struct TimeRange;

// What would mend a wrong setting.
struct Remedy {
  QString text;     // "2 ranks", "Ring"
  QString setting;  // that it sets, where a lesson may lock it, as LessonLocks::allowed() names it
  std::function<void()> take;
};

class Topic : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Whether it is the training step. Else nothing of the Setup is used: its panel is folded, and
  // nothing is pinned or proved.
  virtual bool is_step() const = 0;
  // Why what is set is not valid, and what would mend that, or another message about it.
  virtual std::optional<Message> problem() const = 0;
  virtual std::vector<Remedy> remedies(const Message& problem) = 0;

  // --- playing ---

  virtual Nanoseconds playhead() const = 0;
  virtual void set_playhead(Nanoseconds time) = 0;
  virtual TimeRange played() const = 0;
  // Where something begins or ends next after, or before, `time`; at the ends `time` or the end.
  virtual Nanoseconds next_event(Nanoseconds time, bool forward) const = 0;
  virtual double telling_share() const = 0;  // of played(): where a picture shows most
  virtual QString time_title() const = 0;    // "Time in the step"
  virtual QString time_text(const Session& session) const = 0;  // "59 ms of 240 ms"
  virtual QString widest_time_text() const = 0;
  virtual QString length_key() const = 0;  // the figure that a lesson hides with the length

  // --- running ---

  virtual int ranks() const = 0;
  virtual QString proof_tip() const = 0;  // how a run of it is proved
  // `asked`: the backend and GPUs that the user asked for. Only where !is_step(): the Session
  // itself asks for runs of the Setup.
  virtual EngineRequest run_request(const Placement& placement, const RunSettings& asked) = 0;

  // --- words and figures ---

  // The closed forms that belong to a quantity of the strip.
  virtual std::vector<Formula> formulas(const QString& quantity) const = 0;
  virtual QString trace_title() const = 0;  // in the export dialog: "Timeline: Chrome trace JSON"
  virtual QString table_title() const = 0;  // "Timeline: table (CSV)"
  // The file's text, of the run if there is one of what is set, else of the prediction. Requires
  // !problem(). Error: a lesson hides the figures.
  virtual Result<std::string> trace_text(const Session& session) const = 0;
  virtual Result<std::string> table_text(const Session& session) const = 0;

 Q_SIGNALS:
  void changed();  // what is set, problem(), played()
  void run_changed();
  void playhead_changed();
};

// What an export says in place of figures that a lesson hides.
Message hidden_figures();

}  // namespace parallelarium
