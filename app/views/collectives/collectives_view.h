// SPDX-License-Identifier: GPL-3.0-or-later
// The Collectives tab: one collective, chunk by chunk, predicted and run. Controls in the head, the
// picture below, or its moves as a table.
#pragma once

#include <QWidget>
#include <memory>

#include "app/views/collectives/picture/collective_paint.h"
#include "app/views/view.h"

namespace parallelarium {

// What the Session shows now, made afresh; `lines` too, which takes some milliseconds.
CollectivePicture collective_picture(const Session& session);
// Title, picture, and a footer with sources; onto any device. `size` in logical pixels.
void paint_collective_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                              TextLog* texts = nullptr);
QSize collective_picture_size(const Session& session);

// "4 MiB", "64K" (1024s), "1MB" (1000s), "4096"; nothing where it is no size.
std::optional<std::int64_t> bytes_from_text(const QString& text);

// "1.5 us", "900 ns", "2e-6" (seconds); "10 GB/s", "400e9" (bytes per second).
std::optional<double> seconds_from_text(const QString& text);
std::optional<double> rate_from_text(const QString& text);

// Time, bus bandwidth, sent per rank, result, steps.
std::vector<Quantity> collective_quantities(const Session& session,
                                            const QLocale& locale = QLocale());

class CollectivesView : public View {
  Q_OBJECT

 public:
  explicit CollectivesView(Session& session, QWidget* parent = nullptr);
  ~CollectivesView() override;
  static ViewInfo info();
  Topic& topic() const override;
  std::vector<Quantity> quantities() const override;
  QString origin(const QString& quantity) const override;
  ViewPicture exported(const PictureStyle& style) const override;
  std::vector<ViewActions> commands() const override;
  // The picture as it is painted now, and where its parts stand in the coordinates of canvas().
  CollectivePicture picture() const;
  CollectiveLayout layout_now() const;
  QWidget& canvas();
  QString description() const override;
  void retell() override;
  // What chunks show, and picture or table; else in the view's last row of controls.
  void put_look_controls(QLayout* where) override;
  int look_controls_width() const override;
  void wait() override;  // for the predicted lines of the plot

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct State;
  void build_controls();
  void build_algorithm_controls();
  void build_number_controls();
  void build_word_controls();
  void build_look_controls();
  void build_actions();
  void refresh();
  void refresh_controls();
  void build_link_controls();
  void refresh_link_controls();
  void refresh_table();
  void refresh_lines();
  void place_parts();
  void move_playhead();
  void paint_canvas(const QRect& dirty);
  bool press_key(QKeyEvent& event);
  void show_tool_tip(const QPoint& at, const QPoint& global);
  // Chooses a move and goes to its middle; by as many moves or steps as told.
  void choose(MoveRef ref, bool go_there);
  SelectionText chosen_text() const;
  void walk(int moves, int steps);
  void change(const QString& what, const std::function<void(CollectiveChoice&)>& edit);
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium
