// SPDX-License-Identifier: GPL-3.0-or-later
// Where the bits of a run's result differ from those of another algorithm.
#include <QCoreApplication>
#include <QLocale>

#include "app/look/figures.h"
#include "app/views/collectives/picture/collective_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct CollectiveRoundingWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

// As many digits as tell neighbouring values of the type apart.
QString exact_text(DataType type, double value) {
  const int digits = type == DataType::kBf16 ? 4 : type == DataType::kF32 ? 9 : 17;
  return QLocale().toString(value, 'g', digits);
}

// From the longest to the shortest.
QStringList texts_of(const RoundingCell& cell, DataType type) {
  if (cell.elements == 0) return {QStringLiteral("\u2013")};
  if (cell.differing == 0)
    return {CollectiveRoundingWords::tr("all the same"), QStringLiteral("0")};
  const QString count = count_text(cell.differing);
  const QString of = CollectiveRoundingWords::tr("%1 of %2").arg(count, count_text(cell.elements));
  const QString values = QStringLiteral(": ") + exact_text(type, cell.here) +
                         QStringLiteral(" \u2260 ") + exact_text(type, cell.there);
  return {of + values, count + values, of, count};
}

}  // namespace

void paint_rounding(QPainter& painter, const CollectivePicture& picture, const QRectF& cell,
                    const QRectF& inside, int rank, int chunk, const Theme& theme, TextLog* texts) {
  const CollectivePlan& plan = *picture.plan;
  const RoundingComparison& rounding = *picture.run->seen.rounding;
  const auto at = std::size_t(rank * plan.collective.chunks + chunk);
  if (at >= rounding.cells.size()) return;
  const RoundingCell& seen = rounding.cells[at];
  const double radius = std::min(4.0, cell.height() / 4);
  if (seen.differing > 0) {
    const double share = double(seen.differing) / double(seen.elements);
    const QRectF filled(cell.left(), cell.bottom() - 3, std::max(2.0, cell.width() * share), 3);
    painter.setPen(QPen(theme.mark, 1.8));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(cell, radius, radius);
    painter.fillRect(filled, theme.mark);
  }
  const QFont font = theme.font(cell.height() >= 18 ? 12 : 9);
  QString text;
  for (const QString& candidate : texts_of(seen, plan.collective.spec.type)) {
    text = candidate;
    if (QFontMetricsF(font).horizontalAdvance(text) <= inside.width()) break;
  }
  put_elided(painter, inside, Qt::AlignVCenter, text, font,
             seen.differing > 0 ? theme.text : theme.muted, texts);
}

QString rounding_line(const CollectivePicture& picture) {
  if (picture.wanted != ChunkContent::kRounding || !picture.run || picture.stale ||
      picture.hides_run())
    return {};
  const CollectiveSpec& spec = picture.plan->collective.spec;
  if (picture.run->seen.rounding) return rounding_sentence(spec, *picture.run->seen.rounding);
  return reduces(spec.kind)
             ? CollectiveRoundingWords::tr(
                   "Bits are compared where a second algorithm works with so many ranks and "
                   "all arrays together take at most 256 MiB")
             : CollectiveRoundingWords::tr("%1 combines nothing, so no bits can differ")
                   .arg(title_of(spec.kind));
}

}  // namespace parallelarium
