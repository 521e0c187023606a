// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/lesson_tile.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme.h"

namespace parallelarium {

namespace {

constexpr int kTileSide = 8, kTileTop = 7, kTileLine = 16, kTileMark = 14, kDue = 11;
constexpr double kSecondCheck = 5;

}  // namespace

LessonTile::LessonTile(const MapLesson& lesson, bool is_next, QWidget* parent)
    : QAbstractButton(parent),
      title_(lesson.title),
      done_(lesson.done),
      mastered_(lesson.mastered),
      due_(lesson.due),
      next_(is_next),
      off_(!lesson.refusal.isEmpty()) {
  speak_as(*this, {QAccessible::Button});
  setCheckable(true);
  setAutoExclusive(false);
  setCursor(Qt::PointingHandCursor);
  setFocusPolicy(Qt::StrongFocus);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  const QString how = mastered_ ? tr("mastered") : tr("done");
  const QString ahead = lesson.begun
                            ? tr("part %1 of %2").arg(lesson.reached).arg(lesson.steps.size())
                        : lesson.known && !done_ ? tr("can be skipped")
                                                 : minutes_text(lesson.minutes);
  below_ = done_ && !lesson.begun ? how : ahead;
  QString words = title_ + QStringLiteral(", ") + ahead;
  if (done_) words += QStringLiteral(", ") + how;
  if (due_) words += QStringLiteral(", ") + tr("due for review");
  if (off_) words += QStringLiteral(". ") + lesson.refusal;
  setAccessibleName(words);
  setToolTip(off_ ? lesson.refusal : lesson.summary);
}

int LessonTile::heightForWidth(int width) const {
  const QFontMetrics metrics(theme_for(palette()).font(12, true));
  const QRect room(0, 0, std::max(40, width - 2 * kTileSide - (due_ ? kDue : 0)), 1000);
  return metrics.boundingRect(room, Qt::TextWordWrap, title_).height() + kTileLine + 2 * kTileTop +
         2;
}

QSize LessonTile::sizeHint() const { return {150, heightForWidth(std::max(90, width()))}; }

void LessonTile::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_for(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool filled = next_;
  const QRectF card = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setPen(isChecked() ? theme.accent_line : underMouse() ? theme.muted : theme.control_line);
  painter.setBrush(filled ? theme.accent : isChecked() ? theme.accent_soft : theme.surface);
  painter.drawRoundedRect(card, 5, 5);
  if (hasFocus()) paint_focus_ring(painter, rect(), ring_color(theme, filled));
  const QColor ink = filled ? theme.ink_on(theme.accent) : off_ ? theme.muted : theme.text;
  const QRect inside = rect().adjusted(kTileSide, kTileTop, -kTileSide, -kTileTop);
  painter.setFont(theme.font(12, true));
  painter.setPen(ink);
  painter.drawText(inside.adjusted(0, 0, due_ ? -kDue : 0, -kTileLine), Qt::TextWordWrap, title_);
  painter.setFont(theme.font(11));
  painter.setPen(filled ? ink : theme.muted);
  painter.drawText(inside, Qt::AlignLeft | Qt::AlignBottom, below_);
  if (due_) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.mark);
    painter.drawEllipse(QPointF(inside.right() - 3, inside.top() + 5), 4, 4);
  }
  if (!done_) return;
  const QRectF mark(inside.right() - kTileMark + 1, inside.bottom() - kTileMark + 1, kTileMark,
                    kTileMark);
  painter.setPen(QPen(filled ? ink : theme.accent_line, 1.8));
  painter.setBrush(Qt::NoBrush);
  const QPolygonF check{mark.topLeft() + QPointF(3.6, 7.4), mark.topLeft() + QPointF(6.2, 10),
                        mark.topLeft() + QPointF(10.4, 4.6)};
  painter.drawPolyline(check);
  if (mastered_) painter.drawPolyline(check.translated(-kSecondCheck, 0));
}

void LessonTile::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    click();
    Q_EMIT opened();
    return;
  }
  for (const Qt::Key arrow : {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down})
    if (event->key() == arrow) return Q_EMIT arrow_pressed(arrow);
  QAbstractButton::keyPressEvent(event);
}

void LessonTile::mouseDoubleClickEvent(QMouseEvent*) { Q_EMIT opened(); }

}  // namespace parallelarium
