// SPDX-License-Identifier: GPL-3.0-or-later
// The collective as what its view is about: playing, running, words and exports.
#include "app/state/collective/collective_session.h"
#include "app/state/collective/collective_ways_out.h"
#include "app/state/session.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {
namespace {

constexpr int kRunRepeats = 20, kSweepRepeats = 10, kWarmupRepeats = 3;

// On the devices that its prediction is of. GPUs are asked for as the user did: `auto` takes cores
// where their check fails.
void put_on(const Placement& placed, const RunSettings& asked, CollectiveRequest& request) {
  request.backend = placed.on_gpus() ? asked.backend : placed.backend;
  if (placed.on_gpus()) request.devices = asked.devices;
}

bool speaks_of(const Formula& formula, const QString& key) {
  const std::string& about = formula.name.kind;
  if (key == QLatin1String("collective.bus_bandwidth")) return about == "bandwidth";
  if (key == QLatin1String("collective.sent_bytes.*")) return about == "traffic";
  if (key == QLatin1String("collective.steps")) return about == "steps";
  if (key == QLatin1String("collective.correct")) return false;
  return about == "time";
}

// Error: a lesson hides the figures.
Result<void> may_be_told(const Session& session) {
  if (session.locks().hidden(QStringLiteral("lane.run")) ||
      session.locks().hidden(QStringLiteral("lane.predicted")))
    return hidden_figures();
  return {};
}

}  // namespace

std::vector<Remedy> CollectiveSession::remedies(const Message& problem) {
  std::vector<Remedy> remedies;
  const auto take = [this, problem](const QString& field, const std::string& value) {
    // Of the choice as it is by then: a button stays while the sentence does.
    for (const WayOut& way : ways_out(choice_, problem))
      if (way.field == field && way.value == value) return change(way.choice, way.text);
  };
  for (const WayOut& way : ways_out(choice_, problem))
    remedies.push_back({way.text, way.field, std::bind(take, way.field, way.value)});
  return remedies;
}

TimeRange CollectiveSession::played() const { return {Nanoseconds(0), horizon()}; }

QString CollectiveSession::time_title() const { return tr("Time in the collective"); }

QString CollectiveSession::time_text(const Session& session) const {
  const int step = motion_->step_at(playhead_) + 1;
  if (motion_->steps() == 0) return tr("nothing to send");
  return session.locks().hidden(QStringLiteral("collective.steps"))
             ? tr("step %1").arg(step)
             : tr("step %1 of %2").arg(step).arg(motion_->steps());
}

QString CollectiveSession::widest_time_text() const {
  return tr("step %1 of %2").arg(888).arg(888);
}

QString CollectiveSession::length_key() const { return QStringLiteral("collective.seconds"); }

QString CollectiveSession::proof_tip() const {
  return tr("Every run of a collective is verified cell by cell");
}

EngineRequest CollectiveSession::run_request(const Placement& placement, const RunSettings& asked) {
  const CollectiveSpec spec = choice_.spec;
  CollectiveRequest request{spec, kRunRepeats, kWarmupRepeats, true, rounding_rival_of(spec)};
  put_on(placement, asked, request);
  return {"collective", to_json(request),
          [this, spec](const nlohmann::json& answer) -> Result<EngineRequest::Keep> {
            Result<CollectiveObservation> read = collective_observation_from_json(answer);
            if (!read) return read.error();
            const auto seen = std::make_shared<CollectiveObservation>(std::move(*read));
            return EngineRequest::Keep([=, this] { return keep_run(spec, std::move(*seen)); });
          }};
}

CollectiveRequest sweep_request(const CollectiveSpec& spec, const Placement& placement,
                                const RunSettings& asked) {
  CollectiveRequest request{spec, kSweepRepeats, kWarmupRepeats, false, {}};
  put_on(placement, asked, request);
  return request;
}

std::vector<Formula> CollectiveSession::formulas(const QString& quantity) const {
  std::vector<Formula> chosen;
  for (const Formula& formula : plan_->formulas)
    if (speaks_of(formula, quantity)) chosen.push_back(formula);
  return chosen;
}

QString CollectiveSession::trace_title() const {
  return tr("Collective: steps, costs and run (JSON)");
}
QString CollectiveSession::table_title() const { return tr("Collective: table of moves (CSV)"); }

// As `collective --json` prints it.
Result<std::string> CollectiveSession::trace_text(const Session& session) const {
  const Result<void> told = may_be_told(session);
  if (!told) return told.error();
  nlohmann::json json = to_json(plan_->collective, plan_->network, plan_->cost);
  if (const CollectiveRun* run = fresh_run()) {
    json["measured"] = to_json(run->seen);
    json["correct"] = run->seen.correct;
  }
  return json.dump(1) + '\n';
}

// Every move with its times, a line each.
Result<std::string> CollectiveSession::table_text(const Session& session) const {
  const Result<void> told = may_be_told(session);
  if (!told) return told.error();
  std::string text =
      "source,step,from,to,chunk,bytes,combined,waited_nanoseconds,begin_nanoseconds,"
      "end_nanoseconds\n";
  const auto add = [&](const CollectiveMotion& motion) {
    for (int step = 0; step < plan_->steps(); ++step)
      for (int at = 0; at < int(plan_->collective.steps[std::size_t(step)].size()); ++at) {
        const Move& move = motion.move({step, at});
        const Span span = motion.span_of({step, at});
        text +=
            fmt::format("{},{},{},{},{},{},{},{},{},{}\n", name_of(motion.source()), step + 1,
                        move.from, move.to, move.chunk, move.bytes, move.reduce ? 1 : 0,
                        motion.waited({step, at}).count(), span.begin.count(), span.end.count());
      }
  };
  add(CollectiveMotion(plan_, plan_->cost.timeline));
  if (const CollectiveRun* run = fresh_run()) add(CollectiveMotion(run->plan, run->seen.timeline));
  return text;
}

}  // namespace parallelarium
