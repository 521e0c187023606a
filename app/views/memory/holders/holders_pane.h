// SPDX-License-Identifier: GPL-3.0-or-later
// The pane "Who holds what" of the Memory view. Arrows move between cells, N and P go to the next
// and the previous change of what is held, M to the next of three moments that show what a stage of
// ZeRO keeps. Enter shows the ranks that have no room.
#pragma once

#include <QAction>
#include <QWidget>

#include "app/views/memory/holders/holders.h"

class QKeyEvent;
class QPushButton;

namespace parallelarium {

class HoldersPane : public QWidget {
  Q_OBJECT

 public:
  explicit HoldersPane(Session& session, QWidget* parent = nullptr);

  void refresh();
  // The playhead moved, and nothing else.
  void move();
  const HoldersPicture& picture() const { return picture_; }
  // description() says all that the pane shows; moment() says the moment and the chosen cell.
  QString description() const;
  QString moment() const;
  // To the next change of what the first rank shown holds (1), or the one before (-1).
  void step(int direction);
  // To the next HeldMoment of that rank; after the last comes the first.
  void next_moment();
  // To the next step of the story of data parallelism; after the last comes the first.
  void next_story();
  void show_other_ranks();
  // The page that has this rank, until another is asked for.
  void show_rank(int rank);
  // Emits retold() of the chosen cell or step of the story.
  void retell();
  // All keys but the arrows, with what they do, for menus and the sheet of shortcuts.
  QList<QAction*> key_actions() const { return keys_; }
  // Whether the key, without others, is one of these; then it has acted.
  bool take_key(const QKeyEvent& event);

 Q_SIGNALS:
  void described(const SelectionText& text);
  // As of View.
  void retold(const SelectionText& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  HoldersLayout geometry_now() const;
  // Column -1: the sums behind the cells; row -1: nothing is there.
  std::pair<int, int> cell_at(QPointF point) const;
  int story_at(QPointF point) const;  // a step of the story; -1: none
  void show_story(int step);
  void choose(std::pair<int, int> cell);
  SelectionText chosen_text() const;
  void tell();
  // An op that was selected in another view: its rank.
  void follow_selection();

  Session& session_;
  HoldersPicture picture_;
  HoldersKept kept_;
  QPushButton* more_ = nullptr;  // "DP 4"
  QList<QAction*> keys_;
  int page_ = 0, rank_ = -1;  // the rank that the page must have; -1: any
  std::pair<int, int> chosen_{-1, -1};
  int chosen_story_ = -1;  // until the playhead leaves it
  SelectionText told_;     // last, as described() or retold()
};

}  // namespace parallelarium
