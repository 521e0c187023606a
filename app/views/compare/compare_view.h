// SPDX-License-Identifier: GPL-3.0-or-later
// The Compare tab of the room Plan: setups, runs and published cases side by side, and why their
// steps differ.
#pragma once

#include <functional>
#include <memory>

#include "app/views/shared/canvas_view.h"

class QMenu;

namespace parallelarium {

struct CaseRow;
struct ComparedEntries;
struct CompareEntry;
struct PublishedFigure;

class CompareView : public CanvasView {
  Q_OBJECT

 public:
  explicit CompareView(Session& session, QWidget* parent = nullptr);
  ~CompareView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  QString description() const override;
  void wait() override;

  const ComparedEntries& comparison() const;
  // Predicts a Setup on a thread; it becomes the last column. Nothing where there is no place.
  void add(const QString& title, const Setup& setup, const Machine& machine);
  void add(const QString& title, const RunRecord& run);
  // The same of a published run, with its figures. It must be one that can be said.
  void add(const QString& title, const CaseRow& row);

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
  void build_actions();
  void fill_menu();
  void add_cases(QMenu* menu);
  void add(const QString& title, const Setup& setup, const Machine& machine,
           std::function<Result<std::vector<PublishedFigure>>()> published);
  void keep(const CompareEntry& entry);
  void remove_last();
  void choose(std::size_t column);
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
