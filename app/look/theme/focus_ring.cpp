// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme/focus_ring.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QSlider>
#include <QStyle>

namespace parallelarium {

namespace {

constexpr const char* kRing = "ring";  // the property

// What a style sheet rings. To polish others would cost them their own palettes.
bool is_ringed_by_sheet(const QWidget& widget) {
  return qobject_cast<const QAbstractButton*>(&widget) || qobject_cast<const QSlider*>(&widget) ||
         (qobject_cast<const QFrame*>(&widget) &&
          !qobject_cast<const QAbstractScrollArea*>(&widget));
}

void set_ring(QWidget& widget, bool on) {
  if (widget.property(kRing).toBool() == on) return;
  widget.setProperty(kRing, on);
  if (is_ringed_by_sheet(widget)) {
    widget.style()->unpolish(&widget);
    widget.style()->polish(&widget);
  }
  widget.update();
}

bool is_modifier(int key) {
  return key == Qt::Key_Shift || key == Qt::Key_Control || key == Qt::Key_Alt ||
         key == Qt::Key_AltGr || key == Qt::Key_Meta;
}

class FocusFollower : public QObject {
 public:
  explicit FocusFollower(QApplication& application) : QObject(&application) {
    setObjectName(QLatin1String(kFollowerName));
    application.installEventFilter(this);
  }
  static constexpr const char* kFollowerName = "FocusFollower";

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    auto* widget = watched->isWidgetType() ? static_cast<QWidget*>(watched) : nullptr;
    if (!widget) return false;
    switch (event->type()) {
      case QEvent::ShortcutOverride:
      case QEvent::KeyPress:
        if (is_modifier(static_cast<QKeyEvent*>(event)->key())) break;
        keys_ = true;
        if (event->type() == QEvent::KeyPress && widget->hasFocus()) set_ring(*widget, true);
        break;
      case QEvent::MouseButtonPress:
        keys_ = false;
        if (widget->hasFocus()) set_ring(*widget, false);
        break;
      case QEvent::FocusIn:
        take(*widget, static_cast<QFocusEvent*>(event)->reason());
        break;
      default:
        break;
    }
    return false;
  }

 private:
  void take(QWidget& widget, Qt::FocusReason reason) {
    switch (reason) {
      case Qt::ActiveWindowFocusReason:
      case Qt::PopupFocusReason:
        return;  // it was here before, and looks as it did then
      case Qt::MouseFocusReason:
        return set_ring(widget, false);
      case Qt::TabFocusReason:
      case Qt::BacktabFocusReason:
      case Qt::ShortcutFocusReason:
        return set_ring(widget, true);
      default:  // the program has moved it
        return set_ring(widget, keys_);
    }
  }
  bool keys_ = true;  // the last press was of a key
};

class FocusRing : public QWidget {
 public:
  // `beside`: pixels left and right of it, on its parent; 0: on itself.
  explicit FocusRing(QWidget& around, int beside = 0)
      : QWidget(beside > 0 ? around.parentWidget() : &around), beside_(beside) {
    setObjectName(QLatin1String(kFocusRingName));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    around.installEventFilter(this);
    hide();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    const auto& around = static_cast<const QWidget&>(*watched);
    switch (event->type()) {
      case QEvent::FocusIn:
      case QEvent::FocusOut:
      case QEvent::DynamicPropertyChange:
        place(around);
        raise();
        setVisible(shows_focus(around));
        break;
      case QEvent::Resize:
      case QEvent::Move:
        place(around);
        break;
      default:
        break;
    }
    return QWidget::eventFilter(watched, event);
  }

  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    paint_focus_ring(painter, rect(), ring_color(theme_for(palette())));
  }

 private:
  void place(const QWidget& around) {
    setGeometry(beside_ == 0 ? around.rect() : around.geometry().adjusted(-beside_, 0, beside_, 0));
  }
  int beside_;
};

}  // namespace

bool shows_focus(const QWidget& widget) {
  return widget.hasFocus() && widget.property(kRing).toBool();
}

void follow_focus(QApplication& application) {
  if (!application.findChild<QObject*>(QLatin1String(FocusFollower::kFollowerName),
                                       Qt::FindDirectChildrenOnly))
    new FocusFollower(application);
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

void ring_focus_beside(QWidget& widget, int pixels) { new FocusRing(widget, pixels); }

}  // namespace parallelarium
