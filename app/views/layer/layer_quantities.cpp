// SPDX-License-Identifier: GPL-3.0-or-later
// The strip of the Layer view.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/views/layer/layer_view.h"
#include "app/views/shared/quantities/step_quantities.h"

namespace parallelarium {
namespace {

struct QuantitiesWords {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

// A figure of the chosen rank, which a lesson may hide. Its numbers come later.
Quantity layer_quantity(const LayerPicture& picture, const QString& key, const QString& title,
                        bool hidden) {
  Quantity quantity;
  quantity.key = key;
  quantity.title = title;
  quantity.predicted.source = QuantitiesWords::tr("predicted");
  if (picture.dimmed) quantity.predicted.source = QuantitiesWords::tr("settings are not valid");
  if (!picture.drawn()) quantity.predicted.source = QuantitiesWords::tr("whole stages only");
  if (hidden) quantity.predicted = hidden_figure();
  quantity.observed.source = picture.stale ? QuantitiesWords::tr("run is of other settings")
                                           : QuantitiesWords::tr("not run yet");
  return quantity;
}

bool tells(const LayerPicture& picture, bool hidden) {
  return picture.drawn() && !picture.dimmed && !hidden;
}

void set_bytes(Quantity& quantity, std::int64_t predicted, std::optional<std::int64_t> counted,
               const QString& word, const QLocale& locale) {
  quantity.predicted_value = double(predicted);
  quantity.predicted.text = bytes_text(predicted, locale);
  quantity.predicted.exact = exact_bytes_text(predicted, locale);
  if (!counted) return;
  quantity.observed_value = double(*counted);
  quantity.observed = {bytes_text(*counted, locale), word, exact_bytes_text(*counted, locale)};
  quantity.difference = bytes_difference_text(predicted, *counted, locale);
}

QString title_of_time(const LayerChoice& choice) {
  switch (choice.place) {
    case LayerPlace::kEmbedding:
      return choice.backward ? QuantitiesWords::tr("Embedding, backward")
                             : QuantitiesWords::tr("Embedding, forward");
    case LayerPlace::kHead:
      return choice.backward ? QuantitiesWords::tr("Head, loss, backward")
                             : QuantitiesWords::tr("Head, loss, forward");
    case LayerPlace::kLayer:
      break;
  }
  return choice.backward ? QuantitiesWords::tr("Layer time, backward")
                         : QuantitiesWords::tr("Layer time, forward");
}

Quantity time_of_layer(const LayerPicture& picture, const QLocale& locale) {
  Quantity quantity = layer_quantity(picture, QStringLiteral("layer.seconds"),
                                     title_of_time(picture.look.choice), picture.hides_time);
  if (!tells(picture, picture.hides_time) || !picture.predicted) return quantity;
  const auto length = [](const LayerSpans& times) { return times.window.end - times.window.begin; };
  quantity.predicted_value = seconds_of(length(*picture.predicted));
  quantity.predicted = {time_text(length(*picture.predicted), locale), picture.predicted_word, {}};
  if (!picture.observed) return quantity;
  const Source source = picture.observed->source;
  quantity.observed_value = seconds_of(length(*picture.observed));
  quantity.observed = {time_text(length(*picture.observed), locale), source_text(source), {}};
  if (!say_no_difference(source, quantity) && source == Source::kMeasured)
    quantity.difference = relative_text(quantity.predicted_value, quantity.observed_value, locale);
  return quantity;
}

Quantity sent_by_rank(const LayerPicture& picture, const QLocale& locale) {
  Quantity quantity =
      layer_quantity(picture, QStringLiteral("layer.sent_bytes"),
                     picture.look.choice.backward ? QuantitiesWords::tr("Sent per rank, backward")
                                                  : QuantitiesWords::tr("Sent per rank, forward"),
                     picture.hides_traffic);
  if (!tells(picture, picture.hides_traffic)) return quantity;
  const LayerCounted counted = picture.run ? picture.run->counted : LayerCounted{};
  if (picture.run) quantity.observed.source = QuantitiesWords::tr("run by an older version");
  set_bytes(
      quantity, layer_total(*picture.layer, picture.look.rank).sent_bytes, counted.sent_bytes,
      counted.counted ? QuantitiesWords::tr("counted") : QuantitiesWords::tr("partly by formula"),
      locale);
  return quantity;
}

// What the forward keeps is what the backward finds.
Quantity kept_by_rank(const LayerPicture& picture, const QLocale& locale) {
  Quantity quantity = layer_quantity(picture, QStringLiteral("layer.kept_bytes"),
                                     QuantitiesWords::tr("Kept per rank"), picture.hides_memory);
  if (!tells(picture, picture.hides_memory)) return quantity;
  std::optional<std::int64_t> counted;
  if (picture.run) counted = picture.run->counted.kept_bytes;
  set_bytes(quantity, picture.layer->ranks[std::size_t(picture.look.rank)].kept_bytes, counted,
            QuantitiesWords::tr("counted"), locale);
  return quantity;
}

// No run counts FLOPs; what it tells is how fast it did those of the layer.
Quantity speed_of_rank(const LayerPicture& picture, const QLocale& locale) {
  const bool hidden = picture.hides_flops || picture.hides_time;
  Quantity quantity =
      layer_quantity(picture, QStringLiteral("layer.flops_per_second"),
                     picture.look.choice.backward ? QuantitiesWords::tr("FLOP per second, backward")
                                                  : QuantitiesWords::tr("FLOP per second, forward"),
                     hidden);
  if (!tells(picture, hidden)) return quantity;
  const QString flops =
      value_text(layer_total(*picture.layer, picture.look.rank).flops, "flops", locale);
  quantity.predicted_value = picture.flops_per_second;
  quantity.predicted = {value_text(picture.flops_per_second, "flops", locale),
                        picture.predicted_word, flops};
  if (!picture.run) return quantity;
  const LayerRunFigures& run = *picture.run;
  quantity.observed_value = run.flops_per_second;
  quantity.observed = {value_text(run.flops_per_second, "flops", locale), source_text(run.source),
                       flops};
  if (!say_no_difference(run.source, quantity) && run.source == Source::kMeasured)
    quantity.difference = relative_text(quantity.predicted_value, quantity.observed_value, locale);
  return quantity;
}

}  // namespace

std::vector<Quantity> layer_quantities(const Session& session, const LayerPicture& picture,
                                       const QLocale& locale) {
  std::vector<Quantity> strip{time_of_layer(picture, locale), sent_by_rank(picture, locale),
                              kept_by_rank(picture, locale), speed_of_rank(picture, locale),
                              step_quantities(session, locale)[4]};
  if (picture.drawn())  // ranks of a group may have unlike shares
    for (std::size_t at = 1; at < 4; ++at)
      if (!strip[at].predicted.text.isEmpty())
        strip[at].note = QuantitiesWords::tr("rank %1").arg(
            picture.layer->ranks[std::size_t(picture.look.rank)].rank);
  for (Quantity& quantity : strip) quantity.guess = session.guess_at(quantity.key);
  return strip;
}

}  // namespace parallelarium
