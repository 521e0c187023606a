// SPDX-License-Identifier: GPL-3.0-or-later
// The list of lessons: names, minutes, what is done, and what this computer cannot run and why.
#pragma once

#include "app/lesson/player/lesson_player.h"
#include "app/sheets/sheet.h"

class QListWidget;

namespace parallelarium {

// The list by itself, empty until fill().
class LessonList : public QWidget {
  Q_OBJECT

 public:
  explicit LessonList(LessonPlayer& player, QWidget* parent = nullptr);
  const QString& title() const { return title_; }
  void fill();  // reads every lesson, and what is done by now
  bool can_open() const;
  bool goes_on() const;  // the current lesson was begun: it is opened where the student left it
  void open_current();

 Q_SIGNALS:
  void current_changed();
  void opened();

 private:
  LessonPlayer& player_;
  QListWidget* list_;
  QString title_;  // of the course
};

class LessonIndex : public Sheet {
  Q_OBJECT

 public:
  explicit LessonIndex(LessonPlayer& player, QWidget* parent = nullptr);
};

}  // namespace parallelarium
