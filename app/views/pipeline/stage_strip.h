// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of one moment above the timeline: a box per stage with its op and the micro-batches
// it holds, and numbered activations and gradients that travel between the boxes. Every frame is a
// function of (Timeline, t) alone.
#pragma once

#include <QAbstractScrollArea>
#include <memory>

#include "app/state/session.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// A message on its way between two stages, or waiting at the door of its receiver.
struct Travel {
  int from = 0, to = 0;  // stages
  int microbatch = 0;
  bool gradient = false;
  double share = 0;  // of the way: 0 to 1
};
// Messages of the first replica at `time`. A message is shown for at least a hundredth of the step,
// so that fast links are seen too; it waits at the door until its receiver starts with it.
std::vector<Travel> travels_at(const LaneRows& rows, Nanoseconds time);

// Where the boxes stand: over the time axis, or wider than it when there are many stages.
struct StripGeometry {
  double left = 86, box = 150, gap = 54;
  int stages = 0;
  QRectF box_of(int stage, double height) const;
  double width() const { return stages * box + (stages > 0 ? stages - 1 : 0) * gap; }
};
StripGeometry strip_geometry(int stages, double left, double width);

struct StripLook {
  StripGeometry geometry;
  double scroll = 0;
  bool tweened = true;  // off: messages stand at the start or the end of their way
  int selected_stage = -1;
  bool hides_held = false;  // a lesson asks how many micro-batches are held: "?"
};
// Paints the boxes of `rows` at `time` onto a strip of `size`.
void paint_stage_strip(QPainter& painter, const LaneRows& rows, Nanoseconds time,
                       const Theme& theme, const StripLook& look, QSizeF size,
                       TextLog* texts = nullptr);

class StageStrip : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit StageStrip(Session& session, QWidget* parent = nullptr);
  ~StageStrip() override;
  // What is animated: the run if it is of the present Setup, else the prediction. Null: nothing.
  void show_rows(std::shared_ptr<const LaneRows> rows, bool hidden);
  // Where the time axis stands, see TimelineView.
  void set_axis(int left, int width);
  // The text of the current frame, as a screen reader hears it.
  QString description() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  void update_scroll();
  int stages() const;
  Session& session_;
  std::shared_ptr<const LaneRows> rows_;
  bool hidden_ = false;
  int axis_left_ = 86, axis_width_ = 0;
};

}  // namespace parallelarium
