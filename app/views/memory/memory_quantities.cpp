// SPDX-License-Identifier: GPL-3.0-or-later
// The strip of the Memory view: peak, sent, step time, bytes per parameter, loss; of one rank.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/views/memory/memory_data.h"
#include "app/views/memory/memory_view.h"
#include "app/views/shared/quantities/step_quantities.h"

namespace parallelarium {
namespace {

struct Views {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

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
  const RankSides sides = sides_of(session, rank_index);
  quantity.note = rank_place(*sides.prediction, rank_index);
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

}  // namespace

std::vector<Quantity> memory_quantities(const Session& session, int rank_index,
                                        const QLocale& locale) {
  const std::vector<Quantity> all = step_quantities(session, locale, rank_index);
  return {all[2], all[3], all[0], per_parameter_quantity(session, rank_index, locale), all[4]};
}

}  // namespace parallelarium
