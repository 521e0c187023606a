// SPDX-License-Identifier: GPL-3.0-or-later
// The Search tab of the room Plan: which configurations were looked at, what remains, and why.
#pragma once

#include <memory>

#include "app/views/shared/canvas_view.h"

namespace parallelarium {

class PlanSearch;
struct SearchHits;

class SearchView : public CanvasView {
  Q_OBJECT

 public:
  explicit SearchView(Session& session, QWidget* parent = nullptr);
  ~SearchView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  std::optional<ViewTable> table() const override;  // the plans
  std::vector<ViewActions> commands() const override;
  QString description() const override;
  bool take_file(const QString& path) override;
  PlanSearch& search() const;
  const SearchHits& hits() const;  // of what was painted last

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void refresh() override;
  void place_parts() override;
  void paint(QPainter& painter) override;
  void press(QPointF at) override;
  void drag(QPointF at) override;
  void release() override;
  bool press_key(int key) override;
  bool show_tip(QPointF at, QPoint global) override;
  void describe_selected() override;

 private:
  struct State;
  void build_actions();
  void fill_values();
  void limit_to(std::int64_t bytes);
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
