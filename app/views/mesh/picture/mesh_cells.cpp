// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks as cells, the nodes around them, and the ways of a group from rank to rank.
#include <QCoreApplication>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "app/look/figures.h"
#include "app/views/mesh/picture/mesh_brush.h"

namespace parallelarium {
namespace {

struct MeshCells {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

constexpr double kTall = 36, kRoomy = 48, kTallest = 84;

// The axis along which `rank` shares a group with the selected one.
QString shared_axes(const Mesh& mesh, int rank, int selected) {
  const Coordinates a = coordinates_of(mesh, rank), b = coordinates_of(mesh, selected);
  const int differ = (a.tp != b.tp) + (a.cp != b.cp) + (a.pp != b.pp) + (a.dp != b.dp);
  if (differ != 1) return {};
  return a.tp != b.tp   ? QStringLiteral("TP")
         : a.cp != b.cp ? QStringLiteral("CP")
         : a.pp != b.pp ? QStringLiteral("PP")
                        : QStringLiteral("DP");
}

// "DP 1 PP 2 TP 0", as far as there is more than one place.
QString place_text(const Mesh& mesh, int rank) {
  const Coordinates at = coordinates_of(mesh, rank);
  QStringList parts;
  const auto add = [&](const char* name, int size, int value) {
    if (size > 1) parts << QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(value);
  };
  add("DP", mesh.dp, at.dp);
  add("PP", mesh.pp, at.pp);
  add("CP", mesh.cp, at.cp);
  add("TP", mesh.tp, at.tp);
  return parts.join(QLatin1Char(' '));
}

struct CellColors {
  QColor fill, line, ink;
  double width = 1;
};

CellColors colors_of(const MeshBrush& brush, int rank, bool marked) {
  const Theme& theme = brush.theme;
  const int stage = coordinates_of(brush.layout.mesh, rank).pp;
  const bool selected = rank == brush.picture.selected, lit = brush.lit(rank);
  CellColors colors;
  colors.fill = selected ? theme.accent
                : lit    ? theme.solid(OpColor::kCommunication)
                : marked ? theme.accent_soft
                         : mixed(theme.surface, theme.rank(stage),
                                 brush.layout.form == MeshForm::kNodes ? 0.24 : 0.12);
  colors.line = selected || marked ? theme.accent_line : lit ? colors.fill : theme.control_line;
  colors.width = selected || marked ? 1.6 : 1;
  colors.ink = selected || lit ? theme.ink_on(colors.fill) : theme.text;
  return colors;
}

bool is_marked(const MeshBrush& brush, int rank, const QString& axes) {
  const MeshWays& ways = brush.picture.ways;
  return ways.axis == Axis::kWorld
             ? !axes.isEmpty()
             : std::binary_search(ways.members.begin(), ways.members.end(), rank);
}

void paint_small_cell(const MeshBrush& brush, int rank) {
  const QString axes = shared_axes(brush.layout.mesh, rank, brush.picture.selected);
  const bool marked = is_marked(brush, rank, axes) && rank != brush.picture.selected;
  const QColor fill = colors_of(brush, rank, false).fill;
  brush.painter.fillRect(brush.cell_of(rank).adjusted(0.5, 0.5, -0.5, -0.5),
                         marked ? mixed(fill, brush.theme.accent, 0.5) : fill);
}

QString key_of_group(const MeshPicture& picture) {
  const AxisReach* reach = picture.wires->along(picture.ways.axis);
  return reach ? MeshCells::tr("in its %1 group")
                     .arg(reach_name(*reach, picture.prediction->setup.mesh))
               : MeshCells::tr("in one of its groups");
}

}  // namespace

MeshWays mesh_ways(const Mesh& mesh, Axis axis, int rank) {
  MeshWays ways;
  ways.axis = axis;
  if (axis == Axis::kWorld) return ways;
  ways.hops = hops_of(mesh, axis, rank);
  for (const auto& [from, to] : ways.hops) ways.members.insert(ways.members.end(), {from, to});
  std::sort(ways.members.begin(), ways.members.end());
  return ways;
}

void paint_mesh_key(QPainter& painter, const QRectF& rect, const MeshPicture& picture,
                    const MeshLayout& layout, const Theme& theme, TextLog* texts) {
  if (!picture.wires || layout.by_class || layout.mesh.ranks() == 1) return;
  constexpr double kSquare = 11, kAir = 5, kNext = 16;
  const QFont font = theme.font(11);
  double x = rect.left();
  const auto add = [&](const QColor& fill, const QColor& line, const QString& text, double wide) {
    const double taken = wide + kAir + QFontMetricsF(font).horizontalAdvance(text);
    if (x + taken > rect.right()) return;
    painter.setPen(QPen(line, 1.2));
    painter.setBrush(fill);
    const QRectF mark(x + 0.5, rect.center().y() - kSquare / 2, wide - 1, kSquare);
    painter.drawRoundedRect(mark, 3, 3);
    put_text(painter, QRectF(x + wide + kAir, rect.top(), taken, rect.height()), Qt::AlignVCenter,
             text, font, theme.muted, texts);
    x += taken + kNext;
  };
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  add(theme.accent, theme.accent_line, MeshCells::tr("chosen"), kSquare);
  add(theme.accent_soft, theme.accent_line, key_of_group(picture), kSquare);
  if (picture.playhead && !picture.hides_traffic)
    add(theme.solid(OpColor::kCommunication), theme.solid(OpColor::kCommunication),
        MeshCells::tr("in a collective now"), kSquare);
  if (picture.wires->nodes.count() > 1)
    add(mixed(theme.surface, theme.accent, 0.06), theme.accent_line, MeshCells::tr("node"), 20);
  if (layout.mesh.pp > 1)
    add(mixed(theme.surface, theme.rank(0), 0.24), theme.control_line,
        MeshCells::tr("other colours: stages"), kSquare);
  painter.restore();
}

void paint_rank_cell(const MeshBrush& brush, int rank) {
  const QString axes = shared_axes(brush.layout.mesh, rank, brush.picture.selected);
  const CellColors colors = colors_of(brush, rank, is_marked(brush, rank, axes));
  brush.painter.setBrush(colors.fill);
  brush.painter.setPen(QPen(colors.line, colors.width));
  brush.painter.drawRoundedRect(brush.cell_of(rank).adjusted(3, 3, -3, -3), 4, 4);
}

void paint_rank_text(const MeshBrush& brush, int rank) {
  const QRectF cell = brush.cell_of(rank).adjusted(3, 3, -3, -3);
  const Theme& theme = brush.theme;
  const QString axes = shared_axes(brush.layout.mesh, rank, brush.picture.selected);
  const bool marked = is_marked(brush, rank, axes), selected = rank == brush.picture.selected;
  const CellColors colors = colors_of(brush, rank, marked);
  const bool roomy = cell.height() >= kRoomy && cell.width() >= 72;
  const QFont font = theme.font(roomy ? 15 : 11, selected || roomy), small = theme.font(9);
  const QColor soft = colors.ink == theme.text ? theme.muted : colors.ink;
  const QString number = QString::number(rank);
  const QString tag = marked || brush.picture.ways.axis == Axis::kWorld ? axes : QString();
  if (roomy) {
    put_text(brush.painter, cell.translated(0, -10), Qt::AlignCenter, number, font, colors.ink,
             brush.texts);
    put_elided(brush.painter, QRectF(cell.left() + 3, cell.center().y() + 4, cell.width() - 6, 14),
               Qt::AlignCenter, place_text(brush.layout.mesh, rank), theme.font(10), soft,
               brush.texts);
    const int stage = coordinates_of(brush.layout.mesh, rank).pp;
    for (const RankClass& one : brush.picture.classes)
      if (one.stage == stage && cell.height() >= kTallest)
        put_elided(brush.painter,
                   QRectF(cell.left() + 3, cell.center().y() + 20, cell.width() - 6, 14),
                   Qt::AlignCenter, MeshCells::tr("layers %1").arg(layers_text(one.layers)),
                   theme.font(10), soft, brush.texts);
    if (!tag.isEmpty())
      put_text(brush.painter, cell.adjusted(0, 3, -5, 0), Qt::AlignTop | Qt::AlignRight, tag, small,
               soft, brush.texts);
    return;
  }
  const double both = label_width(font, number) + label_width(small, tag) + 10;
  if (!tag.isEmpty() && both <= cell.width()) {
    const bool middle =
        2 * label_width(small, tag) + label_width(font, number) + 16 <= cell.width();
    put_text(brush.painter, cell.adjusted(4, 0, -4, 0),
             Qt::AlignVCenter | (middle ? Qt::AlignHCenter : Qt::AlignLeft), number, font,
             colors.ink, brush.texts);
    put_text(brush.painter, cell.adjusted(0, 0, -4, 0), Qt::AlignVCenter | Qt::AlignRight, tag,
             small, soft, brush.texts);
    return;
  }
  const bool two = !tag.isEmpty() && cell.height() >= kTall - 4;
  put_text(brush.painter, two ? cell.translated(0, -7) : cell, Qt::AlignCenter, number, font,
           colors.ink, brush.texts);
  if (two)
    put_text(brush.painter, cell.translated(0, 8), Qt::AlignCenter, tag, small, soft, brush.texts);
}

void paint_node_boxes(const MeshBrush& brush) {
  const MeshLayout& layout = brush.layout;
  const Theme& theme = brush.theme;
  const Nodes& nodes = brush.picture.wires->nodes;
  QPainter& painter = brush.painter;
  const QFont bold = theme.font(11, true), small = theme.font(11);
  double before = -1;
  for (const NodeBox& box : layout.boxes) {
    if (nodes.count() > 1) {
      // The network below a row of boxes, and what joins each to it.
      const double y = box.rect.bottom() + 10;
      painter.setPen(way_pen(theme.accent_line, 2, true));
      if (y != before)
        painter.drawLine(QPointF(layout.rect.left(), y), QPointF(layout.rect.right(), y));
      before = y;
      painter.drawLine(QPointF(box.rect.center().x(), box.rect.bottom()),
                       QPointF(box.rect.center().x(), y));
    }
    if (box.alike > 1)
      for (const double behind : {5.0, 2.5}) {
        painter.setPen(QPen(theme.control_line, 1));
        painter.setBrush(theme.surface);
        painter.drawRoundedRect(box.rect.translated(behind, behind), 6, 6);
      }
    painter.setPen(QPen(theme.accent_line, 1.2));
    painter.setBrush(mixed(theme.surface, theme.accent, 0.04));
    painter.drawRoundedRect(box.rect, 6, 6);
    const QRectF head(box.rect.left() + 8, box.rect.top() + 2, box.rect.width() - 16, 18);
    const QString name = MeshCells::tr("Node %1").arg(box.node);
    const QString alike = MeshCells::tr("%1 alike").arg(count_text(box.alike));
    put_elided(painter, head, Qt::AlignVCenter, name, bold, theme.text, brush.texts);
    const double left = QFontMetricsF(bold).horizontalAdvance(name) + 8;
    const auto fits = [&](const QString& text) {
      return left + QFontMetricsF(small).horizontalAdvance(text) <= head.width();
    };
    QString right = box.alike > 1 ? alike : wire_text(nodes, false);
    if (box.alike > 1 && !fits(right)) right = QStringLiteral("\u00d7 ") + count_text(box.alike);
    if (fits(right))
      put_text(painter, head, Qt::AlignVCenter | Qt::AlignRight, right, small, theme.muted,
               brush.texts);
  }
  const auto each = [&](void (*paint)(const MeshBrush&, int)) {
    for (const NodeBox& box : layout.boxes) {
      const int first = box.node * layout.devices;
      const int end = std::min(first + layout.devices, layout.mesh.ranks());
      for (int rank = first; rank < end; ++rank) paint(brush, rank);
    }
  };
  each(layout.numbered ? paint_rank_cell : paint_small_cell);
  paint_ways(brush);
  if (layout.numbered) each(paint_rank_text);
}

void paint_ways(const MeshBrush& brush) {
  const MeshPicture& picture = brush.picture;
  if (brush.moving()) return;
  QPainter& painter = brush.painter;
  painter.save();
  painter.setBrush(Qt::NoBrush);
  // Ways leave what stands in the cells of the group free.
  constexpr std::size_t kMostClipped = 64;
  if (brush.layout.numbered && picture.ways.members.size() <= 2 * kMostClipped) {
    QPainterPath outside;
    outside.addRect(brush.layout.rect.adjusted(-40, -40, 40, 40));
    for (const int rank : picture.ways.members) {
      QPainterPath cell;
      const QRectF own = brush.cell_of(rank);
      const QSizeF text(std::min(96.0, own.width() * 0.62), std::min(64.0, own.height() * 0.6));
      cell.addRect(QRectF(own.center() - QPointF(text.width(), text.height()) / 2, text));
      outside = outside.subtracted(cell);
    }
    painter.setClipPath(outside, Qt::IntersectClip);
  }
  std::set<std::tuple<double, double, double, double>> painted;  // folded ways lie on each other
  for (const auto& [from, to] : picture.ways.hops) {
    const QRectF begin = brush.cell_of(from), end = brush.cell_of(to);
    if (begin.isNull() || end.isNull()) continue;
    if (!painted.insert({begin.x(), begin.y(), end.x(), end.y()}).second) continue;
    painter.setPen(
        way_pen(brush.theme.solid(OpColor::kCommunication), 2.4, brush.leaves(from, to)));
    if (begin == end) {  // the next one is on a node that this one stands for
      const NodeBox& box =
          brush.layout.boxes[std::size_t(brush.layout.box_of[std::size_t(brush.node_of(from))])];
      painter.drawLine(QPointF(begin.right(), begin.center().y()),
                       QPointF(begin.right(), box.rect.bottom() + 10));
      continue;
    }
    // A way bends to one side, so that the way back of a ring is seen beside it.
    const QPointF a = begin.center(), b = end.center(), along = b - a;
    const double length = std::hypot(along.x(), along.y());
    const QPointF aside = QPointF(along.y(), -along.x()) / length * std::min(26.0, 8 + length / 12);
    QPainterPath path(a);
    path.quadTo((a + b) / 2 + aside, b);
    painter.drawPath(path);
  }
  painter.restore();
}

}  // namespace parallelarium
