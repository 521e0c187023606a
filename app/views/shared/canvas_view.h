// SPDX-License-Identifier: GPL-3.0-or-later
// A view that is one tall picture on a canvas that scrolls: it brings what happens on the canvas to
// a few functions.
#pragma once

#include "app/views/view.h"

class QScrollArea;

namespace parallelarium {

class CanvasView : public View {
  Q_OBJECT

 public:
  CanvasView(Session& session, const QString& canvas_name, QWidget* parent);
  ~CanvasView() override;
  QWidget& canvas() const { return *canvas_; }

 protected:
  // Reads anew what is shown. It is called whenever the view comes to the front.
  virtual void refresh() = 0;
  // Puts the parts on the canvas into their places, and set_height().
  virtual void place_parts() = 0;
  // Onto the canvas, whose surface is filled already.
  virtual void paint(QPainter& painter) = 0;
  virtual void press(QPointF) {}
  // The mouse moves with a button down, or up; then comes release().
  virtual void drag(QPointF) {}
  virtual void release() {}
  virtual bool press_key(int) { return false; }             // whether the key means something
  virtual bool show_tip(QPointF, QPoint) { return false; }  // at a point, here and on the screen
  // Tells what is selected, also after the window has cleared what the view before said.
  virtual void describe_selected() {}

  int canvas_width() const;  // that the canvas has beside the scroll bar
  void set_height(double height);

  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QScrollArea* scroll_ = nullptr;
  QWidget* canvas_ = nullptr;
};

}  // namespace parallelarium
