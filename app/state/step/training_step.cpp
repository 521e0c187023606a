// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/step/training_step.h"

#include <algorithm>
#include <cassert>

#include "app/look/figures.h"
#include "app/state/session.h"
#include "app/views/timeline/picture/whole_bars.h"
#include "engine/wire/export/csv.h"
#include "engine/wire/export/trace.h"

namespace parallelarium {
namespace {

QString moment_text(const QString& now, const QString& whole) {
  return TrainingStep::tr("%1 of %2", "6 ms of 10 ms").arg(now, whole);
}

// Whether a formula is about a quantity of the strip. What is held at once, and how many parameters
// there are, is what memory is made of.
bool is_about(const Formula& formula, const QString& key) {
  const std::string& about = formula.name.kind;
  if (key.startsWith(QLatin1String("bubble"))) return about == "bubble";
  if (key.startsWith(QLatin1String("traffic"))) return about == "traffic" || about == "capacity";
  if (key.startsWith(QLatin1String("memory")))
    return about == "memory" || about == "held" || about == "parameters";
  if (key.startsWith(QLatin1String("step"))) return about == "time" || about == "work";
  return false;
}

// The Program and Timeline that an export is of. Error: a lesson hides them.
struct Shown {
  const Prediction* prediction;
  const Timeline* timeline;
};
Result<Shown> shown(const Session& session) {
  const RunRecord* record = session.runs().current();
  const bool observed = record && !session.runs().current_is_stale();
  const HiddenOfOps hides = session.locks().hidden_of_ops();
  if (hides.times || hides.bytes ||
      session.locks().hidden(observed ? QStringLiteral("lane.run")
                                      : QStringLiteral("lane.predicted")))
    return hidden_figures();
  const Prediction& prediction = observed ? *record->prediction : *session.subject().prediction();
  return Shown{&prediction, observed ? &record->observation.timeline : &prediction.timeline};
}

}  // namespace

Message hidden_figures() {
  return message("export-hidden",
                 "This step of the lesson hides the figures; commit your answer, then export.");
}

Nanoseconds next_event(const Session& session, Nanoseconds time, bool forward) {
  const RunRecord* run = session.runs().current();
  const bool fresh = run && run->observed() && !session.runs().current_is_stale() &&
                     !session.locks().hidden(QStringLiteral("lane.run"));
  if (!fresh && session.locks().hidden(QStringLiteral("lane.predicted"))) return time;
  const Prediction& prediction = fresh ? *run->prediction : *session.subject().prediction();
  const Timeline& timeline = fresh ? run->observation.timeline : prediction.timeline;
  const TimeRange part = session.playback().played();
  // A person who looks at a part of the step looks at its pieces.
  const bool whole = part == TimeRange{Nanoseconds(0), session.subject().horizon()};
  Nanoseconds best = time;
  bool found = false;
  const auto offer = [&](Nanoseconds edge) {
    if (edge < part.begin || edge > part.end) return;
    if (forward ? edge <= time : edge >= time) return;
    if (!found || (forward ? edge < best : edge > best)) best = edge;
    found = true;
  };
  for (int rank = 0; rank < static_cast<int>(prediction.program.ranks.size()); ++rank) {
    std::vector<Bar> bars = bars_of(prediction.program, timeline, rank);
    std::erase_if(bars, [](const Bar& bar) { return bar.lane != Lane::kCompute; });
    for (const Bar& bar : whole ? whole_bars(bars, Zoom::kActions).bars : bars) {
      offer(bar.span.begin);
      offer(bar.span.end);
    }
  }
  return best;
}

TrainingStep::TrainingStep(Session& session) : session_(session) {
  connect(&session.playback(), &Playback::playhead_changed, this, &Topic::playhead_changed);
  connect(&session.playback(), &Playback::played_changed, this, &Topic::changed);
  connect(&session, &Session::prediction_changed, this, &Topic::changed);
  connect(&session, &Session::run_changed, this, &Topic::run_changed);
}

std::optional<Message> TrainingStep::problem() const {
  if (session_.problems().empty()) return {};
  return session_.problems().front();
}

std::vector<Remedy> TrainingStep::remedies(const Message& problem) {
  std::vector<Remedy> remedies;
  for (const std::string& value : problem.alternatives) {
    Setup mended = session_.setup();
    if (!set_field(mended, problem.field, value)) continue;  // what cannot be set mends nothing
    remedies.push_back({QString::fromStdString(value), {}, [this, field = problem.field, value] {
                          Setup next = session_.setup();
                          if (set_field(next, field, value))
                            session_.history().change(
                                next, QStringLiteral("%1 %2").arg(QString::fromStdString(field),
                                                                  QString::fromStdString(value)));
                        }});
  }
  return remedies;
}

Nanoseconds TrainingStep::playhead() const { return session_.playback().playhead(); }
void TrainingStep::set_playhead(Nanoseconds time) { session_.playback().set_playhead(time); }
TimeRange TrainingStep::played() const { return session_.playback().played(); }

Nanoseconds TrainingStep::next_event(Nanoseconds time, bool forward) const {
  return parallelarium::next_event(session_, time, forward);
}

QString TrainingStep::time_title() const { return tr("Time in the step"); }

QString TrainingStep::time_text(const Session& session) const {
  if (played().length() <= Nanoseconds(0) || session.locks().hidden(length_key()))
    return QStringLiteral("?");
  // Of what plays, as the slider shows it: the step, or the part of it that a view is about.
  return moment_text(parallelarium::time_text(std::clamp(playhead() - played().begin,
                                                         Nanoseconds(0), played().length())),
                     parallelarium::time_text(played().length()));
}

QString TrainingStep::widest_time_text() const {
  const QString usual = parallelarium::time_text(Nanoseconds(888'000'000));
  const QString whole = parallelarium::time_text(played().length());
  const QString& widest = whole.size() > usual.size() ? whole : usual;
  return moment_text(widest, widest);
}

QString TrainingStep::length_key() const { return QStringLiteral("step.seconds"); }

int TrainingStep::ranks() const { return session_.setup().mesh.ranks(); }

QString TrainingStep::proof_tip() const {
  return tr("Run, repeat it on one rank, and compare losses and gradients");
}

EngineRequest TrainingStep::run_request(const Placement&, const RunSettings&) {
  assert(false && "the Session asks for runs of the Setup");
  return {};
}

std::vector<Formula> TrainingStep::formulas(const QString& quantity) const {
  std::vector<Formula> chosen;
  for (const Formula& formula : session_.subject().prediction()->formulas)
    if (is_about(formula, quantity)) chosen.push_back(formula);
  return chosen;
}

QString TrainingStep::trace_title() const {
  return tr("Timeline: Chrome trace JSON, for Perfetto");
}
QString TrainingStep::table_title() const { return tr("Timeline: table (CSV)"); }

Result<std::string> TrainingStep::trace_text(const Session& session) const {
  const Result<Shown> of = shown(session);
  if (!of) return of.error();
  return to_chrome_trace(of->prediction->program, *of->timeline);
}

Result<std::string> TrainingStep::table_text(const Session& session) const {
  const Result<Shown> of = shown(session);
  if (!of) return of.error();
  return to_csv(of->prediction->program, *of->timeline);
}

}  // namespace parallelarium
