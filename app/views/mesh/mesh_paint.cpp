// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/mesh_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <set>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct Mesh2D {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

constexpr double kHead = 22, kLeft = 30, kGapX = 26, kGapY = 14, kPad = 5;
constexpr double kMostCell = 64, kMostHeight = 76, kLeastHeight = 16, kBar = 3;
constexpr double kCardGap = 10;

// From a hairline to the full colour of communication.
QColor heat(const Theme& theme, std::int64_t bytes, std::int64_t most) {
  const double share = most > 0 ? std::clamp(double(bytes) / double(most), 0.0, 1.0) : 0;
  return mixed(theme.hairline, theme.solid(OpColor::kCommunication),
               bytes > 0 ? 0.15 + 0.85 * std::sqrt(share) : 0);
}

struct Brush {
  QPainter& painter;
  const MeshPicture& picture;
  const MeshLayout& layout;
  const Theme& theme;
  TextLog* texts;
  Nanoseconds now{0};
  std::set<int> in_collective;  // global ranks that are in one now
  std::vector<MeshMotion::Message> messages;

  int built_of(int rank) const { return representative_of(*picture.program, layout.mesh, rank); }
  std::int64_t sent(int rank, Axis axis, int stage = -1) const {
    if (!picture.motion || picture.hides_traffic) return 0;
    return picture.motion->sent_until(built_of(rank), axis, stage, now);
  }
  QColor hot(std::int64_t bytes) const {
    return heat(theme, bytes, picture.motion ? picture.motion->most() : 0);
  }
};

void look_at_moment(Brush& brush) {
  const MeshPicture& picture = brush.picture;
  brush.now = picture.playhead.value_or(Nanoseconds::max());
  if (!picture.motion || !picture.playhead || picture.hides_traffic) return;
  const MeshMotion::Moment moment = picture.motion->at(brush.now);
  for (const MeshMotion::Lit& lit : moment.lit)
    brush.in_collective.insert(picture.program->ranks[std::size_t(lit.built)].rank);
  brush.messages = moment.messages;
}

// The letters of the axes along which `rank` shares a group with the selected one.
QString shared_axes(const Mesh& mesh, int rank, int selected) {
  const Coordinates a = coordinates_of(mesh, rank), b = coordinates_of(mesh, selected);
  const int differ = (a.tp != b.tp) + (a.cp != b.cp) + (a.pp != b.pp) + (a.dp != b.dp);
  if (differ != 1) return {};
  return a.tp != b.tp   ? QStringLiteral("TP")
         : a.cp != b.cp ? QStringLiteral("CP")
         : a.pp != b.pp ? QStringLiteral("PP")
                        : QStringLiteral("DP");
}

void paint_cell(const Brush& brush, int rank) {
  const QRectF cell = brush.layout.cell_of(rank).adjusted(1, 1, -1, -1);
  const Theme& theme = brush.theme;
  const int stage = coordinates_of(brush.layout.mesh, rank).pp;
  const bool selected = rank == brush.picture.selected;
  const bool lit = brush.in_collective.count(rank) > 0;
  const QString axes = shared_axes(brush.layout.mesh, rank, brush.picture.selected);
  QColor fill = mixed(theme.surface, theme.rank(stage), 0.12);
  if (!axes.isEmpty()) fill = theme.accent_soft;
  if (lit) fill = theme.solid(OpColor::kCommunication);
  if (selected) fill = theme.accent;
  brush.painter.setBrush(fill);
  const bool marked = selected || !axes.isEmpty();
  brush.painter.setPen(QPen(marked ? theme.accent_line
                            : lit  ? fill
                                   : theme.control_line,
                            marked ? 1.6 : 1));
  brush.painter.drawRoundedRect(cell, 4, 4);
  const QFont font = theme.font(11, selected), small = theme.font(9);
  const QColor ink = selected || lit ? theme.ink_on(fill) : theme.text;
  const QString number = QString::number(rank);
  const double both = QFontMetricsF(font).horizontalAdvance(number) +
                      QFontMetricsF(small).horizontalAdvance(axes) + 10;
  if (!axes.isEmpty() && both <= cell.width()) {
    put_text(brush.painter, cell.adjusted(4, 0, 0, 0), Qt::AlignVCenter, number, font, ink,
             brush.texts);
    put_text(brush.painter, cell.adjusted(0, 0, -4, 0), Qt::AlignVCenter | Qt::AlignRight, axes,
             small, lit ? ink : theme.muted, brush.texts);
    return;
  }
  if (axes.isEmpty() || cell.height() < 36) {
    put_text(brush.painter, cell, Qt::AlignCenter, number, font, ink, brush.texts);
    return;
  }
  put_text(brush.painter, cell.translated(0, -7), Qt::AlignCenter, number, font, ink, brush.texts);
  put_text(brush.painter, cell.translated(0, 8), Qt::AlignCenter, axes, small,
           lit ? ink : theme.muted, brush.texts);
}

