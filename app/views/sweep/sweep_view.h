// SPDX-License-Identifier: GPL-3.0-or-later
// The Sweep tab of the room Plan: one figure of the prediction over one or two settings of what is
// set.
#pragma once

#include <memory>

#include "app/views/shared/canvas_view.h"

class QComboBox;
class QGridLayout;
class QLineEdit;

namespace parallelarium {

class SettingSweep;

class SweepView : public CanvasView {
  Q_OBJECT

 public:
  explicit SweepView(Session& session, QWidget* parent = nullptr);
  ~SweepView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  std::optional<ViewTable> table() const override;     // the points
  std::optional<ChosenSetup> chosen() const override;  // the selected one
  QString description() const override;

  SettingSweep& sweep() const;

 protected:
  void showEvent(QShowEvent* event) override;
  void refresh() override;
  void place_parts() override;
  void paint(QPainter& painter) override;
  void press(QPointF at) override;
  bool press_key(int key) override;
  bool show_tip(QPointF at, QPoint global) override;
  void describe_selected() override;

 private:
  struct State;
  void build_controls();
  void show_kept();
  void place_controls(QGridLayout& grid);
  void hear_controls();
  void fill_settings();
  void read_wish();
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
