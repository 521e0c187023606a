// SPDX-License-Identifier: GPL-3.0-or-later
// The Experts tab: how the tokens of one micro-batch find their experts in one layer, and when.
// Controls in the head, the picture below.
#pragma once

#include <QWidget>
#include <memory>

#include "app/views/experts/expert_paint.h"
#include "app/views/view.h"

namespace parallelarium {

// What the Session shows now, made afresh.
ExpertPicture expert_picture(const Session& session, ExpertChoice choice);
// Title, picture, and a footer with sources; onto any device. `size` in logical pixels.
void paint_expert_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                          ExpertChoice choice, TextLog* texts = nullptr);
QSize expert_picture_size(const Session& session, ExpertChoice choice);

// Time of the layer, fullest rank over mean, bytes between ranks, dropped choices, loss.
std::vector<Quantity> expert_quantities(const Session& session, const ExpertPicture& picture,
                                        const QLocale& locale = QLocale());

class ExpertsView : public View {
  Q_OBJECT

 public:
  explicit ExpertsView(Session& session, QWidget* parent = nullptr);
  ~ExpertsView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  // The picture as it is painted now, and where its parts stand in the coordinates of canvas().
  ExpertPicture picture() const;
  ExpertLayout layout_now() const;
  QWidget& canvas();
  ExpertChoice choice() const;
  void choose(ExpertChoice choice);
  QString description() const override;
  void retell() override;
  void wait() override;  // for the routing

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct State;
  void build_controls();
  void build_choice_controls();
  void build_step_controls();
  void build_setting_controls();
  void refresh();
  void refresh_controls();
  void refresh_routing();
  void take_routing(Result<RoutedLayer> made);
  void place_parts();
  void paint_canvas();
  bool press_key(QKeyEvent& event);
  void select(ExpertRef ref);
  SelectionText chosen_text() const;
  void change(const QString& what, const std::function<void(Setup&)>& edit);
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
