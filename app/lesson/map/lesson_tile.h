// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson on the map: its title, its minutes, and a mark where it is done, mastered or begun. It
// is a button, so that the keyboard and screen readers reach it.
#pragma once

#include <QAbstractButton>

#include "app/lesson/map/map_data.h"

namespace parallelarium {

class LessonTile : public QAbstractButton {
  Q_OBJECT

 public:
  LessonTile(const MapLesson& lesson, bool is_next, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {90, heightForWidth(90)}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  void opened();                // double click or Enter
  void arrow_pressed(int key);  // Qt::Key_Left, Right, Up or Down

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  QString title_, below_;
  bool done_, mastered_, due_, next_, off_;
};

}  // namespace parallelarium
