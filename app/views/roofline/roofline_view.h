// SPDX-License-Identifier: GPL-3.0-or-later
// The Roofline tab of the room Plan: what the machine's rates allow, and how far the pieces of one
// layer of what is set are from it.
#pragma once

#include <memory>

#include "app/views/view.h"

namespace parallelarium {

struct RooflineData;

class RooflineView : public View {
  Q_OBJECT

 public:
  explicit RooflineView(Session& session, QWidget* parent = nullptr);
  ~RooflineView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  QString description() const override;

  const RooflineData& data() const;
  QWidget& canvas() const;
  void show_layer(int layer);  // -1: the first with experts, or the first
  void select(int point);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct State;
  void refresh();
  void place_parts();
  void paint_canvas();
  bool show_tip(QPointF at, QPoint global);
  void describe_selected();
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
