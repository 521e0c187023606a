// SPDX-License-Identifier: GPL-3.0-or-later
// The Roofline tab of the room Plan: what the machine's rates allow, and how far the pieces of one
// layer of what is set are from it.
#pragma once

#include <memory>

#include "app/views/shared/canvas_view.h"

namespace parallelarium {

struct RooflineData;

class RooflineView : public CanvasView {
  Q_OBJECT

 public:
  explicit RooflineView(Session& session, QWidget* parent = nullptr);
  ~RooflineView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  QString description() const override;
  void wait() override;

  const RooflineData& data() const;
  void show_layer(int layer);  // -1: the first with experts, or the first
  void select(int point);

 protected:
  void refresh() override;
  void place_parts() override;
  void paint(QPainter& painter) override;
  void press(QPointF at) override;
  bool press_key(int key) override;
  bool show_tip(QPointF at, QPoint global) override;
  void describe_selected() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
