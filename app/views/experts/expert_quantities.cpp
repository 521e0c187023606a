// SPDX-License-Identifier: GPL-3.0-or-later
// The quantities that the strip shows for the Experts view.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/views/experts/experts_view.h"
#include "app/views/shared/quantities/step_quantities.h"

namespace parallelarium {
namespace {

struct QuantitiesWords {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

Quantity counted(const QString& key, const QString& title, const QString& text,
                 const QString& exact, const ExpertPicture& picture) {
  Quantity quantity;
  quantity.key = key;
  quantity.title = title;
  const QString skew = QuantitiesWords::tr(
      "Assumed: the skew's share of the tokens goes to expert 0, the others evenly to all.");
  quantity.predicted = {text, QuantitiesWords::tr("by the skew"),
                        exact.isEmpty() ? skew : exact + QLatin1Char('\n') + skew};
  if (picture.hidden) quantity.predicted = hidden_figure();
  if (picture.dimmed) quantity.predicted = {{}, QuantitiesWords::tr("settings are not valid"), {}};
  quantity.observed = {{}, QuantitiesWords::tr("not counted yet"), {}};
  return quantity;
}

Quantity layer_time(const ExpertPicture& picture, const QLocale& locale) {
  Quantity quantity = counted(QStringLiteral("layer.seconds"),
                              QuantitiesWords::tr("Layer time, forward"), {}, {}, picture);
  quantity.observed = {{}, QuantitiesWords::tr("not run yet"), {}};
  if (picture.hidden || picture.dimmed) return quantity;
  if (picture.hides_times) {
    quantity.predicted = hidden_figure();
    if (picture.observed) quantity.observed = hidden_figure();
    return quantity;
  }
  quantity.predicted.source = picture.predicted_word;
  if (picture.predicted) {
    quantity.predicted_value = double(picture.predicted->length().count()) / 1e9;
    quantity.predicted.text = time_text(picture.predicted->length(), locale);
  }
  if (!picture.observed) return quantity;
  const Source source = picture.observed->source;
  quantity.observed_value = double(picture.observed->length().count()) / 1e9;
  quantity.observed = {time_text(picture.observed->length(), locale), source_text(source), {}};
  if (!say_no_difference(source, quantity) && source == Source::kMeasured)
    quantity.difference = relative_text(quantity.predicted_value, quantity.observed_value, locale);
  return quantity;
}

}  // namespace

std::vector<Quantity> expert_quantities(const Session& session, const ExpertPicture& picture,
                                        const QLocale& locale) {
  const std::vector<Quantity> all = step_quantities(session, locale);
  if (!picture.routed) {  // a dense model, or not computed yet
    std::vector<Quantity> none(4);
    const QString titles[] = {
        QuantitiesWords::tr("Layer time, forward"), QuantitiesWords::tr("Fullest rank / mean"),
        QuantitiesWords::tr("Dispatched, one way"), QuantitiesWords::tr("Dropped")};
    for (std::size_t at = 0; at < none.size(); ++at) {
      none[at].title = titles[at];
      none[at].predicted.source = !session.problems().empty()
                                      ? QuantitiesWords::tr("settings are not valid")
                                  : session.subject().prediction()->setup.model.experts.count > 0
                                      ? QuantitiesWords::tr("not computed yet")
                                      : QuantitiesWords::tr("no experts");
    }
    none.push_back(all[4]);
    return none;
  }
  const RoutedLayer& layer = *picture.routed;
  struct Shown {
    QString fullest, bytes, exact_bytes, dropped, exact_dropped;
  };
  const auto shown = [&](const RoutedLayer& of) {
    const std::int64_t bytes = dispatched_bytes(of), lost = dropped_of(of), all = assignments(of);
    return Shown{number_text(fullest_over_mean(of), locale), bytes_text(bytes, locale),
                 exact_bytes_text(bytes, locale),
                 share_text(double(lost) / double(std::max<std::int64_t>(1, all)), locale),
                 QuantitiesWords::tr("%1 of %2 choices")
                     .arg(count_text(lost, locale), count_text(all, locale))};
  };
  const Shown skewed = shown(layer);
  Quantity fullest =
      counted(QStringLiteral("experts.fullest"), QuantitiesWords::tr("Fullest rank / mean"),
              skewed.fullest, {}, picture);
  Quantity dispatched = counted(QStringLiteral("experts.dispatched_bytes"),
                                QuantitiesWords::tr("Dispatched, one way"), skewed.bytes,
                                skewed.exact_bytes, picture);
  Quantity dropped = counted(QStringLiteral("experts.dropped"), QuantitiesWords::tr("Dropped"),
                             skewed.dropped, skewed.exact_dropped, picture);
  if (picture.counted && !picture.hidden) {
    const Shown run = shown(*picture.counted);
    const QString word = picture.steps > 1
                             ? QuantitiesWords::tr("run, step %1").arg(picture.step + 1)
                             : QuantitiesWords::tr("counted in the run");
    fullest.observed = {run.fullest, word, {}};
    dispatched.observed = {run.bytes, word, run.exact_bytes};
    dropped.observed = {run.dropped, word, run.exact_dropped};
  }
  std::vector<Quantity> strip{layer_time(picture, locale), std::move(fullest),
                              std::move(dispatched), std::move(dropped), all[4]};
  for (Quantity& quantity : strip) quantity.guess = session.guess_at(quantity.key);
  return strip;
}

}  // namespace parallelarium
