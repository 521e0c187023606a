// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/scroll_hint.h"

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
  explicit ScrollHint(QScrollArea& area) : QWidget(&area), area_(area) {
    setObjectName(QStringLiteral("ScrollHint"));
    setCursor(Qt::PointingHandCursor);
    setToolTip(QObject::tr("More below"));
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
    bar->setValue(bar->value() + bar->pageStep() - kHintHeight);
  }

 private:
  void follow() {
    const QScrollBar* bar = area_.verticalScrollBar();
    setVisible(bar->maximum() - bar->value() > kLeastHidden);
    const QRect view = area_.viewport()->geometry();
    setGeometry(view.left(), view.bottom() + 1 - kHintHeight, view.width(), kHintHeight);
    raise();
  }

  QScrollArea& area_;
};

}  // namespace

void add_scroll_hint(QScrollArea& area) { new ScrollHint(area); }

}  // namespace parallelarium
