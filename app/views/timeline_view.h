// SPDX-License-Identifier: GPL-3.0-or-later
// Draws predicted and observed Timelines of a Program as bars: time on x, one row per rank on y
// with a thin communication lane under it. paint_timeline() serves screen, PNG, SVG and PDF alike.
#pragma once

#include <QAbstractScrollArea>
#include <QPainter>
#include <memory>
#include <optional>

#include "app/session.h"
#include "app/theme.h"

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

 signals:
  void hovered(const QString& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
