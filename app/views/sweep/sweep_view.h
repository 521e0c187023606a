// SPDX-License-Identifier: GPL-3.0-or-later
// The Sweep tab of the room Plan: one figure of the prediction over one or two settings of what is
// set.
#pragma once

#include <memory>

#include "app/views/view.h"

class QComboBox;
class QLineEdit;

namespace parallelarium {

class SettingSweep;

class SweepView : public View {
  Q_OBJECT

 public:
  explicit SweepView(Session& session, QWidget* parent = nullptr);
  ~SweepView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  QString description() const override;

  SettingSweep& sweep() const;
  QWidget& canvas() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct State;
  void build_controls();
  void fill_settings();
  void read_wish();
  void refresh();
  void place_parts();
  void paint_canvas();
  bool press_key(int key);
  bool show_tip(QPointF at, QPoint global);
  void describe_selected();
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
