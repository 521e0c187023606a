// SPDX-License-Identifier: GPL-3.0-or-later
// The Mesh tab: the ranks as a grid of DP x TP x PP (x CP), what is on its way between them at the
// playhead, and everything about one rank. Also the picture that is exported.
#pragma once

#include <QPainter>
#include <QWidget>
#include <memory>

#include "app/views/mesh/picture/mesh_layout.h"
#include "app/views/view.h"

namespace parallelarium {

// What is looked at: a rank, one of its groups or none (kWorld), on axes or on nodes.
struct MeshChoice {
  int rank = 0;
  Axis axis = Axis::kWorld;
  MeshForm form = MeshForm::kAxes;
};
// Title, ranks with the bytes of a whole step, which groups cross what, and one rank's groups and
// links; onto any device.
void paint_mesh_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                        const MeshChoice& choice, TextLog* texts = nullptr);
QSize mesh_picture_size();

// Step time, all that one rank sends, and its part along TP, DP and PP.
std::vector<Quantity> mesh_quantities(const Session& session, int rank_index,
                                      const QLocale& locale = QLocale());

class MeshView : public View {
  Q_OBJECT

 public:
  explicit MeshView(Session& session, QWidget* parent = nullptr);
  ~MeshView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  ViewPicture exported(const PictureStyle& style) const override;
  int rank() const;        // global
  int rank_index() const;  // of the built rank that stands for it
  void show_rank(int rank);
  // The ways of the rank's group along an axis that has groups; kWorld: of none.
  void show_group(Axis axis);
  Axis group() const;
  void show_form(MeshForm form);
  MeshForm form() const;
  void show_part(const QString& part) override;
  void retell() override;
  bool moving() const;  // ranks are on their way to other places
  // The text of the current frame.
  QString description() const override;
  bool open_search() override;

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
  MeshLayout laid_out() const;
  void move_from(const MeshLayout& before);
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
