// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences about routing, as the picture, its tooltips and screen readers say them.
#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <numeric>

#include "app/look/figures.h"
#include "app/views/experts/expert_paint.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

const QString kDot = QStringLiteral(" \u00b7 ");

struct ExpertTexts {
  Q_DECLARE_TR_FUNCTIONS(experts)
};

// The layer and micro-batch stand last, before them what the view's controls do not say.
QStringList title_parts(const ExpertPicture& picture) {
  const RoutedLayer& layer = *picture.drawn();
  QStringList parts{
      picture.shows_run()
          ? ExpertTexts::tr("Expert routing, run, training step %1").arg(picture.step + 1)
          : ExpertTexts::tr("Expert routing"),
      layer.ep == 1 ? ExpertTexts::tr("%1 experts on every rank").arg(layer.experts)
                    : ExpertTexts::tr("%1 experts on %2 ranks").arg(layer.experts).arg(layer.ep),
      ExpertTexts::tr("top-%1 of %2 tokens a rank").arg(layer.top_k).arg(count_text(layer.tokens))};
  if (!picture.hidden)
    parts << (layer.capacity > 0 ? ExpertTexts::tr("capacity %1").arg(count_text(layer.capacity))
                                 : ExpertTexts::tr("dropless"));
  parts << ExpertTexts::tr("layer %1, micro-batch %2").arg(layer.layer).arg(layer.microbatch);
  return parts;
}

}  // namespace

QString expert_title(const ExpertPicture& picture) { return title_parts(picture).join(kDot); }

QString expert_title_in(const ExpertPicture& picture, const QFont& font, double width) {
  QStringList parts = title_parts(picture);
  const QFontMetricsF metrics(font);
  while (parts.size() > 2 && metrics.horizontalAdvance(parts.join(kDot)) > width)
    parts.removeAt(parts.size() - 2);
  return parts.join(kDot);
}

QString dropped_words(std::int64_t count) {
  return ExpertTexts::tr("%1 dropped").arg(count_text(count));
}

QString pace_sentence(const RoutedLayer& layer) {
  const std::vector<std::int64_t> tokens = tokens_of_ranks(layer);
  if (layer.ep == 1) return ExpertTexts::tr("EP 1: every expert is at home and nothing travels.");
  const auto most = std::max_element(tokens.begin(), tokens.end());
  const auto sum = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
  if (*most * std::int64_t(tokens.size()) == sum)
    return ExpertTexts::tr("By tokens, all ranks are equally full: each receives %1 of %2.")
        .arg(count_text(*most), count_text(sum));
  return ExpertTexts::tr(
             "By tokens, rank %1 is the fullest: it receives %2 of %3, %4\u00d7 the mean.")
      .arg(most - tokens.begin())
      .arg(count_text(*most), count_text(sum), number_text(fullest_over_mean(layer)));
}

SelectionText describe_expert(const RoutedLayer& layer, ExpertRef ref) {
  SelectionText text;
  if (ref.expert >= 0) {
    const auto expert = std::size_t(ref.expert);
    const std::int64_t kept = layer.load[expert], lost = layer.dropped[expert];
    text.headline =
        ExpertTexts::tr("Expert %1 on rank %2").arg(ref.expert).arg(layer.rank_of_expert[expert]);
    text.facts.push_back(
        {ExpertTexts::tr("kept"),
         ExpertTexts::tr("%1 of %2 choices").arg(count_text(kept), count_text(kept + lost))});
    if (layer.capacity > 0)
      text.facts.push_back({ExpertTexts::tr("capacity for each home"), count_text(layer.capacity)});
    QStringList from;
    for (int home = 0; home < layer.ep; ++home) {
      const std::int64_t count = layer.homes[std::size_t(home)].load.kept[expert];
      if (count > 0) from << ExpertTexts::tr("rank %1: %2").arg(home).arg(count_text(count));
      if (from.size() == 8 && layer.ep > 8) {
        from << QStringLiteral("\u2026");
        break;
      }
    }
    text.facts.push_back({ExpertTexts::tr("from"), from.join(QStringLiteral(", "))});
  } else if (ref.home >= 0) {
    const std::int64_t count = layer.rows[std::size_t(ref.home)][std::size_t(ref.rank)];
    text.headline =
        ref.home == ref.rank
            ? ExpertTexts::tr("Choices of rank %1 that stay at home").arg(ref.home)
            : ExpertTexts::tr("Choices sent from rank %1 to rank %2").arg(ref.home).arg(ref.rank);
    text.facts.push_back({ExpertTexts::tr("choices"), count_text(count)});
    text.facts.push_back({ref.home == ref.rank ? ExpertTexts::tr("would be")
                                               : ExpertTexts::tr("dispatch and combine, each"),
                          bytes_text(count * layer.row_bytes)});
    text.facts.push_back({ExpertTexts::tr("exactly"), exact_bytes_text(count * layer.row_bytes)});
  }
  return text;
}

