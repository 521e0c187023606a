// SPDX-License-Identifier: GPL-3.0-or-later
// The Layer tab: one layer of one micro-batch on every rank of its TP and CP group: what is cut
// how, what is whole on every rank, what is summed, and when. Controls in the head, the picture
// below.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>

#include "app/views/layer/picture/layer_picture.h"
#include "app/views/view.h"

namespace parallelarium {

class StepBox;

// Title, picture, and a footer with sources; onto any device. `size` in logical pixels.
void paint_layer_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                         LayerLook look, TextLog* texts = nullptr);
QSize layer_picture_size(const Session& session, LayerLook look);

// Time of the layer in one direction, bytes that a rank sends and keeps there, how fast it
// computes, loss.
std::vector<Quantity> layer_quantities(const Session& session, const LayerPicture& picture,
                                       const QLocale& locale = QLocale());

class LayerView : public View {
  Q_OBJECT

 public:
  explicit LayerView(Session& session, QWidget* parent = nullptr);
  ~LayerView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  QString description() const override;
  QString moment() const override;
  void show_part(const QString& part) override;
  void retell() override;
  // The picture as it is painted now, and where its parts stand in the coordinates of canvas().
  LayerPicture picture() const;
  LayerLayout layout_now() const;
  QWidget& canvas();
  LayerLook look() const;
  void show_look(LayerLook look);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct State;
  void change_look(const std::function<void(LayerLook&)>& change);
  void build_controls();
  StepBox* make_step_box(const QString& name, int LayerChoice::*member);
  void build_part();
  void build_direction();
  void build_shown();
  void build_split();
  void build_inside();
  void show_done_steps();
  void build_offers();
  void refresh();
  void refresh_controls();
  void refresh_offers();
  void follow_selection();
  void place_parts();
  void paint_canvas();
  void press(QPointF point);
  void toggle_ranks();
  void scrub(const LayerPicture& picture, const LayerLayout& layout, double x);
  QString tip_at(QPointF point) const;
  bool press_key(QKeyEvent& event);
  void walk(int by);
  SelectionText chosen_text() const;
  void select(int step, int rank);
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
