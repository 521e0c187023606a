// SPDX-License-Identifier: GPL-3.0-or-later
// The Pipeline tab: title and legend, the stages of this moment, predicted and observed timelines
// on one axis, and the micro-batches held. Also the picture that is exported.
#pragma once

#include <QPainter>
#include <QWidget>
#include <memory>

#include "app/look/theme/theme.h"
#include "app/views/view.h"

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

class PipelineView : public View {
  Q_OBJECT

 public:
  explicit PipelineView(Session& session, QWidget* parent = nullptr);
  ~PipelineView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  ViewPicture exported(const PictureStyle& style) const override;
  std::vector<ViewActions> commands() const override;
  void refresh_keys() override;
  TimelineView& timeline();
  QString description() const override;
  bool open_search() override;  // Enter selects the next op of that name, Esc closes the field
  bool takes_orders() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct State;
  void add_editor();
  void refresh();
  void align();
  void place_parts();
  int paint_legend(QPainter* painter) const;
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
