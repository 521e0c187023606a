// SPDX-License-Identifier: GPL-3.0-or-later
// Micro-batches held per stage over the step: one step line for each stage, on the same time axis
// as the timeline.
#pragma once

#include <QWidget>
#include <memory>

#include "app/state/session.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

class HeldPlot : public QWidget {
  Q_OBJECT

 public:
  explicit HeldPlot(Session& session, QWidget* parent = nullptr);
  ~HeldPlot() override;
  // The Timeline whose lines are drawn; null or hidden: "?".
  void show_rows(std::shared_ptr<const LaneRows> rows, bool hidden, const QString& source);
  void set_axis(int left, int width);
  // "Micro-batches held, rehearsed: stage 0 at most 4, stage 1 at most 3, ..."
  QString description() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void fill();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
