// SPDX-License-Identifier: GPL-3.0-or-later
// The strip of the Layer view.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/views/layer/layer_view.h"
#include "app/views/shared/step_quantities.h"

namespace parallelarium {
namespace {

struct QuantitiesWords {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

Quantity layer_quantity(const LayerPicture& picture, const QString& key, const QString& title,
                        bool hidden) {
  Quantity quantity;
  quantity.key = key;
  quantity.title = title;
  quantity.predicted.source = QuantitiesWords::tr("predicted");
  if (picture.dimmed) quantity.predicted.source = QuantitiesWords::tr("settings are not valid");
  if (!picture.drawn()) quantity.predicted.source = QuantitiesWords::tr("whole stages only");
  if (hidden) quantity.predicted = hidden_figure();
  quantity.observed.source = QuantitiesWords::tr("not counted by layer");
  return quantity;
}

bool tells(const LayerPicture& picture, bool hidden) {
  return picture.drawn() && !picture.dimmed && !hidden;
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
  quantity.observed.source = QuantitiesWords::tr("not run yet");
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

}  // namespace

std::vector<Quantity> layer_quantities(const Session& session, const LayerPicture& picture,
                                       const QLocale& locale) {
  const LayerRankStep total =
      picture.drawn() ? layer_total(*picture.layer, picture.look.rank) : LayerRankStep{};
  Quantity sent =
      layer_quantity(picture, QStringLiteral("layer.sent_bytes"),
                     picture.look.choice.backward ? QuantitiesWords::tr("Sent per rank, backward")
                                                  : QuantitiesWords::tr("Sent per rank, forward"),
                     picture.hides_traffic);
  if (tells(picture, picture.hides_traffic)) {
    sent.predicted_value = double(total.sent_bytes);
    sent.predicted.text = bytes_text(total.sent_bytes, locale);
    sent.predicted.exact = exact_bytes_text(total.sent_bytes, locale);
  }
  Quantity kept = layer_quantity(picture, QStringLiteral("layer.kept_bytes"),
                                 QuantitiesWords::tr("Kept per rank"), picture.hides_memory);
  if (picture.look.choice.backward) {
    kept.predicted.source = QuantitiesWords::tr("by the forward");
  } else if (tells(picture, picture.hides_memory)) {
    kept.predicted_value = double(total.kept_bytes);
    kept.predicted.text = bytes_text(total.kept_bytes, locale);
    kept.predicted.exact = exact_bytes_text(total.kept_bytes, locale);
  }
  Quantity flops =
      layer_quantity(picture, QStringLiteral("layer.flops"),
                     picture.look.choice.backward ? QuantitiesWords::tr("FLOP per rank, backward")
                                                  : QuantitiesWords::tr("FLOP per rank, forward"),
                     picture.hides_flops);
  if (tells(picture, picture.hides_flops)) {
    flops.predicted_value = total.flops;
    flops.predicted.text = value_text(total.flops, "flops", locale);
  }
  if (picture.drawn())  // ranks of a group may have unlike shares
    for (Quantity* of_rank : {&sent, &kept, &flops})
      if (!of_rank->predicted.text.isEmpty())
        of_rank->note = QuantitiesWords::tr("rank %1").arg(
            picture.layer->ranks[std::size_t(picture.look.rank)].rank);
  std::vector<Quantity> strip{time_of_layer(picture, locale), std::move(sent), std::move(kept),
                              std::move(flops), step_quantities(session, locale)[4]};
  for (Quantity& quantity : strip) quantity.guess = session.guess_at(quantity.key);
  return strip;
}

}  // namespace parallelarium
