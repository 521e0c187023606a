// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/scroll_hint.h"

#include <QEvent>
#include <QLinearGradient>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>

#include "app/look/theme/theme.h"

namespace parallelarium {

namespace {

constexpr int kHintHeight = 30;
constexpr int kLeastHidden = 6;  // pixels: less is only a margin

class ScrollHint : public QWidget {
 public:
  ScrollHint(QScrollArea& area, bool above) : QWidget(&area), area_(area), above_(above) {
    setObjectName(above ? QStringLiteral("ScrollHintAbove") : QStringLiteral("ScrollHint"));
    setCursor(Qt::PointingHandCursor);
    setToolTip(above ? QObject::tr("More above") : QObject::tr("More below"));
    area.installEventFilter(this);
    connect(area.verticalScrollBar(), &QScrollBar::valueChanged, this, &ScrollHint::follow);
    connect(area.verticalScrollBar(), &QScrollBar::rangeChanged, this, &ScrollHint::follow);
    follow();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Show) follow();
    return QWidget::eventFilter(watched, event);
  }

  void paintEvent(QPaintEvent*) override {
    const Theme& theme = theme_for(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (above_) {  // the same, turned over
      painter.translate(0, height());
      painter.scale(1, -1);
    }
    QColor clear = theme.surface;
    clear.setAlpha(0);
    QLinearGradient fade(0, 0, 0, height());
    fade.setColorAt(0, clear);
    fade.setColorAt(0.6, theme.surface);
    painter.fillRect(rect(), fade);
    const QPointF tip(width() / 2.0, height() - 5.0);
    painter.setPen(QPen(theme.muted, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(QPolygonF{tip + QPointF(-6, -5), tip, tip + QPointF(6, -5)});
  }

  void mousePressEvent(QMouseEvent*) override {
    QScrollBar* bar = area_.verticalScrollBar();
    const int page = bar->pageStep() - 2 * kHintHeight;
    bar->setValue(bar->value() + (above_ ? -page : page));
  }

 private:
  void follow() {
    const QScrollBar* bar = area_.verticalScrollBar();
    const int hidden = above_ ? bar->value() - bar->minimum() : bar->maximum() - bar->value();
    setVisible(hidden > kLeastHidden);
    const QRect view = area_.viewport()->geometry();
    setGeometry(view.left(), above_ ? view.top() : view.bottom() + 1 - kHintHeight, view.width(),
                kHintHeight);
    raise();
  }

  QScrollArea& area_;
  const bool above_;
};

}  // namespace

void add_scroll_hint(QScrollArea& area) {
  for (const bool above : {false, true}) new ScrollHint(area, above);
}

}  // namespace parallelarium
