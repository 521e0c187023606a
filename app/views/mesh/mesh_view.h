// SPDX-License-Identifier: GPL-3.0-or-later
// The Mesh tab: the ranks as a grid of DP x TP x PP (x CP), what is on its way between them at the
// playhead, and everything about one rank. Also the picture that is exported.
#pragma once

#include <QPainter>
#include <QWidget>
#include <memory>

#include "app/selection/selection_panel.h"
#include "app/state/session.h"
#include "app/views/timeline/timeline_paint.h"

namespace parallelarium {

// Title, grid with the bytes of a whole step, and one rank's groups and links; onto any device.
void paint_mesh_picture(QPainter& painter, QSizeF size, const Session& session, bool dark, int rank,
                        TextLog* texts = nullptr);
QSize mesh_picture_size();

class MeshView : public QWidget {
  Q_OBJECT

 public:
  explicit MeshView(Session& session, QWidget* parent = nullptr);
  ~MeshView() override;
  int rank() const;        // global
  int rank_index() const;  // of the built rank that stands for it
  void show_rank(int rank);
  // The text of the current frame.
  QString description() const;
  void find_rank();  // the keyboard goes to the search field

 Q_SIGNALS:
  void described(const SelectionText& text);
  void rank_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct State;
  void refresh();
  void refresh_facts();
  void place_parts();
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
