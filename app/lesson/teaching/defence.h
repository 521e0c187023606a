// SPDX-License-Identifier: GPL-3.0-or-later
// What was handed in to a lesson with a rubric, on two pages: the plan, the student's figures
// beside those predicted and measured, rejections, repair, points, and room for reasons. All of it
// is judged anew; the engine gives points for figures, the teacher for reasons.
#pragma once

#include <QCoreApplication>
#include <QString>
#include <QWidget>

#include "engine/lesson/teaching/grading/report.h"

namespace parallelarium {

class LessonPlayer;

class Defence {
  Q_DECLARE_TR_FUNCTIONS(defence)

 public:
  // In the user's language. Error: the lesson has no rubric, or a text cannot be filled in.
  static Result<Defence> of(const Lesson& lesson, const HandIn& hand_in);
  const QString& markdown() const { return markdown_; }
  // To a .pdf of A4 pages. Error: another ending, or the file cannot be written.
  Result<void> save(const QString& path) const;

 private:
  QString title_, markdown_;
};

// Asks for a file and writes what the open lesson, or the one finished last, has been answered.
// Returns the path that it wrote, or an empty one where it wrote nothing.
QString ask_for_defence(const LessonPlayer& player, QWidget* parent);
// Why the open lesson is not printed now, as a sentence: its plan is not committed, and paper would
// tell what the lesson asks for. Empty if it may be.
QString printing_refusal(const LessonPlayer& player);
// Whether that lesson has a rubric.
bool has_defence(const LessonPlayer& player);

}  // namespace parallelarium
