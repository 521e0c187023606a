// SPDX-License-Identifier: GPL-3.0-or-later
// All-to-all and its like as a matrix: what each rank sends to each, and what has arrived.
#include <QCoreApplication>
#include <algorithm>
#include <vector>

#include "app/views/collectives/picture/collective_paint.h"
#include "app/views/collectives/picture/collective_parts.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct CollectiveMatrixWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

// What rank `origin` sends rank `to`. `share`: how much of it has arrived where it is on its way.
void paint_sent(QPainter& painter, const CollectivePicture& picture, const CollectiveLayout& layout,
                int origin, int to, bool moving, double share, const Theme& theme, TextLog* texts) {
  const CollectiveMotion& motion = picture.shown();
  const CollectivePlan& plan = *picture.plan;
  const QColor color = theme.solid(OpColor::kCommunication),
               pale = theme.tint(OpColor::kCommunication);
  const int chunk = origin * layout.ranks + to;
  const QRectF cell = layout.cell(origin, to);
  const bool stays = origin == to;
  const bool there = motion.held(to, chunk, picture.playhead) != 0 && !stays;
  const bool home = motion.held(origin, chunk, picture.playhead) != 0;
  painter.setPen(Qt::NoPen);
  painter.setBrush(there ? color : pale);
  painter.drawRoundedRect(cell, 3, 3);
  if (!there && moving && share > 0)
    painter.fillRect(QRectF(cell.left(), cell.top(), cell.width() * share, cell.height()),
                     mixed(pale, color, 0.6));
  else if (!there && !home)
    painter.fillRect(cell.adjusted(3, cell.height() - 5, -3, -2), mixed(pale, color, 0.6));
  QPen outline(moving ? color : stays ? theme.muted : theme.control_line, moving ? 1.8 : 1);
  if (stays) outline.setStyle(Qt::DashLine);
  painter.setPen(outline);
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(cell, 3, 3);
  const ChunkRange range = chunk_range(plan.collective, chunk);
  const QString word =
      picture.content() == ChunkContent::kValues
          ? value_text(picture, there ? to : origin, chunk)
          : bytes_text((range.end - range.begin) * size_of(plan.collective.spec.type));
  if (QFontMetricsF(theme.font(10)).horizontalAdvance(word) + 6 < cell.width() &&
      cell.height() >= 14)
    put_text(painter, cell, Qt::AlignCenter, word, theme.font(10),
             there ? theme.ink_on(color) : theme.text, texts);
}

// What has arrived on a rank, by where it came from.
void paint_arrived(QPainter& painter, const CollectivePicture& picture,
                   const CollectiveLayout& layout, int rank, double chip, const Theme& theme,
                   TextLog* texts) {
  const int n = layout.ranks;
  const double y = layout.result_origin.y() + rank * layout.result_pitch.y();
  const double height = std::min(20.0, layout.result_pitch.y() - 2);
  const QRectF row(layout.result_origin.x(), y, layout.result_pitch.x() * n,
                   layout.result_pitch.y() - 4);
  paint_chip(painter, QPointF(row.left() - 26, row.center().y() - chip / 2), chip, rank, theme,
             texts);
  for (int from = 0; from < n; ++from) {
    const bool there = picture.shown().held(rank, from * n + rank, picture.playhead) != 0;
    const double width = std::min(24.0, layout.result_pitch.x() - 2);
    const QRectF slot(row.left() + from * layout.result_pitch.x(), row.center().y() - height / 2,
                      width, height);
    painter.setPen(there ? QPen(Qt::NoPen) : QPen(theme.hairline, 1));
    painter.setBrush(there ? theme.rank(from) : theme.surface);
    painter.drawRoundedRect(slot, std::min(width, height) / 2, std::min(width, height) / 2);
    if (there && width >= kNumbered)
      put_text(painter, slot, Qt::AlignCenter, QString::number(from),
               theme.font(height >= 15 ? 11 : 9), theme.ink_on(theme.rank(from)), texts);
  }
}

}  // namespace

void paint_matrix(QPainter& painter, const CollectivePicture& picture,
                  const CollectiveLayout& layout, const Theme& theme, TextLog* texts) {
  const CollectiveMotion& motion = picture.shown();
  const int n = layout.ranks;
  std::vector<double> share(std::size_t(n * n), 0);
  std::vector<char> moving(std::size_t(n * n), 0);
  for (const Flight& flight : motion.flights(picture.playhead)) {
    const auto chunk = std::size_t(motion.move(flight.ref).chunk);
    moving[chunk] |= flight.share < 1;
    share[chunk] = std::max(share[chunk], picture.tweened    ? flight.share
                                          : flight.share < 1 ? 0.5
                                                             : 1);
  }
  const double chip = std::min(16.0, layout.cell_size.height());
  for (int origin = 0; origin < n; ++origin) {
    const QRectF first = layout.cell(origin, 0);
    paint_chip(painter, QPointF(first.left() - 24, first.center().y() - chip / 2), chip, origin,
               theme, texts);
    const QRectF head = layout.cell(0, origin);
    if (head.width() >= 14)
      put_text(
          painter, QRectF(head.left(), head.top() - 20, head.width(), 16), Qt::AlignCenter,
          head.width() >= 28 ? QStringLiteral("\u2192 %1").arg(origin) : QString::number(origin),
          theme.font(head.width() >= 24 ? 11 : 9), theme.muted, texts);
    for (int to = 0; to < n; ++to) {
      const auto chunk = std::size_t(origin * n + to);
      paint_sent(painter, picture, layout, origin, to, moving[chunk] != 0, share[chunk], theme,
                 texts);
    }
    paint_arrived(painter, picture, layout, origin, chip, theme, texts);
  }
  put_elided(painter,
             QRectF(layout.result_origin.x() - 26, layout.result_origin.y() - 20,
                    layout.size.width() - 16 - layout.result_origin.x() + 26, 16),
             Qt::AlignVCenter,
             CollectiveMatrixWords::tr("arrived on each rank, by where it came from"),
             theme.font(11), theme.muted, texts);
}

}  // namespace parallelarium
