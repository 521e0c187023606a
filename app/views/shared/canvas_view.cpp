// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/canvas_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme.h"
#include "app/views/shared/paint/canvas.h"

namespace parallelarium {

CanvasView::CanvasView(Session& session, const QString& canvas_name, QWidget* parent)
    : View(session, parent) {
  const Canvas made = make_canvas(*this, canvas_name);
  scroll_ = made.scroll;
  canvas_ = made.canvas;
  ring_focus(*canvas_);
  setFocusProxy(canvas_);
}

CanvasView::~CanvasView() { canvas_->removeEventFilter(this); }

int CanvasView::canvas_width() const { return scroll_->viewport()->width(); }

void CanvasView::set_height(double height) {
  canvas_->resize(canvas_width(),
                  std::max(static_cast<int>(height), scroll_->viewport()->height()));
}

void CanvasView::resizeEvent(QResizeEvent* event) {
  View::resizeEvent(event);
  scroll_->setGeometry(rect());
  place_parts();
}

void CanvasView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refresh();
}

void CanvasView::retell() { describe_selected(); }

void CanvasView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange && canvas_) canvas_->update();
  View::changeEvent(event);
}

bool CanvasView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != canvas_) return View::eventFilter(watched, event);
  switch (event->type()) {
    case QEvent::Paint: {
      QPainter painter(canvas_);
      painter.fillRect(canvas_->rect(), theme_for(palette()).surface);
      paint(painter);
      return true;
    }
    case QEvent::MouseButtonPress:
      press(static_cast<QMouseEvent*>(event)->position());
      return false;
    case QEvent::MouseMove:
      drag(static_cast<QMouseEvent*>(event)->position());
      return false;
    case QEvent::MouseButtonRelease:
      release();
      return false;
    case QEvent::KeyPress:
      return press_key(static_cast<QKeyEvent*>(event)->key());
    case QEvent::ToolTip: {
      const auto* help = static_cast<QHelpEvent*>(event);
      return show_tip(help->pos(), help->globalPos());
    }
    default:
      return false;
  }
}

}  // namespace parallelarium
