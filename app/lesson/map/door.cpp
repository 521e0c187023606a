// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/door.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "app/look/theme/focus_ring.h"

namespace parallelarium {

namespace {

constexpr int kDoorSide = 16, kDoorTop = 12, kDoorTitle = 24;

}  // namespace

Door::Door(const QString& title, const QString& about, bool filled, QWidget* parent)
    : QAbstractButton(parent), title_(title), filled_(filled) {
  setCursor(Qt::PointingHandCursor);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  setText(title);  // for whoever looks for a button by its name
  set_about(about);
}

void Door::set_about(const QString& about) {
  about_ = about;
  setAccessibleName(title_ + QStringLiteral(". ") + about_);
  setMinimumHeight(heightForWidth(std::max(160, width())));
  update();
}

int Door::heightForWidth(int width) const {
  const QFontMetrics metrics(theme_for(palette()).font(13));
  const QRect room(0, 0, std::max(60, width - 2 * kDoorSide), 1000);
  return metrics.boundingRect(room, Qt::TextWordWrap, about_).height() + kDoorTitle + 2 * kDoorTop;
}

// Layouts inside others do not ask for a height that belongs to a width.
void Door::resizeEvent(QResizeEvent* event) {
  QAbstractButton::resizeEvent(event);
  setMinimumHeight(heightForWidth(width()));
}

void Door::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_for(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF card = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setPen(underMouse() ? theme.muted : theme.control_line);
  painter.setBrush(filled_ ? theme.accent : theme.surface);
  painter.drawRoundedRect(card, 8, 8);
  if (hasFocus()) paint_focus_ring(painter, rect(), ring_color(theme, filled_));
  const QRect inside = rect().adjusted(kDoorSide, kDoorTop, -kDoorSide, -kDoorTop);
  painter.setPen(filled_ ? theme.ink_on(theme.accent) : theme.text);
  painter.setFont(theme.font(15, true));
  painter.drawText(inside, Qt::AlignTop | Qt::AlignLeft, title_);
  painter.setFont(theme.font(13));
  if (!filled_) painter.setPen(theme.muted);
  painter.drawText(inside.adjusted(0, kDoorTitle, 0, 4), Qt::TextWordWrap, about_);
}

void Door::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return click();
  QAbstractButton::keyPressEvent(event);
}

}  // namespace parallelarium
