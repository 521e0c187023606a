// SPDX-License-Identifier: GPL-3.0-or-later
// A view that is one tall picture on a canvas that scrolls. It turns the events of the canvas into
// calls of a few functions.
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

  void retell() override;

 protected:
  // Reads again what is shown. It is called whenever the view comes to the front.
  virtual void refresh() = 0;
  // Puts the parts on the canvas into their places, and calls set_height().
  virtual void place_parts() = 0;
  // Paints onto the canvas, whose surface is already filled.
  virtual void paint(QPainter& painter) = 0;
  virtual void press(QPointF) {}
  // The mouse moves, with a button down or without. After a press comes release().
  virtual void drag(QPointF) {}
  virtual void release() {}
  virtual bool press_key(int) { return false; }  // whether the key means something
  // At a point: on the canvas, and on the screen.
  virtual bool show_tip(QPointF, QPoint) { return false; }
  virtual void describe_selected() {}

  int canvas_width() const;  // the width of the canvas beside the scroll bar
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
