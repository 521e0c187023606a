// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer keeps for its backward, in the terms of the paper: whole, as TP cuts it, and where
// sequence parallelism is on, as that cuts it.
#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/layer/picture/kept/layer_kept_pieces.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct KeptWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kKeptMargin = 16, kKeptLabels = 92, kKeptHead = 20, kKeptRow = 19, kTermLine = 16;

QString factor_text(double sbh, double scores) {
  return scores > 0 ? number_text(scores) + QStringLiteral("\u00a0a\u00a0s\u00b2\u00a0b")
                    : number_text(sbh) + QStringLiteral("\u00a0s\u00a0b\u00a0h");
}

QString term_text(const KeptTerm& term) {
  return factor_text(term.sbh, term.scores) + QLatin1Char(' ') + name_text(term.tensor);
}

QString reason_text(KeptBecause because) {
  switch (because) {
    case KeptBecause::kNoDropout:
      return KeptWords::tr("no dropout");
    case KeptBecause::kFused:
      return KeptWords::tr("fused attention computes scores again");
    case KeptBecause::kRecomputed:
      return KeptWords::tr("recomputed");
    case KeptBecause::kHeld:
      break;
  }
  return {};
}

QString cut_name(const LayerKept& kept, KeptCut cut) {
  if (cut == KeptCut::kWhole) return QStringLiteral("TP 1");
  const QString tensor = QStringLiteral("TP %1").arg(kept.tp);
  return cut == KeptCut::kTensor ? tensor : KeptWords::tr("%1 + SP").arg(tensor);
}

std::vector<KeptCut> cuts_of(const LayerKept& kept) {
  if (kept.tp == 1) return {KeptCut::kWhole};
  if (kept.cut != KeptCut::kSequence) return {KeptCut::kWhole, KeptCut::kTensor};
  return {KeptCut::kWhole, KeptCut::kTensor, KeptCut::kSequence};
}

// The terms, then why some of them are struck out, as lines that fit.
struct TermLine {
  struct Word {
    QString text;
    bool gone = false;
    double x = 0, width = 0;
  };
  std::vector<Word> words;
};

std::vector<TermLine> lines_of_terms(const LayerKept& kept, double width, const Theme& theme) {
  const QFontMetricsF metrics(theme.font(11));
  std::vector<TermLine> lines(1);
  double x = 0;
  const auto add = [&](const QString& text, bool gone) {
    const double wide = metrics.horizontalAdvance(text) + 2;
    if (x > 0 && x + wide > width) lines.emplace_back(), x = 0;
    lines.back().words.push_back({text, gone, x, wide});
    x += wide + 14;
  };
  if (const QString unit = kept_unit_text(kept); !unit.isEmpty()) add(unit, false);
  QStringList reasons;
  for (const KeptTerm& term : kept.terms) {
    add(term_text(term), term.because != KeptBecause::kHeld);
    const QString reason = reason_text(term.because);
    if (!reason.isEmpty() && !reasons.contains(reason)) reasons << reason;
  }
  if (!reasons.isEmpty())
    add(KeptWords::tr("struck out: %1").arg(reasons.join(QStringLiteral(", "))), false);
  if (kept.other_bytes > 0)
    add(KeptWords::tr("beside these, %1 that Korthikanti et al. leave out")
            .arg(bytes_text(kept.other_bytes)),
        false);
  return lines;
}

double words_width(double width) { return width - 2 * kKeptMargin - kKeptLabels; }

struct BarPart {
  std::int64_t bytes = 0;
  QString text = {};
  QRectF place = {};
};

// The terms without their spaces where the bar is too narrow for these: "8sbh/2".
QStringList names_of_part(const BarPart& part) {
  QString narrow = part.text;
  return {part.text, narrow.remove(QChar(QChar::Nbsp))};
}

std::vector<BarPart> parts_of_cut(const LayerKept& kept, KeptCut cut) {
  const LayerKept::Bytes& bytes = kept.bytes[std::size_t(cut)];
  const QString over =
      cut == KeptCut::kWhole ? QString() : QStringLiteral("\u00a0/\u00a0%1").arg(kept.tp);
  const QString over_whole = cut == KeptCut::kSequence ? over : QString();
  std::vector<BarPart> parts;
  if (bytes.whole > 0) parts.push_back({bytes.whole, factor_text(kept.whole_sbh, 0) + over_whole});
  if (bytes.split > 0) parts.push_back({bytes.split, factor_text(kept.split_sbh, 0) + over});
  if (bytes.scores > 0) parts.push_back({bytes.scores, factor_text(0, kept.scores) + over});
  return parts;
}

double top_of_bars(const LayerLayout& layout) { return layout.kept_top + kKeptHead; }

// The parts of the cut in line `at` of cuts_of(), where they stand.
std::vector<BarPart> placed_parts(const LayerPicture& picture, const LayerLayout& layout,
                                  std::size_t at) {
  const LayerKept& kept = picture.layer->kept;
  const std::vector<KeptCut> cuts = cuts_of(kept);
  std::int64_t most = 1;
  for (const KeptCut cut : cuts) most = std::max(most, kept.bytes[std::size_t(cut)].all());
  const double scale = words_width(layout.size.width()) * 0.78 / double(most);
  double x = kKeptMargin + kKeptLabels;
  std::vector<BarPart> parts = parts_of_cut(kept, cuts[at]);
  for (BarPart& part : parts) {
    part.place = QRectF(x + 0.5, top_of_bars(layout) + double(at) * kKeptRow + 0.5,
                        double(part.bytes) * scale, kKeptRow - 5);
    x += part.place.width();
  }
  return parts;
}

}  // namespace