// Links between and inside blocks, as bars that heat with the bytes so far.
void paint_links(const Brush& brush) {
  const Mesh& mesh = brush.layout.mesh;
  QPainter& painter = brush.painter;
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
      if (mesh.tp > 1)
        painter.fillRect(QRectF(block.left(), block.bottom() - kBar, block.width(), kBar),
                         brush.hot(tp));
      if (mesh.cp > 1)
        painter.fillRect(QRectF(block.left(), block.top(), kBar, block.height()), brush.hot(cp));
      if (pp + 1 < mesh.pp) {
        const QRectF next = brush.layout.block_of(dp, pp + 1);
        const QRectF gap(block.right() + 3, block.center().y() - 5, next.left() - block.right() - 6,
                         kBar);
        painter.fillRect(gap, brush.hot(on));
        painter.fillRect(gap.translated(0, 7), brush.hot(back));
      }
      if (dp + 1 < mesh.dp) {
        const QRectF below = brush.layout.block_of(dp + 1, pp);
        painter.fillRect(QRectF(block.center().x() - kBar / 2, block.bottom() + 2, kBar,
                                below.top() - block.bottom() - 4),
                         brush.hot(data));
      }
    }
}

void paint_messages(const Brush& brush) {
  for (const MeshMotion::Message& message : brush.messages) {
    if (message.to < 0) continue;
    const QPointF from = brush.layout.cell_of(message.from).center();
    const QPointF to = brush.layout.cell_of(message.to).center();
    const double share = brush.picture.tweened ? message.share : std::round(message.share);
    const QPointF at = from + (to - from) * share;
    brush.painter.setPen(QPen(brush.theme.surface, 1));
    brush.painter.setBrush(brush.theme.solid(OpColor::kCommunication));
    brush.painter.drawEllipse(at, 5, 5);
  }
}

void paint_grid(const Brush& brush) {
  const Mesh& mesh = brush.layout.mesh;
  const Theme& theme = brush.theme;
  const QFont small = theme.font(11);
  paint_links(brush);
  for (int pp = 0; pp < mesh.pp; ++pp) {
    const QRectF block = brush.layout.block_of(0, pp);
    const RankClass* one = nullptr;
    for (const RankClass& other : brush.picture.classes)
      if (other.stage == pp) one = &other;
    const QString stage = Mesh2D::tr("Stage %1").arg(pp);
    const QString layers =
        one ? Mesh2D::tr("%1, layers %2").arg(stage, layers_text(one->layers)) : stage;
    const QRectF head(block.left(), brush.layout.rect.top(), block.width() + kGapX - 8, kHead - 2);
    const bool fits = QFontMetricsF(small).horizontalAdvance(layers) <= head.width();
    put_elided(brush.painter, head, Qt::AlignVCenter, fits ? layers : stage, small, theme.muted,
               brush.texts);
  }
  if (mesh.dp > 1)
    for (int dp = 0; dp < mesh.dp; ++dp) {
      const QRectF block = brush.layout.block_of(dp, 0);
      put_text(brush.painter,
               QRectF(brush.layout.rect.left(), block.top(), kLeft - 6, block.height()),
               Qt::AlignVCenter, QStringLiteral("D%1").arg(dp), small, theme.muted, brush.texts);
    }
  for (int rank = 0; rank < mesh.ranks(); ++rank) paint_cell(brush, rank);
  paint_messages(brush);
}

