// SPDX-License-Identifier: GPL-3.0-or-later
// The quantities that the strip shows for the Memory and Mesh views.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/quantities/quantities.h"
#include "app/views/memory/memory_data.h"

namespace parallelarium {
namespace {

struct Views {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

struct Sides {
  const RunRecord* run = nullptr;  // of the present Setup
  const Prediction* prediction = nullptr;
  int run_rank = -1;  // the same rank in the run, or -1
};

Sides sides_of(const Session& session, int rank_index) {
  Sides sides;
  const RunRecord* record = session.run_record();
  sides.prediction = session.prediction().get();
  if (!record || session.run_is_stale() || !record->observed()) return sides;
  sides.run = record;
  const auto& ours = sides.prediction->program.ranks;
  const auto& theirs = record->prediction->program.ranks;
  for (std::size_t at = 0; at < theirs.size(); ++at)
    if (rank_index < int(ours.size()) && theirs[at].rank == ours[std::size_t(rank_index)].rank)
      sides.run_rank = int(at);
  return sides;
}

// What holds for every figure here: a lesson hides it, the Setup is invalid, nothing ran.
void finish(const Session& session, const Sides& sides, Quantity& quantity) {
  if (!sides.run)
    quantity.observed = {
        {},
        session.run_record() ? Views::tr("run is of other settings") : Views::tr("not run yet"),
        {}};
  if (!session.problems().empty())
    quantity.predicted = {{}, Views::tr("settings are not valid"), {}};
  const auto hide = [&](Figure& figure, const char* lane) {
    if (figure.text.isEmpty()) return;
    if (session.hidden(quantity.key) || session.hidden(QLatin1String(lane)))
      figure = hidden_figure();
  };
  hide(quantity.predicted, "lane.predicted");
  hide(quantity.observed, "lane.run");
  if (quantity.predicted.text.size() < 2 || quantity.observed.text.size() < 2)
    quantity.difference.clear();
  quantity.guess = session.guess_at(quantity.key);
}

// Bytes of parameters, gradients and optimizer of one rank for each of its parameters.
double per_parameter(const MemoryRow& row, const RankProgram& rank) {
  double parameters = 0;
  for (const ParameterSlice& slice : rank.parameters) parameters += double(slice.count);
  double bytes = 0;
  for (const Category category :
       {Category::kParameters, Category::kGradients, Category::kOptimizer})
    bytes += double(row.bytes[std::size_t(category)]);
  return parameters > 0 ? bytes / parameters : 0;
}

QString per_text(double bytes, const QLocale& locale) {
  return number_text(bytes, locale) + QChar(0x00a0) + QStringLiteral("B");
}

Quantity per_parameter_quantity(const Session& session, int rank_index, const QLocale& locale) {
  Quantity quantity;
  quantity.key = QStringLiteral("memory.bytes_per_parameter");
  quantity.title = Views::tr("Bytes per parameter");
  const Sides sides = sides_of(session, rank_index);
  const Program& program = sides.prediction->program;
  if (rank_index < int(program.ranks.size())) {
    quantity.predicted_value = per_parameter(memory_of(program)[std::size_t(rank_index)],
                                             program.ranks[std::size_t(rank_index)]);
    quantity.predicted = {
        per_text(quantity.predicted_value, locale), Views::tr("predicted"),
        Views::tr("parameters, gradients and optimizer of this rank at their "
                  "peaks; the formula gives %1 = %2")
            .arg(bytes_formula(sides.prediction->setup),
                 number_text(bytes_per_parameter(sides.prediction->setup), locale))};
  }
  if (sides.run_rank >= 0 && sides.run_rank < int(sides.run->observation.memory.size())) {
    quantity.observed_value =
        per_parameter(sides.run->observation.memory[std::size_t(sides.run_rank)],
                      sides.run->prediction->program.ranks[std::size_t(sides.run_rank)]);
    quantity.observed = {per_text(quantity.observed_value, locale), Views::tr("counted"), {}};
    quantity.difference = per_text(quantity.observed_value - quantity.predicted_value, locale);
  }
  finish(session, sides, quantity);
  return quantity;
}

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
  quantity.title = Views::tr("Sent along %1").arg(name.toUpper());
  const Sides sides = sides_of(session, rank_index);
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
  if (session.hidden(QStringLiteral("traffic.sent_bytes")) && !quantity.predicted.text.isEmpty())
    quantity.predicted = hidden_figure();
  if (session.hidden(QStringLiteral("traffic.sent_bytes")) && !quantity.observed.text.isEmpty())
    quantity.observed = hidden_figure();
  finish(session, sides, quantity);
  return quantity;
}

}  // namespace

std::vector<Quantity> memory_quantities(const Session& session, int rank_index,
                                        const QLocale& locale) {
  const std::vector<Quantity> all = pipeline_quantities(session, locale, rank_index);
  return {all[2], all[3], all[0], per_parameter_quantity(session, rank_index, locale), all[4]};
}

std::vector<Quantity> mesh_quantities(const Session& session, int rank_index,
                                      const QLocale& locale) {
  const std::vector<Quantity> all = pipeline_quantities(session, locale, rank_index);
  return {all[0], all[3], axis_quantity(session, rank_index, Axis::kTp, locale),
          axis_quantity(session, rank_index, Axis::kDp, locale),
          axis_quantity(session, rank_index, Axis::kPp, locale)};
}

}  // namespace parallelarium
