// SPDX-License-Identifier: GPL-3.0-or-later
// What is drawn over the actions: messages, waits that the order chose, the critical path; and the
// legend of all marks.
#include <QObject>
#include <algorithm>

#include "app/views/pipeline/editor/editor_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

namespace {

constexpr double kPathWidth = 3, kSwatch = 22, kLegendGap = 18;

const DraftRank& rank_of(const EditorPicture& picture, int rank) {
  return picture.times->ranks[static_cast<std::size_t>(rank)];
}

// In the lower edge of the bars.
double path_y(const EditorTimes& at, int rank) {
  return at.row_rect(rank).bottom() - kPathWidth / 2 - 0.5;
}

bool costs_transfers(const EditorPicture& picture) {
  return picture.times->ranks.size() > 1 &&
         std::any_of(picture.durations->begin(), picture.durations->end(),
                     [](const Durations& stage) { return stage.transfer > 0; });
}

QPen transfer_pen(const Theme& theme) { return QPen(theme.solid(OpColor::kCommunication), 1); }

// A line between two short uprights, as long as the wait.
void add_chosen_wait(QVector<QLineF>& lines, double from, double to, double y, double reach) {
  if (to - from < 3) return;
  lines << QLineF(from + 1, y, to - 1, y) << QLineF(from + 1, y - reach, from + 1, y + reach)
        << QLineF(to - 1, y - reach, to - 1, y + reach);
}

void paint_mark_swatch(QPainter& painter, EditorMark mark, const QRectF& box, const Theme& theme) {
  painter.setBrush(Qt::NoBrush);
  switch (mark) {
    case EditorMark::kNext:
      painter.setPen(QPen(theme.solid(OpColor::kForward), 1.2, Qt::DashLine));
      painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
      break;
    case EditorMark::kPath:
      painter.setPen(QPen(theme.solid(OpColor::kForward), 1));
      painter.setBrush(theme.tint(OpColor::kForward));
      painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
      painter.fillRect(QRectF(box.left(), box.bottom() - kPathWidth - 0.5, box.width(), kPathWidth),
                       theme.text);
      break;
    case EditorMark::kTransfer:
      painter.setPen(transfer_pen(theme));
      painter.drawLine(box.topLeft(), box.bottomRight());
      break;
    case EditorMark::kWait:
    case EditorMark::kChosen:
      paint_hatching(painter, box, theme);
      painter.setPen(QPen(theme.text, 1));
      if (mark == EditorMark::kChosen) {
        QVector<QLineF> lines;
        add_chosen_wait(lines, box.left(), box.right(), box.center().y(), 4);
        painter.drawLines(lines);
      }
      break;
    case EditorMark::kGoal:
      painter.fillRect(QRectF(box.left(), box.center().y() - 1.5, box.width(), 3),
                       theme.accent_line);
      break;
  }
}

}  // namespace

std::vector<EditorMark> editor_marks(const EditorPicture& picture) {
  std::vector<EditorMark> marks;
  if (picture.ghosts && picture.editable) marks.push_back(EditorMark::kNext);
  if (picture.path) marks.push_back(EditorMark::kPath);
  if (costs_transfers(picture)) marks.push_back(EditorMark::kTransfer);
  marks.push_back(EditorMark::kWait);
  if (picture.chosen) marks.push_back(EditorMark::kChosen);
  if (picture.goal) marks.push_back(EditorMark::kGoal);
  return marks;
}

QString mark_words(EditorMark mark) {
  switch (mark) {
    case EditorMark::kNext:
      return QObject::tr("may come next");
    case EditorMark::kPath:
      return QObject::tr("critical path: it makes the length");
    case EditorMark::kTransfer:
      return QObject::tr("transfer to another rank");
    case EditorMark::kWait:
      return QObject::tr("waits");
    case EditorMark::kChosen:
      return QObject::tr("waits, though a later action could begin");
    case EditorMark::kGoal:
      return QObject::tr("works here in an order that solves it");
  }
  return {};
}

int editor_legend(QPainter* painter, const EditorPicture& picture, const QRectF& place,
                  const Theme& theme, TextLog* texts) {
  const QFont font = theme.font(11);
  const double row = EditorTimes().legend_row;
  double x = place.left();
  int rows = 1;
  for (const EditorMark mark : editor_marks(picture)) {
    const QString words = mark_words(mark);
    const double width = kSwatch + 6 + label_width(font, words);
    if (x > place.left() && x + width > place.right()) {
      x = place.left();
      ++rows;
    }
    if (painter) {
      const double y = place.top() + (rows - 1) * row;
      paint_mark_swatch(*painter, mark, QRectF(x, y + 3, kSwatch, row - 7), theme);
      put_elided(*painter, QRectF(x + kSwatch + 6, y, place.right() - x - kSwatch - 6, row - 1),
                 Qt::AlignVCenter, words, font, theme.muted, texts);
    }
    x += width + kLegendGap;
  }
  return rows;
}

void paint_editor_transfers(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                            const Theme& theme) {
  if (!costs_transfers(picture)) return;
  QVector<QLineF> lines;
  for (int rank = 0; rank < static_cast<int>(picture.times->ranks.size()); ++rank) {
    const QRectF to = at.row_rect(rank);
    for (const DraftBegin& began : rank_of(picture, rank).began) {
      if (began.sent_transfer <= 0) continue;
      const double sent =
          rank_of(picture, began.sender.rank).ran[static_cast<std::size_t>(began.sender.index)].end;
      const QRectF from = at.row_rect(began.sender.rank);
      const bool down = began.sender.rank < rank;
      lines << QLineF(at.x_of(sent), down ? from.bottom() : from.top(),
                      at.x_of(sent + began.sent_transfer), down ? to.top() : to.bottom());
    }
  }
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, !at.dense);
  painter.setPen(transfer_pen(theme));
  painter.drawLines(lines);
  painter.restore();
}

void paint_editor_chosen(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                         const Theme& theme) {
  if (!picture.chosen) return;
  QVector<QLineF> lines;
  for (const ChosenWait& wait : *picture.chosen) {
    const double y = std::floor(at.row_rect(wait.rank).center().y()) + 0.5;
    add_chosen_wait(lines, at.x_of(wait.begin), at.x_of(wait.end), y, 5);
  }
  painter.setPen(QPen(theme.text, 1));
  painter.drawLines(lines);
}

void paint_editor_path(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                       const Theme& theme) {
  if (!picture.path) return;
  QVector<QLineF> ways;
  for (std::size_t index = 0; index < picture.path->size(); ++index) {
    const DraftPlace& place = (*picture.path)[index];
    const TimedAction& ran =
        rank_of(picture, place.rank).ran[static_cast<std::size_t>(place.index)];
    const double y = path_y(at, place.rank), from = at.x_of(ran.begin), to = at.x_of(ran.end);
    painter.fillRect(QRectF(from, y - kPathWidth / 2, to - from, kPathWidth), theme.text);
    if (index == 0) continue;
    const DraftPlace& before = (*picture.path)[index - 1];
    const double end =
        rank_of(picture, before.rank).ran[static_cast<std::size_t>(before.index)].end;
    if (before.rank != place.rank) ways << QLineF(at.x_of(end), path_y(at, before.rank), from, y);
  }
  painter.setPen(QPen(theme.text, 1.6));
  painter.drawLines(ways);
}

}  // namespace parallelarium
