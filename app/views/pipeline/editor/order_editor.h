// SPDX-License-Identifier: GPL-3.0-or-later
// The order editor in place of the timeline: the order in time with what may come next, the
// verdict, and the order row by row, both to be changed by mouse and keyboard.
//
// Keys in the rows: arrows move the cursor, F B I W place an action, digits after one change its
// micro-batch, Alt+arrows move it, Shift+arrows select, Delete and Backspace remove, F2 or Enter
// opens the row as text.
#pragma once

#include <QWidget>

#include "app/views/pipeline/editor/editor_paint.h"
#include "app/views/pipeline/editor/editor_words.h"

class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;

namespace parallelarium {

class Segments;

class OrderEditor : public QWidget {
  Q_OBJECT

 public:
  explicit OrderEditor(Session& session, QWidget* parent = nullptr);
  ~OrderEditor() override;

  EditorPicture picture() const;
  QWidget& rows() { return *rows_; }
  QWidget& times() { return *times_; }
  Spot cursor() const { return cursor_; }

 Q_SIGNALS:
  void described(const SelectionText& text);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build();
  QWidget* build_head();
  QWidget* build_verdict();
  QWidget* build_buttons();
  void refresh();
  void show_verdict();
  void show_hang();  // whether the order may hang now
  void follow_run();
  void move_cursor(Spot to, bool select);
  void choose(Spot action);
  void forget_action();
  void say_wrong(const QString& text);
  bool times_event(QEvent* event);
  bool rows_event(QEvent* event);
  bool rows_mouse(QEvent* event);
  bool rows_key(QKeyEvent& key);
  bool edit_key(QKeyEvent& key);
  bool type_key(const QKeyEvent& key);
  void place_kind(ActionKind kind);
  void remove(bool back);
  void move_action(int by);
  void copy();
  void paste();
  void edit_text();
  void commit_text();
  void place_text_box();
  void open_file();
  void save_file();
  EditorRows rows_geometry() const;
  bool low() const;  // so that rows have to be lower to be in sight
  void keep_cursor_visible();

  Session& session_;
  OrderEdit& edit_;
  QScrollArea* scroll_ = nullptr;
  QLabel *title_ = nullptr, *headline_ = nullptr, *detail_ = nullptr, *score_ = nullptr,
         *reason_ = nullptr, *path_ = nullptr, *seen_ = nullptr, *known_ = nullptr;
  Segments* kind_ = nullptr;
  QFrame* verdict_ = nullptr;
  QWidget *times_ = nullptr, *rows_ = nullptr, *buttons_ = nullptr;
  QPushButton *repeat_ = nullptr, *undo_ = nullptr, *clear_row_ = nullptr, *clear_all_ = nullptr,
              *reset_ = nullptr, *goal_ = nullptr, *done_ = nullptr, *hang_ = nullptr;
  std::vector<QWidget*> files_;  // Open and Save
  QLineEdit* text_ = nullptr;
  Spot cursor_{0, 0};
  int anchor_ = -1;  // the other end of what is selected; -1: nothing is
  std::optional<Spot> action_, ghost_;
  bool dragging_ = false;
  bool was_low_ = false;
  int dragged_ = -1;
  double row_scroll_ = 0;
  QString typed_;  // digits after the action before the cursor
  bool typing_ = false;
  std::vector<Action> copied_;
  int copy_step_ = 0, pastes_ = 0;
  std::vector<std::vector<TimedAction>> goal_shown_;  // of the step that was last asked
  QString wrong_;
  std::optional<EditorRun> run_;  // of this order
};

}  // namespace parallelarium
