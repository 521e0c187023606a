// SPDX-License-Identifier: GPL-3.0-or-later
// The list of lessons: names, minutes, what is done, and what this computer cannot run and why.
#pragma once

#include "app/lesson/lesson_player.h"
#include "app/sheets/sheet.h"

class QListWidget;
class QPushButton;

namespace parallelarium {

class LessonIndex : public Sheet {
  Q_OBJECT

 public:
  explicit LessonIndex(LessonPlayer& player, QWidget* parent = nullptr);

 private:
  void fill();
  void open_current();
  LessonPlayer& player_;
  QListWidget* list_;
  QPushButton* open_;
};

}  // namespace parallelarium
