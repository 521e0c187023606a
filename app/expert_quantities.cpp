// SPDX-License-Identifier: GPL-3.0-or-later
// The quantities that the strip shows for the Experts view.
#include <QCoreApplication>

#include "app/figures.h"
#include "app/quantities.h"
#include "app/views/expert_paint.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

Quantity counted(const QString& key, const QString& title, const QString& text,
                 const QString& exact, const ExpertPicture& picture) {
  Quantity quantity;
  quantity.key = key;
  quantity.title = title;
  quantity.predicted = {text, Words::tr("by the skew"), exact};
  if (picture.hidden) quantity.predicted = {QStringLiteral("?"), Words::tr("hidden for now"), {}};
  if (picture.dimmed) quantity.predicted = {{}, Words::tr("settings are not valid"), {}};
  quantity.observed = {{}, Words::tr("not counted yet"), {}};
  return quantity;
}

Quantity layer_time(const ExpertPicture& picture, const QLocale& locale) {
  Quantity quantity =
      counted(QStringLiteral("layer.seconds"), Words::tr("Layer time, forward"), {}, {}, picture);
  quantity.observed = {{}, Words::tr("not run yet"), {}};
  if (picture.hidden || picture.dimmed) return quantity;
  quantity.predicted.source = picture.predicted_word;
  if (picture.predicted) {
    quantity.predicted_value = double(picture.predicted->length().count()) / 1e9;
    quantity.predicted.text = time_text(picture.predicted->length(), locale);
  }
  if (!picture.observed) return quantity;
  const Source source = picture.observed->source;
  quantity.observed_value = double(picture.observed->length().count()) / 1e9;
  quantity.observed = {time_text(picture.observed->length(), locale), source_text(source), {}};
  if (source == Source::kPaced)
    quantity.difference = Words::tr("set by pace");
  else if (source == Source::kMeasured)
    quantity.difference = relative_text(quantity.predicted_value, quantity.observed_value, locale);
  return quantity;
}

}  // namespace

std::vector<Quantity> expert_quantities(const Session& session, const ExpertPicture& picture,
                                        const QLocale& locale) {
  const std::vector<Quantity> all = pipeline_quantities(session, locale);
  if (!picture.routed) return all;
  const RoutedLayer& layer = *picture.routed;
  const std::int64_t bytes = dispatched_bytes(layer), lost = dropped_of(layer);
  const double share = double(lost) / double(std::max<std::int64_t>(1, assignments(layer)));
  return {
      layer_time(picture, locale),
      counted(QStringLiteral("experts.fullest"), Words::tr("Fullest rank / mean"),
              number_text(fullest_over_mean(layer), locale), {}, picture),
      counted(QStringLiteral("experts.dispatched_bytes"), Words::tr("Dispatched, one way"),
              bytes_text(bytes, locale), exact_bytes_text(bytes, locale), picture),
      counted(QStringLiteral("experts.dropped"), Words::tr("Dropped"), share_text(share, locale),
              Words::tr("%1 of %2 choices")
                  .arg(count_text(lost, locale), count_text(assignments(layer), locale)),
              picture),
      all[4]};
}

}  // namespace parallelarium
