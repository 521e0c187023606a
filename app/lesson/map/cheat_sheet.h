// SPDX-License-Identifier: GPL-3.0-or-later
// What the lessons that are done leave behind, on one sheet: of each what to take away, with the
// student's own numbers and what was seen on this computer. Printed it has two pages.
#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

#include "app/lesson/player/lesson_progress.h"
#include "app/sheets/sheet.h"

class QTextDocument;

namespace parallelarium {

struct TakeAway {
  QString title, folder;  // of the lesson
  QString markdown;
};

// Of every lesson of the course that is done, in the course's order.
std::vector<TakeAway> take_aways(const LessonProgress& progress);

// A4, two columns a page; the letters are as large as two pages allow, but never too small to read.
QByteArray take_aways_pdf(const std::vector<TakeAway>& all);

// Draws tables of a paper without boxes and as wide as its text, with that padding in each cell.
void style_paper_tables(QTextDocument& document, double padding);

class CheatSheet : public Sheet {
  Q_OBJECT

 public:
  explicit CheatSheet(const LessonProgress& progress, QWidget* parent = nullptr);
  // Error: the file cannot be written.
  Result<void> save(const QString& path) const;

 private:
  void ask_and_save();
  std::vector<TakeAway> all_;
};

// Opens it above `parent`.
void show_cheat_sheet(const LessonProgress& progress, QWidget* parent);

}  // namespace parallelarium
