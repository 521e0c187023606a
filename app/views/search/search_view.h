// SPDX-License-Identifier: GPL-3.0-or-later
// The Search tab of the room Plan: which configurations were looked at, what remains, and why.
#pragma once

#include <memory>

#include "app/views/view.h"

namespace parallelarium {

class PlanSearch;

class SearchView : public View {
  Q_OBJECT

 public:
  explicit SearchView(Session& session, QWidget* parent = nullptr);
  ~SearchView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  std::vector<ViewActions> commands() const override;
  QString description() const override;
  PlanSearch& search() const;
  QWidget& canvas() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct State;
  void build_actions();
  void refresh();
  void place_parts();
  void paint_canvas();
  void press(QPointF at);
  bool press_key(int key);
  bool show_tip(QPointF at, QPoint global);
  void describe_selected();
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
