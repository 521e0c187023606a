// SPDX-License-Identifier: GPL-3.0-or-later
// The strip of the Collectives view: time, bus bandwidth, sent per rank, result, steps.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/state/collective/collective_session.h"
#include "app/views/collectives/collectives_view.h"

namespace parallelarium {
namespace {

struct Quantities {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

std::int64_t most(const std::vector<std::int64_t>& bytes) {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

// Times are compared only where both are of the same links, and the ranks had cores of their own.
bool times_compare(const CollectiveSession& collectives, Source source) {
  return collectives.times_compare() && source == Source::kMeasured;
}

void set_predicted(std::vector<Quantity>& all, const CollectivePlan& plan, const QLocale& locale) {
  const QString word = prediction_source_text(plan.word), sized = Quantities::tr("predicted");
  const std::int64_t sent = most(plan.cost.sent_bytes);
  all[0].predicted = {seconds_text(plan.cost.seconds, locale), word,
                      Quantities::tr("%1 s").arg(QString::number(plan.cost.seconds, 'g', 12))};
  all[1].predicted = {rate_text(plan.cost.bus_bandwidth, locale), word,
                      Quantities::tr("algorithm bandwidth %1")
                          .arg(rate_text(plan.cost.algorithm_bandwidth, locale))};
  all[2].predicted = {bytes_text(sent, locale), sized, exact_bytes_text(sent, locale)};
  all[3].predicted = {Quantities::tr("exact"), sized,
                      Quantities::tr("proven on sets of contributions, for every input")};
  all[4].predicted = {count_text(plan.steps(), locale), sized, {}};
  all[0].predicted_value = plan.cost.seconds;
  all[1].predicted_value = plan.cost.bus_bandwidth;
  all[2].predicted_value = double(sent);
  all[3].predicted_value = 1;
  all[4].predicted_value = plan.steps();
}

void set_observed(std::vector<Quantity>& all, const CollectivePlan& plan, const CollectiveRun& run,
                  bool compare, const QLocale& locale) {
  const CollectiveObservation& seen = run.seen;
  const QString source = source_text(seen.source);
  const std::int64_t sent = most(plan.cost.sent_bytes), counted = most(seen.sent_bytes);
  all[0].observed = {
      seconds_text(seen.seconds, locale), source,
      Quantities::tr("median of %1 repeats; shortest %2, longest %3")
          .arg(seen.timeline.steps)
          .arg(seconds_text(seen.seconds_min, locale), seconds_text(seen.seconds_max, locale))};
  all[1].observed = {
      rate_text(seen.bus_bandwidth, locale), source,
      Quantities::tr("algorithm bandwidth %1").arg(rate_text(seen.algorithm_bandwidth, locale))};
  all[2].observed = {bytes_text(counted, locale), Quantities::tr("counted"),
                     exact_bytes_text(counted, locale)};
  all[3].observed = {seen.correct ? Quantities::tr("exact") : Quantities::tr("wrong"),
                     Quantities::tr("verified"),
                     Quantities::tr("every cell of every rank was compared")};
  all[4].observed = {count_text(run.plan->steps(), locale), Quantities::tr("counted"), {}};
  all[0].difference = compare ? relative_text(plan.cost.seconds, seen.seconds, locale) : QString();
  all[1].difference =
      compare ? relative_text(plan.cost.bus_bandwidth, seen.bus_bandwidth, locale) : QString();
  all[2].difference = bytes_difference_text(sent, counted, locale);
  all[3].difference = seen.wrong_cells == 1
                          ? Quantities::tr("1 cell")
                          : Quantities::tr("%1 cells").arg(count_text(seen.wrong_cells, locale));
  all[4].difference = count_text(run.plan->steps() - plan.steps(), locale);
  all[0].observed_value = seen.seconds;
  all[1].observed_value = seen.bus_bandwidth;
  all[2].observed_value = double(counted);
  all[3].observed_value = seen.correct;
  all[4].observed_value = run.plan->steps();
}

}  // namespace

std::vector<Quantity> collective_quantities(const Session& session, const QLocale& locale) {
  const CollectiveSession& collectives = session.collectives();
  const CollectivePlan& plan = *collectives.plan();
  const CollectiveRun* run = collectives.problem() ? nullptr : collectives.fresh_run();
  std::vector<Quantity> all(5);
  const char* const keys[] = {"collective.seconds", "collective.bus_bandwidth",
                              "collective.sent_bytes.*", "collective.correct", "collective.steps"};
  const QString titles[] = {Quantities::tr("Time"), Quantities::tr("Bus bandwidth"),
                            Quantities::tr("Sent per rank"), Quantities::tr("Result"),
                            Quantities::tr("Steps")};
  for (std::size_t at = 0; at < all.size(); ++at) {
    all[at].key = QLatin1String(keys[at]);
    all[at].title = titles[at];
  }
  set_predicted(all, plan, locale);
  if (run) set_observed(all, plan, *run, times_compare(collectives, run->seen.source), locale);
  for (Quantity& quantity : all) {
    if (!run)
      quantity.observed.source = collectives.run() ? Quantities::tr("run is of other settings")
                                                   : Quantities::tr("not run yet");
    if (collectives.problem())
      quantity.predicted = {{}, Quantities::tr("settings are not valid"), {}};
    quantity.guess = session.guess_at(quantity.key);
    const auto hide = [&](Figure& figure, const char* lane) {
      if (figure.text.isEmpty()) return;
      if (!session.locks().hidden(quantity.key) && !session.locks().hidden(QLatin1String(lane)))
        return;
      figure = hidden_figure();
      quantity.difference.clear();
    };
    hide(quantity.predicted, "lane.predicted");
    hide(quantity.observed, "lane.run");
  }
  return all;
}

}  // namespace parallelarium
