// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson on paper: its texts with the numbers of one draw, and room for answers or the answers.
#pragma once

#include <QCoreApplication>
#include <QString>

#include "engine/lesson/lesson.h"

class QTextDocument;

namespace parallelarium {

class Predictions;  // engine/lesson/check/check_parts.h

struct HandoutWish {
  std::uint64_t numbers = 1;  // the seed that draws them
  bool answers = false;       // with the right answers, solutions, explanations, what to take away
};

class Handout {
  Q_DECLARE_TR_FUNCTIONS(handout)

 public:
  // In the user's language. What `predictions` has is not predicted again. Error: a number of a
  // text cannot be made.
  static Result<Handout> of(const Lesson& lesson, const HandoutWish& wish,
                            Predictions& predictions);
  const QString& markdown() const { return markdown_; }
  // To a .pdf of A4 pages, or an .html page that holds its pictures. Error: another ending, or the
  // file cannot be written.
  Result<void> save(const QString& path) const;

 private:
  QString title_, folder_, markdown_;
};

// A4 pages with numbers and that title.
QByteArray paper_pdf(QTextDocument& document, const QString& title);

// The lesson of the course with that id, or the one in a folder of that name.
Result<Lesson> lesson_named(const QString& name);

}  // namespace parallelarium
