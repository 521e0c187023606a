// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of one rank: where they come from, and what holds for each.
#include <QCoreApplication>

#include "app/views/shared/quantities/step_quantities.h"

namespace parallelarium {

namespace {

struct OfRank {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

}  // namespace

RankSides sides_of(const Session& session, int rank_index) {
  RankSides sides;
  const RunRecord* record = session.runs().current();
  sides.prediction = session.subject().prediction().get();
  if (!record || session.runs().current_is_stale() || !record->observed()) return sides;
  sides.run = record;
  const auto& ours = sides.prediction->program.ranks;
  const auto& theirs = record->prediction->program.ranks;
  for (std::size_t at = 0; at < theirs.size(); ++at)
    if (rank_index < int(ours.size()) && theirs[at].rank == ours[std::size_t(rank_index)].rank)
      sides.run_rank = int(at);
  return sides;
}

void finish(const Session& session, const RankSides& sides, Quantity& quantity) {
  if (!sides.run)
    quantity.observed = {{},
                         session.runs().current() ? OfRank::tr("run is of other settings")
                                                  : OfRank::tr("not run yet"),
                         {}};
  if (!session.problems().empty())
    quantity.predicted = {{}, OfRank::tr("settings are not valid"), {}};
  const auto hide = [&](Figure& figure, const char* lane) {
    if (figure.text.isEmpty()) return;
    if (session.locks().hidden(quantity.key) || session.locks().hidden(QLatin1String(lane)))
      figure = hidden_figure();
  };
  hide(quantity.predicted, "lane.predicted");
  hide(quantity.observed, "lane.run");
  if (quantity.predicted.text.size() < 2 || quantity.observed.text.size() < 2)
    quantity.difference.clear();
  quantity.guess = session.guess_at(quantity.key);
}

}  // namespace parallelarium
