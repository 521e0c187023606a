// SPDX-License-Identifier: GPL-3.0-or-later
// The Pipeline tab: title and legend, the stages of this moment, predicted and observed timelines
// on one axis, and the micro-batches held. Also the picture that is exported.
#pragma once

#include <QPainter>
#include <QWidget>
#include <memory>

#include "app/look/theme.h"
#include "app/state/session.h"
#include "app/views/timeline/timeline_paint.h"

namespace parallelarium {

class TimelineView;

struct PictureOptions {
  bool dark = false;
  bool playhead = false;   // show the moment, with outlines after it
  bool whole_step = true;  // else the visible range
  bool held_plot = true;
};
// A picture that explains itself: title, legend, source words, lanes, held micro-batches, and setup
// and machine in a footer. Onto any device; `size` in logical pixels.
void paint_picture(QPainter& painter, QSizeF size, const Session& session,
                   const PictureOptions& options, TextLog* texts = nullptr);
// A size at which nothing is cramped: 1200 wide, as high as its rows need.
QSize picture_size(const Session& session, const PictureOptions& options);

class PipelineView : public QWidget {
  Q_OBJECT

 public:
  explicit PipelineView(Session& session, QWidget* parent = nullptr);
  ~PipelineView() override;
  TimelineView& timeline();
  // Checkable actions and commands of this view, for menus and the shortcut sheet: pairs, table,
  // fit, focus, marks.
  QList<QAction*> view_actions() const;
  // What keys do while the table of ops has the focus.
  QList<QAction*> table_actions() const;
  // The text of the current frame.
  QString description() const;
  // The keyboard goes to a search field: Enter selects the next op of that name, Esc closes it.
  void open_search();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct State;
  void refresh();
  void align();
  void place_parts();
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
