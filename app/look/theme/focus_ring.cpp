// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme/focus_ring.h"

#include <QEvent>
#include <QFocusEvent>

namespace parallelarium {

namespace {

class FocusRing : public QWidget {
 public:
  explicit FocusRing(QWidget& around) : QWidget(&around) {
    setObjectName(QLatin1String(kFocusRingName));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    around.installEventFilter(this);
    hide();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::FocusIn) {
      setGeometry(parentWidget()->rect());
      raise();
      if (!comes_back(static_cast<QFocusEvent*>(event)->reason()))
        by_keyboard_ = static_cast<QFocusEvent*>(event)->reason() != Qt::MouseFocusReason;
      setVisible(by_keyboard_);
    }
    if (event->type() == QEvent::FocusOut) hide();
    if (event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
    return QWidget::eventFilter(watched, event);
  }

  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    paint_focus_ring(painter, rect(), ring_color(theme_for(palette())));
  }

 private:
  bool by_keyboard_ = false;  // how the focus came
};

}  // namespace

bool comes_back(Qt::FocusReason reason) {
  return reason == Qt::ActiveWindowFocusReason || reason == Qt::PopupFocusReason;
}

QColor ring_color(const Theme& theme, bool on_accent) {
  if (!on_accent) return theme.accent_line;
  return theme.dark ? QColor(Qt::white) : theme.mark;
}

void paint_focus_ring(QPainter& painter, const QRectF& around, const QColor& color) {
  constexpr double kInset = kRingWidth / 2.0, kCorner = 5;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, kRingWidth));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(around.adjusted(kInset, kInset, -kInset, -kInset), kCorner, kCorner);
}

void ring_focus(QWidget& widget) { new FocusRing(widget); }

}  // namespace parallelarium
