// SPDX-License-Identifier: GPL-3.0-or-later
// What a view is about: the training step of the Setup or something of its own, such as a
// collective. The topic of the view in front is played, run, explained and exported. Top bar,
// panels and exports ask it, and know no topic by name.
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

// A change that would repair a wrong setting.
struct Remedy {
  QString text;  // "2 ranks", "Ring"
  // The setting that it sets, as LessonLocks::allowed() names it; a lesson may lock it.
  QString setting;
  std::function<void()> take;
};

class Topic : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Whether it is the training step. Any other topic uses nothing of the Setup: its panel is
  // folded, and nothing is pinned or proved.
  virtual bool is_step() const = 0;
  // problem() says why the present settings are not valid. remedies() are what would repair that,
  // or another message about it.
  virtual std::optional<Message> problem() const = 0;
  virtual std::vector<Remedy> remedies(const Message& problem) = 0;

  // --- playing ---

  virtual Nanoseconds playhead() const = 0;
  virtual void set_playhead(Nanoseconds time) = 0;
  virtual TimeRange played() const = 0;
  // The next time after, or before, `time` at which something begins or ends. At the ends it is
  // `time` or the end.
  virtual Nanoseconds next_event(Nanoseconds time, bool forward) const = 0;
  virtual double telling_share() const = 0;  // the share of played() at which a picture shows most
  virtual QString time_title() const = 0;    // "Time in the step"
  virtual QString time_text(const Session& session) const = 0;  // "59 ms of 240 ms"
  virtual QString widest_time_text() const = 0;
  // The figure that a lesson hides together with the length.
  virtual QString length_key() const = 0;

  // --- running ---

  virtual int ranks() const = 0;
  virtual QString proof_tip() const = 0;  // how a run of it is proved
  // `asked`: the backend and GPUs that the user asked for. is_step() must not hold, since the
  // Session itself asks for runs of the Setup.
  virtual EngineRequest run_request(const Placement& placement, const RunSettings& asked) = 0;

  // --- words and figures ---

  // The closed forms that belong to a quantity of the strip.
  virtual std::vector<Formula> formulas(const QString& quantity) const = 0;
  virtual QString trace_title() const = 0;  // in the export dialog: "Timeline: Chrome trace JSON"
  virtual QString table_title() const = 0;  // "Timeline: table (CSV)"
  // The text of the file: that of the run of the present settings if there is one, else that of the
  // prediction. problem() must not hold. Error: a lesson hides the figures.
  virtual Result<std::string> trace_text(const Session& session) const = 0;
  virtual Result<std::string> table_text(const Session& session) const = 0;

 Q_SIGNALS:
  void changed();  // the present settings, problem(), played()
  void run_changed();
  void playhead_changed();
};

// What an export says instead of figures that a lesson hides.
Message hidden_figures();

}  // namespace parallelarium