QString waiting_sentence(const ExpertPicture& picture) {
  const LayerTimes* times = picture.shown();
  if (!times || picture.hidden || times->homes.size() < 2) return {};
  std::size_t last = 0;
  Nanoseconds ended{0}, waits{0};
  for (std::size_t home = 0; home < times->homes.size(); ++home) {
    Nanoseconds own{0}, idle{0}, end{0};
    for (const LayerSpan& span : times->homes[home]) {
      const Nanoseconds length = span.span.end - span.span.begin;
      if (span.part == LayerPart::kExperts) own += length, end = span.span.end;
      if (span.part == LayerPart::kWait && own > Nanoseconds(0)) idle += length;
    }
    if (end > ended) last = home, ended = end;
    waits = std::max(waits, idle);
  }
  const double share =
      double(waits.count()) / double(std::max<std::int64_t>(1, times->length().count()));
  constexpr double kWorthSaying = 0.02;
  if (share < kWorthSaying) return {};
  return ExpertTexts::tr(
             "By time, rank %1's experts end last; the others wait up to %2, %3 of the layer (%4).")
      .arg(last)
      .arg(shown_time(waits, picture.hides_times), share_text(share),
           picture.observed ? source_text(times->source) : picture.predicted_word);
}

QString balance_sentence(const ExpertPicture& picture) {
  if (!picture.shows_run() || !picture.curves || picture.curves->empty()) return {};
  QStringList curves;
  for (const BalanceCurve& curve : *picture.curves)
    curves << ExpertTexts::tr("%1: %2 to %3")
                  .arg(curve.name, number_text(curve.steps.front().fullest),
                       number_text(curve.steps.back().fullest));
  return ExpertTexts::tr("Fullest expert over the mean, first to last training step: %1")
      .arg(curves.join(QStringLiteral("; ")));
}

QString expert_sentence(const ExpertPicture& picture) {
  if (!picture.drawn()) return picture.empty;
  const RoutedLayer& layer = *picture.drawn();
  if (picture.hidden)
    return expert_title(picture) + QStringLiteral(": ") + ExpertTexts::tr("hidden for now");
  QStringList parts{expert_title(picture)};
  if (const LayerTimes* times = picture.shown(); times && picture.playhead) {
    QStringList ranks;
    for (int home = 0; home < std::min(layer.ep, 8); ++home) {
      const LayerSpan* now = times->at(home, *picture.playhead);
      ranks << ExpertTexts::tr("rank %1 %2")
                   .arg(home)
                   .arg(now ? part_name(now->part) : ExpertTexts::tr("not in this layer"));
    }
    parts << ExpertTexts::tr("Now: %1; %2 of the dispatch and %3 of the combine are done")
                 .arg(ranks.join(QStringLiteral(", ")), share_text(picture.arrived()),
                      share_text(picture.returned()));
  }
  QStringList loads;
  for (int expert = 0; expert < std::min(layer.experts, 64); ++expert) {
    QString load = ExpertTexts::tr("expert %1: %2")
                       .arg(expert)
                       .arg(count_text(layer.load[std::size_t(expert)]));
    if (layer.dropped[std::size_t(expert)] > 0)
      load += QLatin1Char(' ') +
              ExpertTexts::tr("and %1 dropped").arg(count_text(layer.dropped[std::size_t(expert)]));
    loads << load;
  }
  parts << loads.join(QStringLiteral(", ")) << pace_sentence(layer);
  parts << (picture.knows_balance()
                ? ExpertTexts::tr("Balance loss over alpha %1 (1 is even)")
                      .arg(number_text(balance_of(layer)))
                : ExpertTexts::tr("The balance loss needs a run: a skew moves the tokens' choices, "
                                  "not the routers' affinities"));
  for (const QString& sentence : {waiting_sentence(picture), balance_sentence(picture)})
    if (!sentence.isEmpty()) parts << sentence;
  return parts.join(QStringLiteral(". "));
}

}  // namespace parallelarium
