// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer/option_card.h"

#include <QPainter>
#include <algorithm>

#include "app/look/spoken.h"
#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme.h"

namespace parallelarium {

namespace {

constexpr int kCardSide = 10, kCardTop = 8, kMark = 14, kGap = 8;
constexpr int kText = kCardSide + kMark + kGap;
constexpr int kBarWidth = 26, kBarHeight = 4, kBarGap = 6;

}  // namespace

OptionCard::OptionCard(const QString& id, const QString& words, QWidget* parent)
    : QRadioButton(parent), id_(id), words_(words) {
  setAccessibleName(words);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

int OptionCard::heightForWidth(int width) const {
  const QRect room(0, 0, std::max(20, width - kText - kCardSide), 10000);
  return fontMetrics().boundingRect(room, Qt::TextWordWrap, words_).height() + 2 * kCardTop + 2;
}

QSize OptionCard::sizeHint() const { return {240, heightForWidth(std::max(width(), 120))}; }
QSize OptionCard::minimumSizeHint() const { return {80, heightForWidth(std::max(width(), 120))}; }

// Layouts inside a scroll area do not ask for a height that belongs to a width.
void OptionCard::resizeEvent(QResizeEvent* event) {
  QRadioButton::resizeEvent(event);
  const int needed = heightForWidth(width());
  if (needed != height()) setFixedHeight(needed);
}

void OptionCard::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_for(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF card = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setPen(isChecked()                   ? theme.accent_line
                 : underMouse() && isEnabled() ? theme.muted
                                               : theme.control_line);
  painter.setBrush(isChecked() ? theme.accent_soft : theme.surface);
  painter.drawRoundedRect(card, 6, 6);
  if (shows_focus(*this)) {  // dashes in ink: the accent would look like a choice
    painter.setPen(QPen(theme.text, 1, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(card.adjusted(3, 3, -3, -3), 4, 4);
  }
  const qreal middle = kCardTop + 1 + fontMetrics().height() / 2.0;
  painter.setPen(QPen(isChecked() ? theme.accent_line : theme.muted, 1.4));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(QPointF(kCardSide + kMark / 2.0, middle), 5.5, 5.5);
  if (isChecked()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.accent_line);
    painter.drawEllipse(QPointF(kCardSide + kMark / 2.0, middle), 3, 3);
  }
  painter.setPen(isEnabled() || isChecked() ? theme.text : theme.muted);
  painter.drawText(QRect(kText, kCardTop + 1, width() - kText - kCardSide, height() - 2 * kCardTop),
                   Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, words_);
}

StepDots::StepDots(QWidget* parent) : QWidget(parent) {
  speak_as(*this, {QAccessible::StaticText});
  setFixedHeight(kBarHeight);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void StepDots::set_steps(int steps, int current) {
  steps_ = steps;
  current_ = current;
  setAccessibleName(tr("Part %1 of %2").arg(current + 1).arg(steps));
  update();
}

void StepDots::paintEvent(QPaintEvent*) {
  if (steps_ <= 0) return;
  const Theme& theme = theme_for(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const qreal room = (width() - (steps_ - 1.0) * kBarGap) / steps_;
  const qreal bar = std::clamp(room, 4.0, qreal(kBarWidth));
  for (int step = 0; step < steps_; ++step) {
    QColor done = theme.accent_line;
    done.setAlphaF(0.5F);
    painter.setBrush(step == current_  ? theme.accent_line
                     : step < current_ ? done
                                       : theme.hairline);
    painter.drawRoundedRect(QRectF(step * (bar + kBarGap), 0, bar, kBarHeight), 2, 2);
  }
}

}  // namespace parallelarium
