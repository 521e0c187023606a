// SPDX-License-Identifier: GPL-3.0-or-later
// The centre of the room Learn while no lesson is open: one way on, the units with their lessons,
// and at the right what the chosen lesson is about. Nothing is locked.
#pragma once

#include <QWidget>

#include "app/lesson/map/map_data.h"

class QBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace parallelarium {

class Door;
class LessonPicture;
class LessonTile;
class UnitBoard;

class CourseMap : public QWidget {
  Q_OBJECT

 public:
  explicit CourseMap(LessonPlayer& player, QWidget* parent = nullptr);
  const MapData& data() const { return data_; }
  // By lesson; null for those that the search leaves out.
  const std::vector<LessonTile*>& tiles() const { return tiles_; }
  // Of the playlist, in its order.
  const std::vector<LessonTile*>& listed() const { return listed_; }
  void choose(std::size_t lesson);
  // Says what the lesson that was just finished came to, and offers the next, until the map is
  // left.
  void tell_finished();
  // The keyboard goes to the search for a lesson. False: there is none to find.
  bool open_search();
  // Reads the lessons and what is done again, if the map is shown.
  void refresh() {
    if (isVisible()) fill();
  }

 Q_SIGNALS:
  // The other two doors of the first start.
  void plan_wanted();
  void open_wanted();
  void playlist_closed();
  // A lesson was chosen, perhaps the one that is open already.
  void started();

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* make_doors();
  QWidget* make_card();
  QWidget* make_head();
  void fill();
  QString next_of_playlist() const;
  QString about_next(const MapLesson& lesson) const;
  void show_finished();
  void focus_first();  // of the lessons that are shown
  // To the tile that lies on that side of `from` in the picture, and chooses it; nowhere if there
  // is none. `key`: an arrow.
  void move_focus(const LessonTile& from, int key);
  // course_map_layout.cpp
  QScrollArea* make_side();
  void narrow();
  std::vector<std::size_t> found(const MapUnit& unit) const;
  void lay_out();
  LessonTile* make_tile(const MapLesson& shown, std::size_t lesson);
  QWidget* make_unit(const MapUnit& unit);
  QWidget* make_playlist(int columns);
  void show_details();
  void show_index();
  void start(std::size_t lesson, bool anew);

  LessonPlayer& player_;
  LessonPicture* picture_ = nullptr;
  MapData data_;
  std::optional<std::size_t> next_;
  std::size_t chosen_ = 0;
  int columns_ = 0;
  bool tells_finished_ = false;
  QLabel *go_on_title_ = nullptr, *go_on_about_ = nullptr, *counts_ = nullptr, *details_ = nullptr,
         *details_title_ = nullptr, *details_place_ = nullptr;
  QPushButton *go_on_ = nullptr, *review_ = nullptr, *sheet_ = nullptr, *basics_ = nullptr,
              *start_ = nullptr, *anew_ = nullptr;
  QScrollArea *scroll_ = nullptr, *side_ = nullptr;
  QWidget *card_ = nullptr, *doors_ = nullptr, *head_ = nullptr;
  QBoxLayout* head_row_ = nullptr;
  QLineEdit* search_ = nullptr;
  UnitBoard* board_ = nullptr;
  Door* learn_ = nullptr;
  std::vector<LessonTile*> tiles_, listed_;
};

}  // namespace parallelarium
