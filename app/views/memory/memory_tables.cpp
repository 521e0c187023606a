// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes per parameter, and bytes sent per step and rank.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/memory/memory_paint.h"
#include "app/views/shared/paint/paint_tools.h"
#include "engine/predict/memory.h"

namespace parallelarium {
namespace {

struct Tables {
  Q_DECLARE_TR_FUNCTIONS(memory)
};

constexpr double kCaption = 22, kShare = 66, kTrafficRow = 33;

}  // namespace

double byte_table_height() { return kCaption + 5 * kByteRow + 6; }

std::vector<QRectF> paint_byte_table(QPainter& painter, const QRectF& rect, const Setup& setup,
                                     bool edited, const Theme& theme, TextLog* texts) {
  const QFont plain = theme.font(12), bold = theme.font(12, true), small = theme.font(11);
  std::vector<QRectF> values;
  const double share_left = rect.right() - kShare, value_left = share_left - kByteValues - 8;
  QRectF line(rect.left(), rect.top(), rect.width(), kCaption);
  const QString all = Tables::tr("all");
  const double all_left = value_left + kByteValues - QFontMetricsF(small).horizontalAdvance(all);
  paint_caption(painter, QRectF(line.left(), line.top(), all_left - 8 - line.left(), kCaption),
                Tables::tr("BYTES PER PARAMETER"), theme, texts);
  put_text(painter, QRectF(value_left, line.top(), kByteValues, kCaption),
           Qt::AlignVCenter | Qt::AlignRight, all, small, theme.muted, texts);
  put_text(painter, line, Qt::AlignVCenter | Qt::AlignRight, Tables::tr("on this rank"), small,
           theme.muted, texts);
  double y = line.bottom();
  const auto row = [&](const QString& name, int bytes, const QString& share, bool editable) {
    const QRectF value(value_left, y, kByteValues, kByteRow);
    put_elided(painter, QRectF(rect.left(), y, value_left - rect.left() - 6, kByteRow),
               Qt::AlignVCenter, name, plain, theme.text, texts);
    if (!editable)
      put_text(painter, value, Qt::AlignVCenter | Qt::AlignRight, QString::number(bytes), plain,
               theme.muted, texts);
    else
      values.push_back(value);
    put_text(painter, QRectF(share_left, y, kShare, kByteRow), Qt::AlignVCenter | Qt::AlignRight,
             share, bold, theme.text, texts);
    y += kByteRow;
    painter.fillRect(QRectF(rect.left(), y - 0.5, rect.width(), 1), theme.grid);
  };
  for (const ByteTerm& term : byte_terms(setup)) {
    const QString number = QString::number(term.bytes);
    row(term.name, term.bytes, term.sharded ? Tables::tr("%1 / N").arg(number) : number, edited);
  }
  const QString formula = bytes_formula(setup);
  const QString value = number_text(bytes_per_parameter(setup));
  const QRectF last(rect.left(), y, rect.width(), kByteRow);
  const QString share = formula == value ? value : QStringLiteral("%1 = %2").arg(formula, value);
  const QString sum = QString::number(held_precision(setup).state_bytes());
  // A long share leaves no room below "all".
  const bool beside = QFontMetricsF(bold).horizontalAdvance(share) > kShare;
  put_text(painter, last, Qt::AlignVCenter,
           beside ? Tables::tr("Together %1").arg(sum) : Tables::tr("Together"), plain, theme.text,
           texts);
  if (!beside)
    put_text(painter, QRectF(value_left, y, kByteValues, kByteRow),
             Qt::AlignVCenter | Qt::AlignRight, sum, plain, theme.muted, texts);
  put_text(painter, last, Qt::AlignVCenter | Qt::AlignRight, share, bold, theme.text, texts);
  return values;
}

void paint_traffic(QPainter& painter, const QRectF& rect, const std::vector<TrafficTerm>& terms,
                   bool stale, const Theme& theme, TextLog* texts, std::vector<QRectF>* hits) {
  const QFont plain = theme.font(12), bold = theme.font(12, true), small = theme.font(11);
  paint_caption(painter, QRectF(rect.left(), rect.top(), rect.width(), kCaption),
                Tables::tr("SENT PER STEP AND RANK"), theme, texts);
  double y = rect.top() + kCaption;
  if (terms.empty()) {
    put_elided(painter, QRectF(rect.left(), y, rect.width(), 20), Qt::AlignVCenter,
               Tables::tr("nothing: one rank has nobody to send to"), small, theme.muted, texts);
    return;
  }
  constexpr double kVerdict = 18, kRest = 18;
  const auto room = [&](double below) {
    return std::size_t(std::max(0.0, (rect.bottom() - y - below) / kTrafficRow));
  };
  const std::size_t shown = terms.size() <= room(kVerdict) ? terms.size() : room(kVerdict + kRest);
  std::int64_t rest = 0;
  bool all_equal = true, counted = true, by_formula = false;
  for (std::size_t at = 0; at < terms.size(); ++at) {
    const TrafficTerm& term = terms[at];
    by_formula = by_formula || term.by_formula;
    counted = counted && (term.counted.has_value() || term.by_formula);
    all_equal = all_equal && (term.counted == term.sent || term.by_formula);
    if (at >= shown) {
      rest += term.sent;
      continue;
    }
    const QRectF line(rect.left(), y, rect.width(), kTrafficRow);
    const QString value = bytes_text(term.sent);
    const double wide = QFontMetricsF(bold).horizontalAdvance(value) + 8;
    put_elided(painter, QRectF(line.left(), y, line.width() - wide, 18), Qt::AlignVCenter,
               term.name, plain, theme.text, texts);
    put_text(painter, QRectF(line.left(), y, line.width(), 18), Qt::AlignVCenter | Qt::AlignRight,
             value, bold, theme.text, texts);
    put_elided(painter, QRectF(line.left(), y + 17, line.width(), 15), Qt::AlignVCenter,
               term.formula, small, theme.muted, texts);
    if (hits) hits->push_back(line);
    y += kTrafficRow;
  }
  if (shown < terms.size() && rect.bottom() - y >= 18) {
    put_elided(painter, QRectF(rect.left(), y, rect.width(), 18), Qt::AlignVCenter,
               (terms.size() - shown == 1 ? Tables::tr("%1 further kind: %2")
                                          : Tables::tr("%1 further kinds: %2"))
                   .arg(terms.size() - shown)
                   .arg(bytes_text(rest)),
               small, theme.muted, texts);
    y += 18;
  }
  if (rect.bottom() - y < 14) return;
  const QString text = !counted || stale ? Tables::tr("predicted, not counted yet")
                       : all_equal && by_formula
                           ? Tables::tr("whole NCCL collectives by formula, the rest counted")
                       : all_equal ? Tables::tr("counted by the engine: equal to the byte")
                                   : Tables::tr("counted by the engine: it differs");
  put_elided(painter, QRectF(rect.left(), y, rect.width(), 18), Qt::AlignVCenter, text, small,
             !counted || stale ? theme.muted
             : all_equal       ? theme.good
                               : theme.warning,
             texts);
}

}  // namespace parallelarium