double layer_kept_height(const LayerPicture& picture, double width, const Theme& theme) {
  if (!picture.shows_kept()) return 0;
  if (picture.layer->kept.terms.empty()) return kept_pieces_height(picture, width, theme);
  const LayerKept& kept = picture.layer->kept;
  return kKeptHead + double(cuts_of(kept).size()) * kKeptRow +
         double(lines_of_terms(kept, words_width(width), theme).size()) * kTermLine + 8;
}

void paint_layer_kept(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                      const Theme& theme, TextLog* texts) {
  const LayerKept& kept = picture.layer->kept;
  if (kept.terms.empty()) return paint_kept_pieces(painter, picture, layout, theme, texts);
  const double left = kKeptMargin + kKeptLabels;
  const double room = words_width(layout.size.width());
  double y = layout.kept_top;
  put_elided(painter, QRectF(kKeptMargin, y, layout.size.width() - 2 * kKeptMargin, kKeptHead),
             Qt::AlignVCenter,
             KeptWords::tr("KEPT FOR THE BACKWARD \u00b7 one layer, one micro-batch, every rank "
                           "\u00b7 s sequence, b micro-batch, h width, a heads"),
             theme.font(11), theme.muted, texts);
  y = top_of_bars(layout);
  const QColor fill = theme.memory(Category::kActivations);
  const QColor line = mixed(fill, theme.ink_on(fill), 0.5);
  const std::vector<KeptCut> cuts = cuts_of(kept);
  for (std::size_t at = 0; at < cuts.size(); ++at) {
    const KeptCut cut = cuts[at];
    const bool own = cut == kept.cut;
    const QColor of_cut = own ? fill : mixed(fill, theme.surface, 0.55);
    put_elided(painter, QRectF(kKeptMargin, y, kKeptLabels - 6, kKeptRow - 3), Qt::AlignVCenter,
               cut_name(kept, cut), theme.font(11, own), own ? theme.text : theme.muted, texts);
    double x = left;
    for (const BarPart& part : placed_parts(picture, layout, at)) {
      painter.setPen(QPen(line, 1));
      painter.setBrush(of_cut);
      painter.drawRect(part.place);
      put_name_that_fits(painter, part.place, names_of_part(part), theme.font(10),
                         theme.ink_on(of_cut), texts);
      x += part.place.width();
    }
    put_elided(painter, QRectF(x + 8, y, left + room - x - 8, kKeptRow - 3), Qt::AlignVCenter,
               bytes_text(kept.bytes[std::size_t(cut)].all()), theme.font(11, own), theme.text,
               texts);
    y += kKeptRow;
  }
  for (const TermLine& of : lines_of_terms(kept, room, theme)) {
    for (const TermLine::Word& word : of.words) {
      QFont font = theme.font(11);
      font.setStrikeOut(word.gone);
      put_text(painter, QRectF(left + word.x, y, word.width, kTermLine), Qt::AlignVCenter,
               word.text, font, theme.muted, texts);
    }
    y += kTermLine;
  }
}

QString layer_kept_bar_text(const LayerPicture& picture, const LayerLayout& layout, QPointF point) {
  if (!picture.shows_kept()) return {};
  const LayerKept& kept = picture.layer->kept;
  const std::vector<KeptCut> cuts = cuts_of(kept);
  for (std::size_t at = 0; at < cuts.size(); ++at)
    for (const BarPart& part : placed_parts(picture, layout, at))
      if (part.place.contains(point))
        return QStringLiteral("%1: %2 = %3")
            .arg(cut_name(kept, cuts[at]), part.text, bytes_text(part.bytes));
  return {};
}

QString layer_kept_sentence(const LayerPicture& picture) {
  const LayerKept& kept = picture.layer->kept;
  if (kept.terms.empty()) return kept_pieces_sentence(picture);
  QStringList cuts, terms;
  for (const KeptCut cut : cuts_of(kept))
    cuts << KeptWords::tr("%1: %2").arg(cut_name(kept, cut),
                                        bytes_text(kept.bytes[std::size_t(cut)].all()));
  for (const KeptTerm& term : kept.terms)
    terms
        << (term.because == KeptBecause::kHeld
                ? term_text(term)
                : KeptWords::tr("without %1 (%2)").arg(term_text(term), reason_text(term.because)));
  const QString text = KeptWords::tr("Kept for the backward, %1. Terms: %2.")
                           .arg(cuts.join(QStringLiteral(", ")), terms.join(QStringLiteral(", ")));
  if (kept.other_bytes == 0) return text;
  return text + QLatin1Char(' ') +
         KeptWords::tr(
             "%1 more are kept that the paper does not count: statistics of norms and of "
             "fused attention, and keys and values of other ranks.")
             .arg(bytes_text(kept.other_bytes));
}

}  // namespace parallelarium
