// SPDX-License-Identifier: GPL-3.0-or-later
// The drawing of a find step: a row of slots for each stage, in which the student marks what cannot
// be. A click or the space bar marks a cell, the arrows move between cells.
#pragma once

#include <QWidget>
#include <set>
#include <utility>

#include "engine/schedules/drawing.h"

namespace parallelarium {

class DrawingGrid : public QWidget {
  Q_OBJECT

 public:
  using Marks = std::set<std::pair<int, int>>;  // stage and slot

  explicit DrawingGrid(QWidget* parent = nullptr);

  void set_drawing(const Drawing& drawing, const Marks& marks);
  const Marks& marks() const { return marks_; }
  // Shows of each mark whether it is a fault; any further mark hides that again.
  void show_faults(bool shown);
  // No cell can be marked any more.
  void set_done(bool done);
  void set_asked(const QString& asked);  // heard before the first cell, until the cursor moves
  QRect cell_rect(int stage, int slot) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return false; }

 Q_SIGNALS:
  void marked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void toggle(int stage, int slot);
  QString all_words() const;  // row by row
  void tell();                // what a screen reader says of the cell with the cursor
  QString words_of(int stage, int slot) const;
  std::pair<int, int> cell_at(const QPoint& at) const;  // stage -1: none

  Drawing drawing_;
  Marks marks_;
  QString asked_;
  bool moved_ = false;
  Marks faults_;
  bool shows_faults_ = false, done_ = false;
  int stage_ = 0, slot_ = 0;  // of the cursor
};

}  // namespace parallelarium