void paint_cards(const Brush& brush) {
  const Theme& theme = brush.theme;
  const int selected_stage = coordinates_of(brush.layout.mesh, brush.picture.selected).pp;
  const QFont bold = theme.font(12, true), small = theme.font(11);
  for (const RankClass& one : brush.picture.classes) {
    const QRectF card = brush.layout.card_of(one.stage).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool lit = brush.in_collective.count(one.first) > 0;
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
    const double inside = card.width() - 16;
    const QStringList lines{
        Mesh2D::tr("Stage %1").arg(one.stage),
        Mesh2D::tr("%1 ranks alike").arg(count_text(one.ranks)),
        Mesh2D::tr("layers %1").arg(layers_text(one.layers)),
        Mesh2D::tr("%1 at most").arg(bytes_text(one.peak_bytes)),
        brush.picture.hides_traffic ? QString() : Mesh2D::tr("sent %1").arg(bytes_text(sent))};
    double y = card.top() + 5;
    for (int at = 0; at < lines.size() && y + 16 <= card.bottom() - 4; ++at, y += 17)
      put_elided(brush.painter, QRectF(card.left() + 8, y, inside, 16), Qt::AlignVCenter, lines[at],
                 at == 0 ? bold : small, at == 0 ? theme.text : theme.muted, brush.texts);
    brush.painter.fillRect(QRectF(card.left() + 2, card.bottom() - 4, card.width() - 4, kBar),
                           brush.hot(sent));
  }
}

}  // namespace

QRectF MeshLayout::block_of(int dp, int pp) const {
  return QRectF(origin + QPointF(pp * pitch.x(), dp * pitch.y()), block);
}

QRectF MeshLayout::cell_of(int rank) const {
  const Coordinates at = coordinates_of(mesh, rank);
  if (by_class) return card_of(at.pp);
  const QRectF own = block_of(at.dp, at.pp);
  return QRectF(own.left() + kPad + at.tp * cell_width, own.top() + kPad + at.cp * cell_height,
                cell_width, cell_height);
}

QRectF MeshLayout::card_of(int stage) const {
  return QRectF(origin + QPointF((stage % columns) * pitch.x(), (stage / columns) * pitch.y()),
                block);
}

int MeshLayout::rank_at(QPointF point) const {
  if (by_class) {
    for (int stage = 0; stage < mesh.pp; ++stage)
      if (card_of(stage).contains(point)) return rank_of(mesh, {0, 0, stage, 0});
    return -1;
  }
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    if (cell_of(rank).contains(point)) return rank;
  return -1;
}

MeshLayout mesh_layout(const Mesh& mesh, const QRectF& rect, const Theme& theme) {
  MeshLayout layout;
  layout.rect = rect;
  layout.mesh = mesh;
  const double left = mesh.dp > 1 ? kLeft : 0;
  const double wide = (rect.width() - left - (mesh.pp - 1) * kGapX) / mesh.pp - 2 * kPad;
  const double high = (rect.height() - kHead - (mesh.dp - 1) * kGapY) / mesh.dp - 2 * kPad;
  layout.cell_width = std::min(kMostCell, std::floor(wide / mesh.tp));
  layout.cell_height = std::min(kMostHeight, std::floor(high / mesh.cp));
  const double number =
      QFontMetricsF(theme.font(11, true)).horizontalAdvance(QString::number(mesh.ranks() - 1));
  layout.by_class = layout.cell_width < number + 6 || layout.cell_height < kLeastHeight;
  if (!layout.by_class) {
    layout.block =
        QSizeF(layout.cell_width * mesh.tp + 2 * kPad, layout.cell_height * mesh.cp + 2 * kPad);
    layout.origin = rect.topLeft() + QPointF(left, kHead);
    layout.pitch = QPointF(layout.block.width() + kGapX, layout.block.height() + kGapY);
    return layout;
  }
  // As many columns as make the cards widest while all rows still fit.
  for (layout.columns = 1; layout.columns < mesh.pp; ++layout.columns) {
    const int rows = (mesh.pp + layout.columns - 1) / layout.columns;
    const double height = (rect.height() + kCardGap) / rows - kCardGap;
    const double width = (rect.width() + kCardGap) / (layout.columns + 1) - kCardGap;
    if (height >= 96 || width < 118) break;
  }
  const int rows = (mesh.pp + layout.columns - 1) / layout.columns;
  layout.block = QSizeF((rect.width() + kCardGap) / layout.columns - kCardGap,
                        std::min(110.0, (rect.height() + kCardGap) / rows - kCardGap));
  layout.origin = rect.topLeft();
  layout.pitch = QPointF(layout.block.width() + kCardGap, layout.block.height() + kCardGap);
  return layout;
}

void paint_mesh(QPainter& painter, const MeshPicture& picture, const MeshLayout& layout,
                const Theme& theme, TextLog* texts) {
  if (!picture.prediction || picture.prediction->program.ranks.empty()) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (picture.dimmed) painter.setOpacity(kDimmed);
  Brush brush{painter, picture, layout, theme, texts, {}, {}, {}};
  look_at_moment(brush);
  if (layout.by_class)
    paint_cards(brush);
  else
    paint_grid(brush);
  painter.restore();
}

}  // namespace parallelarium
