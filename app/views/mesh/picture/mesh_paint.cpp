// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/picture/mesh_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/mesh/picture/mesh_brush.h"

namespace parallelarium {
namespace {

struct Mesh2D {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

constexpr double kMeshHead = 22, kMeshLeft = 30, kMeshBar = 3;

// From a hairline to the full colour of communication.
QColor heat(const Theme& theme, std::int64_t bytes, std::int64_t most) {
  const double share = most > 0 ? std::clamp(double(bytes) / double(most), 0.0, 1.0) : 0;
  return mixed(theme.hairline, theme.solid(OpColor::kCommunication),
               bytes > 0 ? 0.15 + 0.85 * std::sqrt(share) : 0);
}

void look_at_moment(MeshBrush& brush) {
  const MeshPicture& picture = brush.picture;
  brush.now = picture.playhead.value_or(Nanoseconds::max());
  if (!picture.motion || !picture.playhead || picture.hides_traffic) return;
  const MeshMotion::Moment moment = picture.motion->at(brush.now);
  for (const MeshMotion::Lit& lit : moment.lit) brush.in_collective.insert(lit.built);
  brush.messages = moment.messages;
}

// A link of the mesh as a bar: whole within a node, cut in pieces where it leaves it.
void paint_bar(const MeshBrush& brush, const QRectF& bar, const QColor& color, bool leaves) {
  constexpr double kPiece = 5, kAir = 2;
  if (!leaves) {
    brush.painter.fillRect(bar, color);
    return;
  }
  const bool wide = bar.width() >= bar.height();
  const double length = wide ? bar.width() : bar.height();
  for (double at = 0; at < length; at += kPiece + kAir) {
    const double piece = std::min(kPiece, length - at);
    brush.painter.fillRect(wide ? QRectF(bar.left() + at, bar.top(), piece, bar.height())
                                : QRectF(bar.left(), bar.top() + at, bar.width(), piece),
                           color);
  }
}

// Links between and inside blocks, as bars that heat with the bytes so far.
void paint_links(const MeshBrush& brush) {
  const Mesh& mesh = brush.layout.mesh;
  for (int dp = 0; dp < mesh.dp; ++dp)
    for (int pp = 0; pp < mesh.pp; ++pp) {
      const QRectF block = brush.layout.block_of(dp, pp);
      std::int64_t tp = 0, cp = 0, data = 0, on = 0, back = 0;
      for (int inner = 0; inner < mesh.tp * mesh.cp; ++inner) {
        Coordinates at{dp, inner % mesh.tp, pp, inner / mesh.tp};
        const int rank = rank_of(mesh, at);
        tp = std::max(tp, brush.sent(rank, Axis::kTp));
        cp = std::max(cp, brush.sent(rank, Axis::kCp));
        data = std::max(data, brush.sent(rank, Axis::kDp));
        if (pp + 1 < mesh.pp) {
          on = std::max(on, brush.sent(rank, Axis::kPp, pp + 1));
          at.pp = pp + 1;
          back = std::max(back, brush.sent(rank_of(mesh, at), Axis::kPp, pp));
        }
      }
      const int first = rank_of(mesh, {dp, 0, pp, 0});
      const auto to = [&](const Coordinates& at) { return brush.leaves(first, rank_of(mesh, at)); };
      if (mesh.tp > 1)
        paint_bar(brush,
                  QRectF(block.left() + 7, block.bottom() - kMeshBar, block.width() - 14, kMeshBar),
                  brush.hot(tp), to({dp, mesh.tp - 1, pp, 0}));
      if (mesh.cp > 1)
        paint_bar(brush, QRectF(block.left(), block.top(), kMeshBar, block.height()), brush.hot(cp),
                  to({dp, 0, pp, mesh.cp - 1}));
      if (pp + 1 < mesh.pp) {
        const QRectF next = brush.layout.block_of(dp, pp + 1);
        const QRectF gap(block.right() + 3, block.center().y() - 5, next.left() - block.right() - 6,
                         kMeshBar);
        paint_bar(brush, gap, brush.hot(on), to({dp, 0, pp + 1, 0}));
        paint_bar(brush, gap.translated(0, 7), brush.hot(back), to({dp, 0, pp + 1, 0}));
      }
      if (dp + 1 < mesh.dp) {
        const QRectF below = brush.layout.block_of(dp + 1, pp);
        const bool leaves = to({dp + 1, 0, pp, 0});
        if (below.top() > block.top() && below.left() == block.left())
          paint_bar(brush,
                    QRectF(block.center().x() - kMeshBar / 2, block.bottom() + 2, kMeshBar,
                           below.top() - block.bottom() - 4),
                    brush.hot(data), leaves);
        else if (below.top() == block.top())
          paint_bar(brush,
                    QRectF(block.right() + 3, block.center().y() - kMeshBar / 2,
                           below.left() - block.right() - 6, kMeshBar),
                    brush.hot(data), leaves);
      }
    }
}

void paint_messages(const MeshBrush& brush) {
  for (const MeshMotion::Message& message : brush.messages) {
    if (message.to < 0) continue;
    const QRectF begin = brush.cell_of(message.from), end = brush.cell_of(message.to);
    if (begin.isNull() || end.isNull()) continue;
    const QPointF from = begin.center(), to = end.center();
    const double share = brush.picture.tweened ? message.share : std::round(message.share);
    const QPointF at = from + (to - from) * share;
    brush.painter.setPen(QPen(brush.theme.surface, 1));
    brush.painter.setBrush(brush.theme.solid(OpColor::kCommunication));
    brush.painter.drawEllipse(at, 5, 5);
  }
}

void paint_grid(const MeshBrush& brush) {
  const Mesh& mesh = brush.layout.mesh;
  const Theme& theme = brush.theme;
  const QFont small = theme.font(11);
  paint_node_borders(brush);
  if (!brush.moving()) paint_links(brush);
  for (int pp = 0; pp < mesh.pp; ++pp) {
    const QRectF block = brush.layout.block_of(0, pp);
    const RankClass* one = nullptr;
    for (const RankClass& other : brush.picture.classes)
      if (other.stage == pp) one = &other;
    const QString stage = Mesh2D::tr("Stage %1").arg(pp);
    const QString layers =
        one ? Mesh2D::tr("%1, layers %2").arg(stage, layers_text(one->layers)) : stage;
    const QRectF head(block.left(), brush.layout.rect.top(), block.width() + 18, kMeshHead - 2);
    const bool fits = QFontMetricsF(small).horizontalAdvance(layers) <= head.width();
    put_elided(brush.painter, head, Qt::AlignVCenter, fits ? layers : stage, small, theme.muted,
               brush.texts);
  }
  if (mesh.dp > 1 && mesh.pp > 1)
    for (int dp = 0; dp < mesh.dp; ++dp) {
      const QRectF block = brush.layout.block_of(dp, 0);
      put_text(brush.painter,
               QRectF(brush.layout.rect.left(), block.top(), kMeshLeft - 6, block.height()),
               Qt::AlignVCenter, QStringLiteral("D%1").arg(dp), small, theme.muted, brush.texts);
    }
  for (int rank = 0; rank < mesh.ranks(); ++rank) paint_rank_cell(brush, rank);
  paint_ways(brush);
  for (int rank = 0; rank < mesh.ranks(); ++rank) paint_rank_text(brush, rank);
  paint_torn_nodes(brush);
}

// What a card stands for: one replica's TP x CP ranks, and behind them the other replicas.
void paint_replicas(const MeshBrush& brush, const QRectF& rect, int stage) {
  const Mesh& mesh = brush.layout.mesh;
  const double side =
      std::floor(std::min({32.0, (rect.width() - 12) / mesh.tp, (rect.height() - 26) / mesh.cp}));
  if (side < 4) return;
  QPainter& painter = brush.painter;
  const QSizeF block(side * mesh.tp, side * mesh.cp);
  painter.setPen(QPen(brush.theme.control_line, 1));
  for (int behind = std::min(3, mesh.dp - 1); behind >= 0; --behind) {
    const QRectF place(rect.topLeft() + QPointF(0.5 + 4 * behind, 0.5 + 3 * behind), block);
    painter.setBrush(brush.theme.surface);
    painter.drawRect(place);
    if (behind > 0) continue;
    painter.setBrush(mixed(brush.theme.surface, brush.theme.rank(stage), 0.3));
    for (int inner = 0; inner < mesh.tp * mesh.cp; ++inner)
      painter.drawRect(QRectF(place.left() + inner % mesh.tp * side,
                              place.top() + inner / mesh.tp * side, side, side));
  }
  QStringList parts;
  if (mesh.tp > 1) parts << QStringLiteral("TP %1").arg(mesh.tp);
  if (mesh.cp > 1) parts << QStringLiteral("CP %1").arg(mesh.cp);
  if (mesh.dp > 1) parts << Mesh2D::tr("%1 replicas").arg(count_text(mesh.dp));
  put_elided(brush.painter, QRectF(rect.left(), rect.top() + block.height() + 12, rect.width(), 14),
             Qt::AlignVCenter, parts.join(QStringLiteral(" \u00d7 ")), brush.theme.font(10),
             brush.theme.muted, brush.texts);
}

void paint_cards(const MeshBrush& brush) {
  const Theme& theme = brush.theme;
  const int selected_stage = coordinates_of(brush.layout.mesh, brush.picture.selected).pp;
  const QFont bold = theme.font(12, true), small = theme.font(11);
  for (const RankClass& one : brush.picture.classes) {
    const QRectF card = brush.layout.card_of(one.stage).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool lit = brush.in_collective.count(one.built) > 0;
    const bool selected = one.stage == selected_stage;
    brush.painter.setBrush(selected ? theme.accent_soft : theme.surface);
    brush.painter.setPen(QPen(lit        ? theme.solid(OpColor::kCommunication)
                              : selected ? theme.accent_line
                                         : theme.control_line,
                              lit || selected ? 2 : 1));
    brush.painter.drawRoundedRect(card, 6, 6);
    std::int64_t sent = 0;
    for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kPp, Axis::kEp})
      sent += brush.sent(one.first, axis);
    const double inside = card.width() > 300 ? 150 : card.width() - 16;
    const QStringList lines{Mesh2D::tr("Stage %1").arg(one.stage),
                            Mesh2D::tr("%1 ranks alike").arg(count_text(one.ranks)),
                            Mesh2D::tr("layers %1").arg(layers_text(one.layers)),
                            Mesh2D::tr("%1 at most").arg(bytes_text(one.peak_bytes)),
                            brush.picture.hides_traffic ? QString()
                            : brush.picture.playhead
                                ? Mesh2D::tr("sent %1 so far").arg(bytes_text(sent))
                                : Mesh2D::tr("sends %1").arg(bytes_text(sent))};
    double y = card.top() + 5;
    for (int at = 0; at < lines.size() && y + 16 <= card.bottom() - 4; ++at, y += 17)
      put_elided(brush.painter, QRectF(card.left() + 8, y, inside, 16), Qt::AlignVCenter, lines[at],
                 at == 0 ? bold : small, at == 0 ? theme.text : theme.muted, brush.texts);
    // Beside the lines of a wide card, below those of a tall one.
    if (card.width() > 300)
      paint_replicas(
          brush, QRectF(card.left() + 170, card.top() + 12, card.width() - 180, card.height() - 20),
          one.stage);
    else if (card.bottom() - y > 40)
      paint_replicas(brush, QRectF(card.left() + 8, y + 4, inside, card.bottom() - y - 14),
                     one.stage);
    brush.painter.fillRect(QRectF(card.left() + 2, card.bottom() - 4, card.width() - 4, kMeshBar),
                           brush.hot(sent));
  }
}

}  // namespace

std::int64_t MeshBrush::sent(int rank, Axis axis, int stage) const {
  if (!picture.motion || picture.hides_traffic) return 0;
  return picture.motion->sent_until(built_of(rank), axis, stage, now);
}

QColor MeshBrush::hot(std::int64_t bytes) const {
  return heat(theme, bytes, picture.motion ? picture.motion->most() : 0);
}

void paint_mesh(QPainter& painter, const MeshPicture& picture, const MeshLayout& layout,
                const Theme& theme, TextLog* texts) {
  if (!picture.prediction || !picture.wires || picture.prediction->program.ranks.empty()) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (picture.dimmed) painter.setOpacity(kDimmed);
  MeshBrush brush{painter, picture, layout, theme, texts, {}, {}, {}};
  look_at_moment(brush);
  if (layout.form == MeshForm::kNodes)
    paint_node_boxes(brush);
  else if (layout.by_class)
    paint_cards(brush);
  else
    paint_grid(brush);
  if (!layout.by_class && !brush.moving()) paint_messages(brush);
  painter.restore();
}

}  // namespace parallelarium
