// SPDX-License-Identifier: GPL-3.0-or-later
#include <QObject>
#include <QPixmap>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "app/look/figures.h"
#include "app/views/pipeline/editor/editor_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

namespace {

constexpr double kRowsHead = 22;
constexpr double kWidestCell = 36, kNarrowestCell = 26;
constexpr int kMostHeldSquares = 8;

// The action that the first fault of a rank names, and what it needs on the same rank: one that
// waits in a circle may stand before what it needs, too.
struct Broken {
  int at = -1, needs = -1;
};
Broken broken_in(const EditorPicture& picture, int rank) {
  Broken broken;
  const auto& line = picture.draft->ranks[static_cast<std::size_t>(rank)];
  const auto find = [&](const std::string& name, bool last) {
    int found = -1;
    for (std::size_t index = 0; index < line.size(); ++index) {
      if (action_text(line[index], picture.draft->chunks).toStdString() != name) continue;
      found = static_cast<int>(index);
      if (!last) break;
    }
    return found;
  };
  std::string op;
  for (const OrderFault& fault : *picture.faults) {
    if (fault.rank != rank || fault.op.empty()) continue;
    if (op.empty()) broken.at = find(fault.op, fault.sentence.id == "order-doubled");
    if (op.empty()) op = fault.op;
    if (fault.op == op && fault.sentence.id == "order-before")
      broken.needs = find(fault.needs, false);
  }
  return broken;
}

// Leads from what is needed to the action that needs it.
void paint_need(QPainter& painter, const EditorRows& at, int rank, const Broken& broken,
                const Theme& theme) {
  const QRectF from = at.cell_rect(rank, broken.needs), to = at.cell_rect(rank, broken.at);
  const double y = from.bottom() + 4;
  painter.setPen(QPen(theme.warning, 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(QPolygonF{QPointF(from.center().x(), from.bottom()),
                                 QPointF(from.center().x(), y), QPointF(to.center().x(), y)});
  painter.setBrush(theme.warning);
  painter.drawPolygon(QPolygonF{QPointF(to.center().x() - 4, to.bottom() + 5),
                                QPointF(to.center().x() + 4, to.bottom() + 5),
                                QPointF(to.center().x(), to.bottom() - 1)});
}

// The boxes of cells: each look is drawn once for a picture, and copied to where it stands.
class CellBoxes {
 public:
  CellBoxes(QPainter& painter, const Theme& theme) : painter_(painter), theme_(theme) {}

  void paint(const QRectF& cell, OpColor color, bool broken, bool selected) {
    if (!has_pixels(painter_)) return draw(painter_, cell, color, broken, selected);
    const auto [box, is_new] = boxes_.try_emplace({color, broken, selected});
    if (is_new) {
      const double ratio = painter_.deviceTransform().m11();
      box->second = QPixmap((cell.size() * ratio).toSize());
      box->second.setDevicePixelRatio(ratio);
      box->second.fill(Qt::transparent);
      QPainter inside(&box->second);
      inside.setRenderHint(QPainter::Antialiasing);
      draw(inside, QRectF(QPointF(), cell.size()), color, broken, selected);
    }
    painter_.drawPixmap(cell.topLeft(), box->second);
  }

 private:
  void draw(QPainter& painter, const QRectF& cell, OpColor color, bool broken,
            bool selected) const {
    painter.setBrush(selected ? theme_.accent_soft : broken ? theme_.surface : theme_.tint(color));
    painter.setPen(QPen(broken     ? theme_.warning
                        : selected ? theme_.accent_line
                                   : theme_.solid(color),
                        broken || selected ? 2 : 1));
    painter.drawRoundedRect(cell.adjusted(1.5, 1.5, -1.5, -1.5), 3, 3);
  }

  QPainter& painter_;
  const Theme& theme_;
  std::map<std::tuple<OpColor, bool, bool>, QPixmap> boxes_;
};

void paint_row_cell(QPainter& painter, CellBoxes& boxes, const QRectF& cell, const Action& action,
                    int chunks, bool broken, bool selected, const Theme& theme, TextLog* texts) {
  const OpColor color = color_of_kind(action.kind);
  boxes.paint(cell, color, broken, selected);
  QFont font = theme.font(11);
  QString text = action_text(action, chunks);
  if (label_width(font, text) > cell.width() - 4) font = theme.font(9);
  if (label_width(font, text) > cell.width() - 3) text = QString::number(action.microbatch);
  put_label(painter, cell, text, font,
            selected || broken ? theme.text : theme.ink_on(theme.tint(color)), texts);
}

void paint_row_held(QPainter& painter, const EditorPicture& picture, const EditorRows& at, int rank,
                    const QRectF& row, const Theme& theme, TextLog* texts) {
  const auto index = static_cast<std::size_t>(rank);
  const double held = picture.times->ranks[index].held;
  const double limit = picture.limits->empty() ? 0 : (*picture.limits)[index];
  const bool over = limit > 0 && held > limit + 1e-9;
  const QColor ink = over ? theme.warning : theme.text;
  put_text(painter, QRectF(at.held, row.top(), 26, row.height()), Qt::AlignVCenter,
           number_text(held), theme.font(12, true), ink, texts);
  const double most = std::max(held, limit);
  if (!at.narrow && most <= kMostHeldSquares && most > 0) {
    const QColor fill = theme.memory(Category::kActivations);
    for (int square = 0; square < static_cast<int>(std::ceil(most)); ++square) {
      const QRectF box(at.held + 26 + square * 15, row.center().y() - 4.5, 12, 9);
      painter.setPen(QPen(mixed(fill, theme.dark ? Qt::black : QColor(0x80, 0x60, 0), 0.3), 1));
      painter.setBrush(square < held ? QBrush(fill) : QBrush(Qt::NoBrush));
      painter.drawRoundedRect(box, 2, 2);
    }
  }
  if (limit > 0)
    put_text(painter, QRectF(at.mark, row.top(), 18, row.height()), Qt::AlignCenter,
             over ? QStringLiteral("✗") : QStringLiteral("✓"), theme.font(13, true),
             over ? theme.warning : theme.good, texts);
}

}  // namespace

QRectF EditorRows::track_rect(int rank) const {
  return QRectF(left, kRowsHead + rank * (row + gap), track, row);
}

QRectF EditorRows::cell_rect(int rank, int index) const {
  const QRectF whole = track_rect(rank);
  return QRectF(whole.left() + 3 + index * cell - scroll, whole.top() + 2, cell,
                whole.height() - 4);
}

double EditorRows::height(int ranks) const { return kRowsHead + ranks * (row + gap); }

EditorRows editor_rows(const EditorPicture& picture, double width, double scroll) {
  EditorRows at;
  const int ranks = static_cast<int>(picture.draft->ranks.size());
  at.row = ranks <= 8 && !picture.low ? 30 : 24;
  at.gap = ranks <= 8 && !picture.low ? 9 : 7;
  at.left = kEditorLabel;
  at.narrow = width < 720;
  const double placed = at.narrow ? 58 : 84,
               held = at.narrow ? 34 : 26 + kMostHeldSquares * 15 + 10, mark = 24;
  at.track = std::max(120.0, width - kEditorLabel - placed - held - mark - 22);
  at.placed = at.left + at.track + 14;
  at.held = at.placed + placed;
  at.mark = at.held + held;
  int most = 1;
  for (std::size_t rank = 0; rank < picture.draft->ranks.size(); ++rank)
    most = std::max({most, picture.times->ranks[rank].wanted,
                     static_cast<int>(picture.draft->ranks[rank].size())});
  at.cell = std::floor(std::clamp((at.track - 8) / (most + 1), kNarrowestCell, kWidestCell));
  at.scroll = std::clamp(scroll, 0.0, std::max(0.0, (most + 1) * at.cell - at.track + 6));
  return at;
}

std::optional<Spot> row_spot(const EditorPicture& picture, const EditorRows& at, QPointF point,
                             bool* on_action) {
  for (int rank = 0; rank < static_cast<int>(picture.draft->ranks.size()); ++rank) {
    const QRectF track = at.track_rect(rank);
    if (point.y() < track.top() - at.gap / 2 || point.y() > track.bottom() + at.gap / 2) continue;
    if (point.x() < track.left() || point.x() > track.right()) return std::nullopt;
    const int size = static_cast<int>(picture.draft->ranks[static_cast<std::size_t>(rank)].size());
    const double place = (point.x() - track.left() - 3 + at.scroll) / at.cell;
    const int index = std::clamp(static_cast<int>(std::floor(place)), 0, size);
    if (on_action) *on_action = index < size;
    return Spot{rank, index};
  }
  return std::nullopt;
}

void paint_editor_rows(QPainter& painter, const EditorPicture& picture, const EditorRows& at,
                       const Theme& theme, TextLog* texts) {
  painter.setRenderHint(QPainter::Antialiasing);
  const QFont small = theme.font(11);
  const auto head = [&](double x, double width, const QString& text, int flags = Qt::AlignLeft) {
    put_elided(painter, QRectF(x, 0, width, kRowsHead - 4), flags | Qt::AlignVCenter, text, small,
               theme.muted, texts);
  };
  put_text(painter, QRectF(2, 0, kEditorLabel - 2, kRowsHead - 4), Qt::AlignVCenter,
           QObject::tr("ORDER"), theme.caps(), theme.muted, texts);
  head(at.left, at.track,
       picture.editable
           ? QObject::tr("first to last, not time: drag, type, Alt+arrows move, Delete")
           : QObject::tr("first to last, not time"));
  head(at.placed, at.held - at.placed - 4, QObject::tr("placed"));
  head(at.held, at.mark - at.held + (at.narrow ? 24 : 0),
       at.narrow ? QObject::tr("held") : QObject::tr("held, at most"));
  CellBoxes boxes(painter, theme);
  for (int rank = 0; rank < static_cast<int>(picture.draft->ranks.size()); ++rank) {
    const QRectF track = at.track_rect(rank);
    if (!row_is_painted(painter, track)) continue;
    const auto& line = picture.draft->ranks[static_cast<std::size_t>(rank)];
    const DraftRank& times = picture.times->ranks[static_cast<std::size_t>(rank)];
    paint_row_name(painter, *picture.draft, rank, track, theme, texts);
    const bool current = picture.focused && picture.cursor.rank == rank;
    painter.setPen(QPen(current ? theme.accent_line : theme.hairline, current ? 1.6 : 1));
    painter.setBrush(theme.window);
    painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    painter.save();
    painter.setClipRect(track.adjusted(1, -1, -1, at.gap + 2), Qt::IntersectClip);
    const Broken broken = broken_in(picture, rank);
    const int first = std::max(0, static_cast<int>(at.scroll / at.cell) - 1);
    const int last = std::min(static_cast<int>(line.size()),
                              static_cast<int>((at.scroll + at.track) / at.cell) + 1);
    for (int index = first; index < last; ++index) {
      const bool selected = current && index >= std::min(picture.cursor.index, picture.anchor) &&
                            index < std::max(picture.cursor.index, picture.anchor);
      paint_row_cell(painter, boxes, at.cell_rect(rank, index),
                     line[static_cast<std::size_t>(index)], picture.draft->chunks,
                     index == broken.at, selected || picture.action == Spot{rank, index}, theme,
                     texts);
    }
    if (broken.at >= 0 && broken.needs >= 0) paint_need(painter, at, rank, broken, theme);
    if (picture.editable && (current || !picture.focused)) {
      const int index = current ? picture.cursor.index : static_cast<int>(line.size());
      const double x = at.cell_rect(rank, index).left();
      painter.setPen(QPen(current ? theme.text : theme.control_line, current ? 2 : 1));
      painter.drawLine(QPointF(x, track.top() + 5), QPointF(x, track.bottom() - 5));
    }
    painter.restore();
    const int placed = static_cast<int>(line.size());
    put_text(painter, QRectF(at.placed, track.top(), at.held - at.placed, track.height()),
             Qt::AlignVCenter,
             at.narrow ? QObject::tr("%1/%2").arg(placed).arg(times.wanted)
                       : QObject::tr("%1 of %2").arg(placed).arg(times.wanted),
             theme.font(12), placed == times.wanted ? theme.text : theme.muted, texts);
    paint_row_held(painter, picture, at, rank, track, theme, texts);
  }
}

}  // namespace parallelarium
