// SPDX-License-Identifier: GPL-3.0-or-later
// The strip of the Mesh view: step time, all that one rank sends, and its part along TP, DP and PP.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/shared/quantities/step_quantities.h"

namespace parallelarium {
namespace {

struct Views {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

std::int64_t sent_along(const std::vector<TrafficRow>& rows, Axis axis) {
  std::int64_t sum = 0;
  for (const TrafficRow& row : rows)
    if (row.axis == axis) sum += row.sent_bytes;
  return sum;
}

Quantity axis_quantity(const Session& session, int rank_index, Axis axis, const QLocale& locale) {
  Quantity quantity;
  const QString name = QString::fromUtf8(name_of(axis).data());
  quantity.key = QStringLiteral("traffic.%1_bytes").arg(name);
  const RankSides sides = sides_of(session, rank_index);
  const QString place = rank_place(*sides.prediction, rank_index);
  quantity.title = place.isEmpty() ? Views::tr("Sent along %1").arg(name.toUpper())
                                   : Views::tr("Sent along %1, %2").arg(name.toUpper(), place);
  const Program& program = sides.prediction->program;
  if (rank_index < int(program.ranks.size())) {
    const std::int64_t bytes = sent_along(traffic_of(program, rank_index), axis);
    quantity.predicted_value = double(bytes);
    quantity.predicted = {bytes_text(bytes, locale), Views::tr("predicted"),
                          exact_bytes_text(bytes, locale)};
  }
  if (sides.run_rank >= 0 && sides.run_rank < int(sides.run->observation.traffic.size())) {
    const std::vector<TrafficRow>& rows =
        sides.run->observation.traffic[std::size_t(sides.run_rank)];
    const std::int64_t bytes = sent_along(rows, axis);
    quantity.observed_value = double(bytes);
    quantity.observed = {bytes_text(bytes, locale),
                         all_counted(rows) ? Views::tr("counted") : Views::tr("partly by formula"),
                         exact_bytes_text(bytes, locale)};
    quantity.difference =
        bytes_difference_text(std::int64_t(quantity.predicted_value), bytes, locale);
  }
  if (session.locks().hidden(QStringLiteral("traffic.sent_bytes")) &&
      !quantity.predicted.text.isEmpty())
    quantity.predicted = hidden_figure();
  if (session.locks().hidden(QStringLiteral("traffic.sent_bytes")) &&
      !quantity.observed.text.isEmpty())
    quantity.observed = hidden_figure();
  finish(session, sides, quantity);
  return quantity;
}

}  // namespace

std::vector<Quantity> mesh_quantities(const Session& session, int rank_index,
                                      const QLocale& locale) {
  const std::vector<Quantity> all = step_quantities(session, locale, rank_index);
  return {all[0], all[3], axis_quantity(session, rank_index, Axis::kTp, locale),
          axis_quantity(session, rank_index, Axis::kDp, locale),
          axis_quantity(session, rank_index, Axis::kPp, locale)};
}

}  // namespace parallelarium
