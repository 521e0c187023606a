// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/quantities/loss_quantity.h"

#include <QCoreApplication>

#include "app/look/figures.h"

namespace parallelarium {

namespace {

struct LossTexts {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

}  // namespace

Quantity loss_quantity(const Session& session, const RunRecord* run, bool other_run,
                       const QLocale& locale) {
  Quantity loss;
  loss.key = QStringLiteral("losses");
  loss.title = LossTexts::tr("Loss");
  const auto four_digits = [&](double value) { return locale.toString(value, 'f', 3); };
  if (const std::vector<double>& live = session.jobs().live_losses(); !live.empty()) {
    loss.title = LossTexts::tr("Loss so far");
    loss.observed = {
        four_digits(live.back()), session.jobs().live_step_text(),
        LossTexts::tr("the run is under way; its first step had %1").arg(four_digits(live[0]))};
    loss.observed_value = live.back();
    return loss;
  }
  if (!run || run->observation.losses.empty()) {
    loss.observed.source =
        other_run ? LossTexts::tr("run is of other settings") : LossTexts::tr("not run yet");
    return loss;
  }
  const std::vector<double>& losses = run->observation.losses;
  loss.title = LossTexts::tr("Loss, last step");
  const int ranks = session.setup().mesh.ranks();
  loss.observed = {
      four_digits(losses.back()),
      ranks == 1 ? LossTexts::tr("run on one rank") : LossTexts::tr("run on %1 ranks").arg(ranks),
      QString::number(losses.back(), 'g', 17)};
  loss.observed_value = losses.back();
  if (!run->proof) {
    loss.predicted = {QStringLiteral("–"), LossTexts::tr("one rank"),
                      LossTexts::tr("Prove it repeats the run on one rank")};
    return loss;
  }
  const nlohmann::json& proof = *run->proof;
  const auto one = proof.find("losses_one_rank");
  if (one != proof.end() && one->is_array() && !one->empty() && one->back().is_number()) {
    loss.predicted_value = one->back().get<double>();
    loss.predicted = {four_digits(loss.predicted_value),
                      proof.value("in_16_bit", false) ? LossTexts::tr("one rank, fp32")
                                                      : LossTexts::tr("on one rank"),
                      QString::number(loss.predicted_value, 'g', 17)};
  }
  const auto difference = proof.find("loss_difference");
  if (difference != proof.end() && difference->is_number())
    loss.difference = number_text(difference->get<double>(), locale);
  return loss;
}

}  // namespace parallelarium
