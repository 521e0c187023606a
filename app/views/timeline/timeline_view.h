// SPDX-License-Identifier: GPL-3.0-or-later
// Draws predicted and observed Timelines of a Program as bars: time on x, one row per rank on y
// with a thin communication lane under it. What is painted, and where, stands in timeline_paint.h;
// here are pointer, keys, zoom and the overlay. Reads the Session and changes nothing but through
// it.
#pragma once

#include <QAbstractScrollArea>
#include <QPainter>
#include <memory>
#include <optional>

#include "app/look/theme/theme.h"
#include "app/state/session.h"
#include "app/views/shared/view_keys.h"
#include "app/views/timeline/picture/timeline_paint.h"

class QAction;

namespace parallelarium {

class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineView(Session& session, QWidget* parent = nullptr);
  ~TimelineView() override;

  // The op under `position` (viewport coordinates), or none in a gap.
  std::optional<OpRef> op_at(QPointF position) const;
  // Where the time axis stands: x of the first visible instant and width, so that the stage boxes
  // above and the plot below line up with the bars.
  int axis_left() const;
  int axis_width() const;

  const Picture& picture() const;
  const PictureLayout& layout_of_rows() const;
  Arrangement arrangement() const;
  void set_arrangement(Arrangement arrangement);
  // Hides or shows all ranks of every stage but the first.
  void set_collapsed(bool collapsed);
  void act(ViewKey key);
  // Selects the next op that find_ops() knows by that name, in the lane that is walked, and shows
  // it. The answer is a sentence if there is none, else "2 of 8".
  QString find(const QString& name);
  // Names the keys anew, after a change of the preferences.
  void refresh_keys();
  // One action for each of view_keys(): with its key as shortcut text, for menus and the sheet. The
  // keys themselves act only while the view has focus.
  QList<QAction*> key_actions() const;
  // The text of the current frame and of what is selected.
  QString description() const;
  // The parts of it that a screen reader hears as the playhead moves and as the selection changes.
  QString moment() const;
  QString selected_words() const;
  // What a tooltip at `position` says.
  QString tip_at(QPointF position) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

  // Hidden behind the order editor it follows nothing; afterwards it shows what is then.
  void set_resting(bool resting);

 Q_SIGNALS:
  void hovered(const QString& text);
  void picture_changed();  // lanes, titles, the axis's place or time
  void arrangement_changed();

 protected:
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  struct State;
  void rebuild();   // the Session shows other lanes
  void relayout();  // size, zoom or arrangement changed
  void walk(int rows, int bars);
  void follow(bool back);
  void focus_on_selection();
  void toggle_mark(Nanoseconds time);
  void reveal(OpRef op, bool in_run);
  bool offers_other_run(QPointF at) const;
  Nanoseconds snap(Nanoseconds time, bool snapping) const;
  Nanoseconds anchor() const;
  void announce();
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
