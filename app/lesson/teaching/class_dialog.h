// SPDX-License-Identifier: GPL-3.0-or-later
// For a class: where a student types its code and a name, and a lesson on paper for its teacher.
#pragma once

#include "app/sheets/sheet.h"

class QCheckBox;
class QLineEdit;

namespace parallelarium {

class LessonPlayer;
class LessonProgress;

// Joins a class, changes the name there, or leaves it.
class ClassDialog : public Sheet {
  Q_OBJECT

 public:
  explicit ClassDialog(LessonProgress& progress, QWidget* parent = nullptr);

 private:
  void join();
  void leave();
  LessonProgress& progress_;
  QLineEdit *code_ = nullptr, *name_ = nullptr;
  QCheckBox* exam_ = nullptr;
};

// Asks for the file and whether it has the answers, and writes the lesson that is open or was
// finished last. Failures are told in a box over `parent`.
void ask_for_handout(const LessonPlayer& player, QWidget* parent);

}  // namespace parallelarium
