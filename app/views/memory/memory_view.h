// SPDX-License-Identifier: GPL-3.0-or-later
// The Memory tab: ZeRO stages predicted beside counted, bytes per parameter, bytes sent, memory
// over one step, every rank, and the kept tensors one by one. Also the picture that is exported.
#pragma once

#include <QPainter>
#include <QWidget>
#include <memory>

#include "app/views/view.h"

namespace parallelarium {

// Title, legend, bars, tables and the curve with setup and machine in a footer; `rank_index` as
// built. Onto any device; `size` in logical pixels.
void paint_memory_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                          int rank_index, TextLog* texts = nullptr);
QSize memory_picture_size();

// Peak, sent, step time, bytes per parameter, loss; of one rank.
std::vector<Quantity> memory_quantities(const Session& session, int rank_index,
                                        const QLocale& locale = QLocale());

class MemoryView : public View {
  Q_OBJECT

 public:
  // What stands in the lower half, or alone where there is no room for two halves.
  enum class Pane { kStages, kBytes, kStep, kRanks, kTensors, kHolders };

  explicit MemoryView(Session& session, QWidget* parent = nullptr);
  ~MemoryView() override;
  static ViewInfo info();
  std::vector<Quantity> quantities() const override;
  ViewPicture exported(const PictureStyle& style) const override;
  std::vector<ViewActions> commands() const override;
  // The rank shown, as an index in the Program of the prediction; by default the fullest.
  int rank_index() const;
  void show_rank(int rank_index);
  void show_pane(Pane pane);
  Pane pane() const;
  void wait() override;  // for all ZeRO stages
  QString description() const override;
  QString moment() const override;
  void show_part(const QString& part) override;
  void retell() override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct State;
  void build_controls();
  void build_choices();
  void build_recipe();
  void build_tensors();
  void build_plot();
  void refresh();
  void refresh_stages();
  void refresh_tensors();
  void place_parts();
  void move_playhead();
  void apply_group(int group);
  void choose_group(int group, const QPointF* point);
  void choose_point(QPointF point);
  SelectionText group_text() const;
  SelectionText point_text() const;
  SelectionText chosen_text() const;
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
